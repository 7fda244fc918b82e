"""Standing notes about a person: short, in sections, shown to the model with every call while they hold.

The person asks for them ("remember that I am a vegetarian"), so the agent they talk to has the tools. Notes belong to a
namespace that the host gives; no model can name another.
"""
