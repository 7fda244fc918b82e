"""Models, on their wires."""
