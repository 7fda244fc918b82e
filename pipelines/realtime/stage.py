"""A provider's side of the wire that does what it is told: what an adapter is checked on.

Above: ``conformance`` checks adapters. Below: whoever has an adapter to check implements :class:`Stage`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from pipelines.audio.frame import Samples
from pipelines.realtime.base import RealtimeAdapter, RealtimeSession, SessionSetup
from pipelines.realtime.events import ProviderEvent, SessionOpened

__all__ = ["Held", "Stage", "Talk", "fence", "talk", "until"]

_Event = TypeVar("_Event", bound=ProviderEvent)


LIMIT_S = 5.0
"""Real seconds a check waits for anything: far longer than a loopback connection takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a provider holds of a session, and what it was told in which order."""

    instructions: str = ""
    tools: tuple[str, ...] = ()
    """Names."""
    said: tuple[tuple[Literal["caller", "agent", "system"], str], ...] = ()
    """What was written into the conversation, in order; no voice, no snapshots."""
    results: tuple[tuple[str, str], ...] = ()
    """Call id and output of each result, in order; without a snapshot that travels inside."""
    contexts: tuple[str, ...] = ()
    """The snapshots that are live: all that were not taken back or, where none can be, the one that holds."""
    order: tuple[Literal["result", "context", "trigger"], ...] = ()
    """What arrived, in order. A message that is several of them counts as each, in this order."""
    heard: Samples
    """Of the caller's voice all that is, or was, part of a turn, at the adapter's ``hears``."""
    truncated: tuple[tuple[str, float], ...] = ()
    """Item and seconds of each truncation."""
    answers: int = 0
    """How many answers it began because it was asked to, or because the caller had spoken."""


class Stage(Protocol):
    """A provider's side of the wire, strict, which does what it is told, and an adapter that connects to it.

    It waits for a connection where it needs one. What is said and called belongs to one answer until ``finish``: the
    one it was asked for, or else one that it begins by itself.
    """

    @property
    def adapter(self) -> RealtimeAdapter:
        """Fresh."""
        ...

    @property
    def truncates(self) -> bool:
        """Whether this provider can be told how much was heard."""
        ...

    async def say(self, text: str, samples: Samples) -> None:
        """Go on with the answer: say something, at the adapter's ``speaks``."""
        ...

    async def call(self, name: str, arguments: str, *, call_id: str | None = None) -> str:
        """Go on with the answer: call a tool.

        Args:
            name: the tool's.
            arguments: a JSON object's text.
            call_id: the call's id; one of its own by default.

        Returns:
            The call's id on the wire.
        """
        ...

    async def finish(self) -> None:
        """End the answer."""
        ...

    async def hear_caller(self, *texts: str) -> None:
        """Hear an utterance of the caller's and transcribe it.

        Args:
            texts: the transcript, growing; the last is final. Where a provider tells fragments, it tells what each
                has more than the one before.
        """
        ...

    async def interrupt(self) -> None:
        """Hear the caller speak over the answer: it is void."""
        ...

    async def say_late(self, samples: Samples) -> None:
        """Send audio of an answer that is void already, as if it had been on its way."""
        ...

    async def babble(self) -> None:
        """Send what no client knows: an unknown event, a known one that lacks everything, and no JSON at all."""
        ...

    async def close(self, code: int, reason: str) -> None:
        """Close the connection."""
        ...

    async def vanish(self) -> None:
        """Break the connection off without a word."""
        ...

    def held(self) -> Held:
        """Tell what there is."""
        ...

    async def more(self) -> None:
        """Wait until something more arrived than when this was last awaited."""
        ...


class Talk:
    """A session, and all that it has told.

    Attributes:
        session: to send with.
        told: its events so far.
    """

    def __init__(self, session: RealtimeSession) -> None:
        self.session = session
        self.told: list[ProviderEvent] = []
        self._more = asyncio.Event()

    async def listen(self) -> None:
        """Keep what is told, to its end."""
        async for event in self.session.events():
            self.told.append(event)
            self._more.set()

    def of(self, kind: type[_Event]) -> list[_Event]:
        """Give what was told of one kind."""
        return [event for event in self.told if isinstance(event, kind)]

    async def until(self, kind: type[_Event], times: int = 1) -> _Event:
        """Wait until so many of a kind were told, and give the last of them."""
        while len(found := self.of(kind)) < times:
            self._more.clear()
            await self._more.wait()
        return found[times - 1]


@asynccontextmanager
async def talk(stage: Stage, setup: SessionSetup) -> AsyncIterator[Talk]:
    """Open a session for a check, and close it.

    Raises:
        AssertionError: the check's, or something did not come in time.
    """
    failure: AssertionError | None = None
    told: list[ProviderEvent] = []
    try:
        async with asyncio.timeout(LIMIT_S):
            call = Talk(await stage.adapter.open(setup))
            told = call.told
            async with asyncio.TaskGroup() as group:
                listening = group.create_task(call.listen())
                try:
                    await call.until(SessionOpened)
                    yield call
                except AssertionError as exc:
                    failure = exc  # A group would wrap it.
                finally:
                    await call.session.aclose()
                    listening.cancel()
    except TimeoutError:
        raise AssertionError(f"{LIMIT_S:.0f} s were not enough; told so far: {told}; held: {stage.held()}") from None
    if failure is not None:
        raise failure


async def until(stage: Stage, holds: Callable[[Held], bool]) -> Held:
    """Wait until the provider holds something, and tell all it holds."""
    while not holds(held := stage.held()):
        await stage.more()
    return held


async def fence(stage: Stage, call: Talk) -> Held:
    """Wait until all that was sent so far has arrived: a provider takes messages in order."""
    await call.session.inject("That was all.", role="system", respond=False)
    return await until(stage, lambda held: held.said[-1:] == (("system", "That was all."),))
