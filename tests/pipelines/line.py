"""A caller's end of a call with scripted engines on virtual time, any of which may be broken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import numpy as np

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.cascade import Cascade, CascadeSettings, Engines
from pipelines.clock import VirtualClock
from pipelines.events import CallEvent, TurnCommitted
from pipelines.listener import Probe
from pipelines.turns.settings import TurnSettings
from pipelines.vad.base import VoiceActivity
from tests.pipelines.scripted import (
    VOICE_RATE,
    Answer,
    ScriptedActivity,
    ScriptedRecognizer,
    ScriptedResponder,
    ScriptedVoice,
    frames,
    spoken,
)
from voice_server.transports.recorded import RecordedOutput

Event = TypeVar("Event")
Tale = Callable[["Line"], Coroutine[Any, Any, None]]
APOLOGY = 30_000
APOLOGY_S = 0.5


class Line:
    """A caller's end of a call."""

    def __init__(self, clock: VirtualClock, **engines: Any) -> None:
        self.clock = clock
        self.vocabulary: list[str] = []
        self.recognizer: ScriptedRecognizer = engines.get("recognizer", ScriptedRecognizer)(
            self.vocabulary,
            fails_at=engines.get("broken_ears", frozenset()),
            partial_every_s=engines.get("partial_every_s"),
        )
        self.activity: VoiceActivity = engines.get("activity", ScriptedActivity)()
        self.voice: ScriptedVoice = engines.get("voice", ScriptedVoice)(
            fails_at=engines.get("broken_voice", frozenset())
        )
        self.responder: ScriptedResponder = engines.get("responder", ScriptedResponder)(
            clock, engines.get("answers", (Answer(),))
        )
        self.make_output: Callable[..., RecordedOutput] = engines.get("output", RecordedOutput)
        self.greeting: str | None = engines.get("greeting")
        self.drafts: int = engines.get("drafts", 2)
        self.settings: dict[str, Any] = engines.get("settings", {})
        """More of the cascade's settings."""
        self.probe: Probe | None = engines.get("probe")
        self.host: Callable[[Line, CallEvent], None] | None = engines.get("host")
        """Hears of what happens, and may do something about it."""
        self.events: list[tuple[float, CallEvent]] = []
        self.cascade: Cascade
        self.output: RecordedOutput

    async def call(self, tale: Tale) -> None:
        turns = TurnSettings(far_field_ratio=0.0, drafts=self.drafts)
        apology: Samples = np.full(int(APOLOGY_S * VOICE_RATE), APOLOGY, np.int16)
        self.output = self.make_output(self.clock, rate=self.voice.rate)
        async with asyncio.TaskGroup() as group:
            self.cascade = Cascade(
                clock=self.clock,
                engines=Engines(
                    activity=self.activity,
                    recognizer=self.recognizer,
                    synthesizer=self.voice,
                    phrases={turns.engine_failed: apology, turns.not_understood: apology},
                ),
                responder=self.responder,
                output=self.output,
                group=group,
                tell=self._told,
                settings=CascadeSettings(turns=turns, greeting=self.greeting, **self.settings),
                probe=self.probe,
            )
            self.cascade.start()
            await tale(self)
            await self.cascade.aclose()
            await self.output.aclose()

    def _told(self, event: CallEvent) -> None:
        self.events.append((self.clock.now(), event))
        if self.host is not None:
            self.host(self, event)

    async def says(self, *words: str, word_s: float = 0.3) -> None:
        await self.sends(spoken(self.vocabulary, words, word_s))

    async def silence(self, seconds: float) -> None:
        await self.sends(np.zeros(int(seconds * HEARING_RATE), np.int16))

    async def sends(self, samples: Samples) -> None:
        for frame in frames(samples):
            await self.clock.sleep(frame.duration)
            self.cascade.hear(frame)

    def all(self, kind: type[Event]) -> list[Event]:
        return [event for _, event in self.events if isinstance(event, kind)]

    def times(self, kind: type[CallEvent]) -> list[float]:
        return [at for at, event in self.events if isinstance(event, kind)]

    @property
    def committed(self) -> list[str]:
        return [event.text for event in self.all(TurnCommitted)]

    @property
    def apologies(self) -> float:
        """How often the prerendered apology was really played."""
        return np.count_nonzero(self.output.track() == APOLOGY) / (APOLOGY_S * VOICE_RATE)


def hold(tale: Tale, **engines: Any) -> Line:
    clock = VirtualClock()
    line = Line(clock, **engines)
    clock.run(line.call(tale))
    return line
