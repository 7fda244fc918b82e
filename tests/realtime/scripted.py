"""A provider that does what it is told, on virtual time, and a caller's end of a call with it.

A word of the model's is a run of samples of one value, so that what an output played can be compared, word by word,
with what is said to be heard.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

from agents.core.glove import Glove
from agents.core.tools import Tool
from agents.models.driven import s2s_driven_model
from agents.stores.memory import MemoryStore
from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.clock import VirtualClock
from pipelines.events import CallEvent
from pipelines.glove import GloveToolHost
from pipelines.realtime.agent import RealtimePipeline
from pipelines.realtime.base import RealtimeError, SessionSetup, Snapshot, ToolAnswer
from pipelines.realtime.events import (
    CallerBegan,
    CallerStopped,
    CallerWords,
    Interrupted,
    ProviderEvent,
    ReplyAudio,
    ReplyBegan,
    ReplyEnded,
    ReplyOutcome,
    ReplyWords,
    SessionEnded,
    SessionOpened,
    ToolCalled,
)
from pipelines.realtime.settings import RealtimeSettings
from tests.pipelines.scripted import ScriptedActivity, frames
from voice_server.transports.recorded import RecordedOutput

Event = TypeVar("Event")
Tale = Callable[["RealtimeLine"], Coroutine[Any, Any, None]]

RATE = 24_000
"""Hertz of the model's voice."""


@dataclass
class ScriptedSession:
    """What it was sent, and what it says."""

    setup: SessionSetup
    clock: VirtualClock
    resumes_as: str | None = None
    sent: list[tuple[str, Any]] = field(default_factory=list)
    heard: list[tuple[float, Samples]] = field(default_factory=list)
    closed: bool = False
    _said: asyncio.Queue[ProviderEvent] = field(default_factory=asyncio.Queue)

    @property
    def handle(self) -> str | None:
        return self.resumes_as

    def tell(self, *events: ProviderEvent) -> None:
        for event in events:
            self._said.put_nowait(event)

    def end(self, reason: str = "", *, code: int | None = None, retry: bool = True) -> None:
        self.tell(SessionEnded(expected=False, code=code, reason=reason, retry=retry))

    async def events(self) -> AsyncIterator[ProviderEvent]:
        while True:
            event = await self._said.get()
            yield event
            if isinstance(event, SessionEnded):
                return

    async def hear(self, samples: Samples) -> None:
        self.heard.append((self.clock.now(), samples))

    async def begin_speech(self) -> None:
        self.sent.append(("begin", None))

    async def end_speech(self, *, respond: bool = True) -> None:
        self.sent.append(("end", respond))

    async def inject(self, text: str, *, role: Literal["caller", "system"], respond: bool) -> None:
        self.sent.append(("inject", (role, text, respond)))

    async def answer(self, results: Sequence[ToolAnswer], *, snapshot: Snapshot, respond: bool = True) -> None:
        self.sent.append(("answer", (tuple(results), snapshot, respond)))

    async def refresh(self, snapshot: Snapshot) -> None:
        self.sent.append(("refresh", snapshot))

    async def interrupt(self) -> None:
        self.sent.append(("interrupt", None))
        self.tell(Interrupted(reply=None))

    async def truncate(self, item: str, heard_s: float) -> None:
        self.sent.append(("truncate", (item, heard_s)))

    async def update(self, setup: SessionSetup) -> None:
        self.sent.append(("update", setup))

    async def aclose(self) -> None:
        if not self.closed:
            self.closed = True
            self.tell(SessionEnded(expected=True))

    def of(self, kind: str) -> list[Any]:
        return [what for name, what in self.sent if name == kind]

    @property
    def voice(self) -> Samples:
        parts = [samples for _, samples in self.heard]
        return np.concatenate(parts) if parts else np.zeros(0, np.int16)


@dataclass
class ScriptedProvider:
    """Opens sessions, unless it was told not to."""

    clock: VirtualClock
    name: str = "scripted"
    hears: int = HEARING_RATE
    speaks: int = RATE
    lasts_s: float | None = None
    takes_s: float = 0.05
    """How long it takes to connect."""
    refusals: list[RealtimeError] = field(default_factory=list)
    """What the next attempts meet."""
    handle: str | None = None
    sessions: list[ScriptedSession] = field(default_factory=list)
    attempts: int = 0

    @property
    def session(self) -> ScriptedSession:
        return self.sessions[-1]

    async def open(self, setup: SessionSetup) -> ScriptedSession:
        self.attempts += 1
        await self.clock.sleep(self.takes_s)
        if self.refusals:
            raise self.refusals.pop(0)
        session = ScriptedSession(setup=setup, clock=self.clock, resumes_as=self.handle)
        session.tell(SessionOpened(resumed=setup.resume is not None))
        self.sessions.append(session)
        return session


def words(count: int, *, word_s: float = 0.25, first: int = 1) -> Samples:
    """Say so many words, each a run of its number times ten."""
    length = int(word_s * RATE)
    return np.concatenate([np.full(length, (first + at) * 10, np.int16) for at in range(count)])


