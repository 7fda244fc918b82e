"""Recognisers: what they are to a call, and the ones there are."""
