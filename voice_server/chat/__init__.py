"""Chats: what is written to an agent, answered in the background, and told as one stream per conversation."""
