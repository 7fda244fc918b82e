"""The model that needs no network: rules that pick a tool, fill its input and walk its questions."""
