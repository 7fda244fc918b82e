"""What the server answers over HTTP, and where calls come in: one noun a module."""
