"""A service that speaks OpenAI's Realtime API (GA) over a real WebSocket, and refuses what the real one refuses."""
