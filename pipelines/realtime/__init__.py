"""The realtime path: a speech-to-speech model takes the turns, an agent of ours stays in charge of what is true."""
