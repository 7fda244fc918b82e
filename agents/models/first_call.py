"""What the SDKs put off until their first call, done at start-up: a call would stand still for it."""

from __future__ import annotations

from importlib import import_module

from pydantic import BaseModel

__all__ = ["prepare"]


def prepare(*frames: type[BaseModel]) -> None:
    """Load what connects and build what reads frames.

    Left to the first call it holds the loop, and with it every other call, for 60 to 110 ms on two cores; afterwards
    nothing does for 10.

    Args:
        frames: the SDK's classes of what is streamed; it builds their validators when they are first used.
    """
    import_module("anyio._backends._asyncio")  # As anyio does when it first sees a loop.
    for frame in frames:
        frame.model_rebuild()
