"""The composition root: the only package that opens ports, reads the environment and has a command line."""
