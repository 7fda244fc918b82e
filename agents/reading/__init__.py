"""Values read out of what somebody said, as a recogniser wrote it down: pure functions, no guesses."""
