"""The socket: what a client may say, what it is told, and the line between."""
