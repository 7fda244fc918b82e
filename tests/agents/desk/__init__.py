"""The example agent."""
