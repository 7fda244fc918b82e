"""OpenAI's Realtime API: a protocol without a socket, and an adapter that drives it on the official SDK."""
