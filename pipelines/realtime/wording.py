"""How a snapshot is written for a provider: with its version, for some cannot take back an earlier one."""

from __future__ import annotations

from pipelines.realtime.base import Snapshot

__all__ = [
    "GO_ON",
    "NOTHING",
    "NOT_THE_CALLER",
    "SAID",
    "SAY",
    "snapshot_text",
    "system_text",
]

HEADER = "[Context {version} from the system. It replaces every earlier one, and the caller did not say it.]"

NOTHING = "Nothing is open."
"""What stands for a snapshot without text, where an earlier one has to be replaced."""


def snapshot_text(snapshot: Snapshot) -> str:
    """Write a snapshot as the model reads it, on every provider alike."""
    return f"{HEADER.format(version=snapshot.version)}\n{snapshot.text or NOTHING}"


NOT_THE_CALLER = "[From the system, not from the caller.]"
"""What words of nobody's begin with, where a provider knows callers and models only."""


def system_text(text: str) -> str:
    """Write words of the system's for a provider that has no role for them."""
    return f"{NOT_THE_CALLER}\n{text}"


SAID = 'You have just said this to the caller, in another voice: "{text}"'
"""Tells the model what the caller heard without it."""

SAY = 'Say exactly this to the caller now, and nothing else: "{text}"'
"""Has the model say something that is not its own."""

GO_ON = (
    "The connection broke off for a moment. If you were cut off, go on where the caller stopped hearing you; if the "
    "caller's latest words were not answered, answer them. Do not greet again."
)
"""Has the model take up a conversation that broke off."""
