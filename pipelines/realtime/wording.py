"""How a snapshot is written for a provider: with its version, for some cannot take back an earlier one."""

from __future__ import annotations

from pipelines.realtime.base import Snapshot

__all__ = ["NOTHING", "NOT_THE_CALLER", "snapshot_text", "system_text"]

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
