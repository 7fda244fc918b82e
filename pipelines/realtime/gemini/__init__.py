"""Gemini Live: a protocol without a socket, and an adapter that drives it on Google's official SDK."""
