"""What a device is told besides how goals and forms stand, in the envelope of all clients."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from voice_server.clients.events import ClientEvent

__all__ = ["Context", "ContextChanged", "DeviceReady", "ResultsCame"]


class Context(BaseModel):
    """What the model has to know now: goals, forms, facts and the like, rendered."""

    model_config = ConfigDict(frozen=True)

    version: int = Field(description="ascending in a call: a later one replaces an earlier one")
    text: str = Field(description="how it is written for a model; put it into the conversation as it is")


class DeviceReady(ClientEvent):
    """The stream begins, or goes on: the first event on every connection."""

    type: ClassVar[str] = "device"
    kept: ClassVar[bool] = False

    conversation: str
    agent: str
    model: str


class ContextChanged(ClientEvent):
    """What the model has to know has changed, and by none of its tools: replace it, and let nothing be said."""

    type: ClassVar[str] = "context"

    context: Context


class ResultsCame(ClientEvent):
    """Slow tools have ended whose calls were answered as still running: tell the model, and let it speak."""

    type: ClassVar[str] = "results"

    texts: tuple[str, ...] = Field(description="each is a message of the system's to the model")
    context: Context
