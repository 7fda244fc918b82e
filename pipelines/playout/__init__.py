"""How text becomes sound in the caller's ear, and how much of it was heard."""
