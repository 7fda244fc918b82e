"""Values read out of utterances."""
