"""The concierge: an example that books a trip, with goals, a form, facts, and a small service that does the booking."""

from agents.concierge.agent import create

__all__ = ["create"]
