"""The adapter contract: a speech-to-speech provider, as the realtime pipeline sees it.

Above: ``agent`` opens sessions and drives them. Below: one module per provider, on its official SDK.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Protocol

from pipelines.audio.frame import Samples
from pipelines.realtime.events import ProviderEvent

__all__ = [
    "AdvertisedTool",
    "PastTurn",
    "RealtimeAdapter",
    "RealtimeError",
    "RealtimeSession",
    "SessionSetup",
    "Snapshot",
    "ToolAnswer",
    "TurnDetection",
]


class RealtimeError(Exception):
    """The provider cannot be had, or refused: its own words, and what to do. No key and no word of the caller's.

    Args:
        message: one sentence or two.
        retry: whether trying again may help; not when the key, the model or the setup was refused.
    """

    def __init__(self, message: str, *, retry: bool = True) -> None:
        super().__init__(message)
        self.retry = retry


class TurnDetection(Enum):
    """Who says when the caller speaks."""

    PROVIDER = "provider"
    """Its own voice activity detection; it answers and is interrupted by itself."""
    OURS = "ours"
    """Our gate: ``begin_speech`` and ``end_speech`` say so, and only what lies between is sent, with pre-roll."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvertisedTool:
    """A tool, as the model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema of an object, as pydantic writes it; the adapter projects it to what its provider takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTurn:
    """What was said before the session: the conversation is told again where the provider does not know it."""

    role: Literal["caller", "agent"]
    text: str
    """Of the agent's only what was heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSetup:
    """What a session begins with."""

    instructions: str
    tools: tuple[AdvertisedTool, ...] = ()
    turn_detection: TurnDetection = TurnDetection.PROVIDER
    voice: str | None = None
    """``None``: the provider's own."""
    past: tuple[PastTurn, ...] = ()
    snapshot: Snapshot | None = None
    """The runtime context of the moment."""
    resume: str | None = None
    """A handle of an earlier session's :attr:`RealtimeSession.handle`; ``past`` is not sent when it is honoured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The runtime context (goals, forms, memory, inbox), rendered. A later version replaces an earlier one."""

    version: int
    """Ascending within a call."""
    text: str
    """Empty when there is nothing to know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """One call's result."""

    call_id: str
    name: str
    output: str
    """JSON text: an object of ``status``, ``data``, ``message``."""


class RealtimeSession(Protocol):
    """One connection to a provider. Every method but ``events`` and ``aclose`` sends, in the order called.

    What is sent when the connection is over is dropped: its end is told by :meth:`events`, and whoever drives the
    session keeps what must not be lost. Only :meth:`hear` may drop more: audio for which the connection is too slow.
    """

    def events(self) -> AsyncIterator[ProviderEvent]:
        """Yield what the provider says. Once; ends behind ``SessionEnded``, whatever happened."""
        ...

    @property
    def handle(self) -> str | None:
        """What another session is resumed with; ``None``: nothing, or not just now."""
        ...

    async def hear(self, samples: Samples) -> None:
        """Send the caller's voice, at the adapter's ``hears``; with our turn detection only while speech is on."""
        ...

    async def begin_speech(self) -> None:
        """The caller speaks, with our turn detection: what was being answered is interrupted by :meth:`interrupt`."""
        ...

    async def end_speech(self, *, respond: bool = True) -> None:
        """The caller has spoken, with our turn detection: what was heard is a turn, to be answered or not.

        With the provider's, no more of the caller is heard for now: a turn that it hears just then is over.

        Args:
            respond: whether the model answers now; ``False`` where it was no turn: what can be forgotten is.
        """
        ...

    async def inject(self, text: str, *, role: Literal["caller", "system"], respond: bool) -> None:
        """Put words into the conversation.

        Args:
            text: not blank.
            role: whose they are.
            respond: whether the model answers; at once, or as soon as the reply it is making has ended.
        """
        ...

    async def answer(self, results: Sequence[ToolAnswer], *, snapshot: Snapshot, respond: bool = True) -> None:
        """Send the results of one batch of calls, then the context, then at most one trigger, in that order.

        Args:
            results: one per call.
            snapshot: rendered after the calls; the only live one from now on, or, where what was sent cannot be taken
                back, the one with the highest version.
            respond: whether the model goes on; where a result itself makes it go on, it does.
        """
        ...

    async def refresh(self, snapshot: Snapshot) -> None:
        """Replace the context; the model does not speak because of it. Waits for its turn, and may be overtaken."""
        ...

    async def interrupt(self) -> None:
        """Void the answer being made, if there is one. Always told as ``Interrupted``."""
        ...

    async def truncate(self, item: str, heard_s: float) -> None:
        """Tell the model how much of an item was heard, clamped to what there was; nothing where all of it was.

        Where a provider cannot be told, nothing is sent.
        """
        ...

    async def update(self, setup: SessionSetup) -> None:
        """Change instructions and tools; where that cannot be done in mid-session, it is in the next one."""
        ...

    async def aclose(self) -> None:
        """End it, within two seconds. Idempotent."""
        ...


class RealtimeAdapter(Protocol):
    """A provider, configured: opens sessions. It has no connection of its own."""

    name: str
    """For people and records: provider and model."""
    hears: int
    """Hertz of the audio it takes."""
    speaks: int
    """Hertz of the audio it gives."""
    lasts_s: float | None
    """Seconds after which it closes a connection; ``None``: it says so beforehand (``SessionExpiring``), or never."""

    async def open(self, setup: SessionSetup) -> RealtimeSession:
        """Connect, and send the setup. ``SessionOpened`` tells when it was accepted.

        Raises:
            RealtimeError: it cannot be reached, or refuses us.
        """
        ...
