"""The desk: an example agent that tells the time, does sums and takes a message."""

from agents.desk.agent import create

__all__ = ["create"]
