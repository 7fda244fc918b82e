"""A call's record: a folder with the audio of both sides, what happened, what was said, and the report."""
