"""What the agent knows and does: the loop, its tools, models and stores. Knows nothing of audio."""
