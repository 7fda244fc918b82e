"""Calls in LiveKit's rooms. Its SDK is imported here and nowhere else, when it is used: that takes a second."""
