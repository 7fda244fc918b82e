"""What a person at the terminal did or lacks; everything else is a fault of ours and keeps its traceback."""

from __future__ import annotations

__all__ = ["UsageError"]


class UsageError(Exception):
    """Something was asked for that cannot be done; the message is one sentence naming the thing and the fix.

    The command line prints it as ``voice-server: …`` and exits with status 2.
    """