class RealtimeLine:
    """A caller's end of a call with a scripted provider."""

    def __init__(self, clock: VirtualClock, **more: Any) -> None:
        self.clock = clock
        self.provider: ScriptedProvider = more.get("provider") or ScriptedProvider(clock)
        self.store = more.get("store") or MemoryStore()
        self.glove = Glove(
            model=s2s_driven_model("scripted"), store=self.store, system_prompt="Be brief.", display=more.get("display")
        )
        self.glove.fold(*more.get("tools", ()))
        self.host = GloveToolHost(self.glove, clock, **more.get("host", {}))
        self.settings: RealtimeSettings = more.get("settings") or RealtimeSettings()
        self.listens: bool = more.get("listens", self.settings.ours)
        self.more: dict[str, Any] = more.get("pipeline", {})
        self.output_options: dict[str, Any] = more.get("output", {})
        self.events: list[tuple[float, CallEvent]] = []
        self.pipeline: RealtimePipeline
        self.output: RecordedOutput
        self._replies = 0

    async def call(self, tale: Tale) -> None:
        self.output = RecordedOutput(self.clock, rate=RATE, **self.output_options)
        async with asyncio.TaskGroup() as group:
            self.pipeline = RealtimePipeline(
                clock=self.clock,
                output=self.output,
                group=group,
                tell=lambda event: self.events.append((self.clock.now(), event)),
                adapter=self.provider,
                host=self.host,
                activity=ScriptedActivity() if self.listens else None,
                settings=self.settings,
                **self.more,
            )
            self.pipeline.start()
            await self.clock.sleep(self.provider.takes_s + 0.01)
            await tale(self)
            await self.pipeline.aclose()
            await self.output.aclose()

    # ----------------------------------------------------------------------------------------------- what is made up

    @property
    def session(self) -> ScriptedSession:
        return self.provider.session

    def turn(self, text: str, item: str) -> None:
        """The caller has said something, as a provider with its own detection tells it."""
        self.session.tell(CallerBegan(), CallerStopped(), CallerWords(item=item, text=text, final=True))

    def begin(self) -> str:
        """The model begins a reply."""
        self._replies += 1
        reply = f"r{self._replies}"
        self.session.tell(ReplyBegan(reply=reply))
        return reply

    def say(self, reply: str, text: str, samples: Samples, item: str | None = None) -> None:
        """The model says something, words first."""
        item = item or f"{reply}.item"
        self.session.tell(ReplyWords(reply=reply, item=item, text=text))
        self.session.tell(ReplyAudio(reply=reply, item=item, samples=samples))

    def end(self, reply: str, outcome: ReplyOutcome = ReplyOutcome.COMPLETED, reason: str = "") -> None:
        self.session.tell(ReplyEnded(reply=reply, outcome=outcome, reason=reason))

    def answer(self, text: str, samples: Samples) -> str:
        """A whole reply at once."""
        reply = self.begin()
        self.say(reply, text, samples)
        self.end(reply)
        return reply

    def calls(self, *calls: tuple[str, str, str], text: str = "") -> str:
        """A reply that calls tools: id, name and arguments of each."""
        reply = self.begin()
        if text:
            self.say(reply, text, words(len(text.split())))
        for call_id, name, arguments in calls:
            self.session.tell(ToolCalled(reply=reply, call_id=call_id, name=name, arguments=arguments))
        self.end(reply)
        return reply

    def barge_in(self, reply: str | None = None) -> None:
        """The provider hears the caller over the model."""
        self.session.tell(CallerBegan(), Interrupted(reply=reply))
        if reply is not None:
            self.end(reply, ReplyOutcome.CANCELLED)

    async def sends(self, samples: Samples) -> None:
        for frame in frames(samples):
            await self.clock.sleep(frame.duration)
            self.pipeline.hear(frame)

    async def voiced(self, seconds: float) -> None:
        await self.sends(np.full(int(seconds * HEARING_RATE), 1000, np.int16))

    async def silence(self, seconds: float) -> None:
        await self.sends(np.zeros(int(seconds * HEARING_RATE), np.int16))

    async def wait(self, seconds: float = 0.02) -> None:
        await self.clock.sleep(seconds)

    # --------------------------------------------------------------------------------------------------- what is seen

    def all(self, kind: type[Event]) -> list[Event]:
        return [event for _, event in self.events if isinstance(event, kind)]

    def times(self, kind: type[CallEvent]) -> list[float]:
        return [at for at, event in self.events if isinstance(event, kind)]

    async def stored(self) -> list[str]:
        """The conversation as a model would be shown it: who said what, what was heard of it."""
        settled = await self.store.get_settlements()
        told = []
        for message in await self.store.get_messages():
            if message.tool_results:
                told.append("results " + " ".join(result.result.status for result in message.tool_results))
                continue
            cut = settled.get(message.id)
            text = cut.heard if cut is not None and cut.interrupted else message.text
            who = "agent" if message.sender == "agent" else "caller"
            called = "".join(f" +{call.tool_name}" for call in message.tool_calls)
            told.append(f"{who}: {text}{called}")
        return told


def hold(tale: Tale, **more: Any) -> RealtimeLine:
    """Hold a call on virtual time."""
    clock = VirtualClock()
    provider = more.pop("provider", None)
    line = RealtimeLine(clock, provider=None if provider is None else provider(clock), **more)
    clock.run(line.call(tale))
    return line


def tool(name: str, do: Callable[..., Any], **more: Any) -> Tool:
    """A tool that takes what it is given."""
    return Tool(name=name, description=f"To {name}.", input={"type": "object", "properties": {}}, do=do, **more)
