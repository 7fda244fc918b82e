"""What clients and the server say to one another: events one way, commands the other, and the stream between."""
