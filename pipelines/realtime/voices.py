"""The voices of a realtime call: the model's, as it comes, and our own, for what is said without the model.

Above: ``agent`` says what is to be said. Below: ``speaker`` plays both, one after the other, on one output.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from pipelines.audio.frame import Samples
from pipelines.audio.resample import Resampler
from pipelines.clock import Clock
from pipelines.events import Tell
from pipelines.playout.output import AudioOutput
from pipelines.playout.player import PlayerSettings
from pipelines.playout.streamed import CHARACTERS_PER_S, StreamedUtterance
from pipelines.playout.utterance import UtteranceKind
from pipelines.speaker import Heard, Speaker
from pipelines.tts.absent import Absent
from pipelines.tts.base import Synthesizer
from pipelines.turns.events import TurnEvent, UtteranceOver

__all__ = ["Saying", "Voices"]


@dataclass(slots=True, eq=False)
class Saying:
    """Something said, until it is settled."""

    number: int
    kind: UtteranceKind
    turn: int | None = None
    streamed: StreamedUtterance | None = None
    """The model's; ``None``: our own."""
    connection: int = 0
    """The model's session that it comes from."""
    resampler: Resampler | None = None
    settled: asyncio.Future[Heard] | None = None
    """``None`` while no sound of it was there."""
    part: str = ""
    """The part its latest sound belongs to."""


class Voices:
    """Speaks a call.

    Args:
        clock: the call's.
        output: where it goes.
        group: the call's task group.
        synthesizer: our own voice, if there is one.
        phrases: sentences rendered beforehand, at the output's rate.
        rate: hertz of the model's voice.
        settings: times of playout.
        tell: takes what the outside is told.
        settled: takes everything that was said, once, with what was heard of it.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        output: AudioOutput,
        group: asyncio.TaskGroup,
        synthesizer: Synthesizer | None,
        phrases: Mapping[str, Samples],
        rate: int,
        settings: PlayerSettings,
        tell: Tell,
        settled: Callable[[Saying, Heard], None],
    ) -> None:
        self._output = output
        self._has_voice = synthesizer is not None
        self._phrases = phrases
        self._rate = rate
        self._settled = settled
        self._sayings: dict[int, Saying] = {}
        self._silent = asyncio.Event()
        self._silent.set()
        self._pace = CHARACTERS_PER_S
        """Characters the model's voice speaks in a second."""
        self._speaker = Speaker(
            clock=clock,
            synthesizer=synthesizer or Absent("this call has no voice but the model's"),
            output=output,
            group=group,
            feed=self._happened,
            tell=tell,
            phrases=phrases,
            settings=settings,
        )
        self.hold = self._speaker.hold
        self.resume = self._speaker.resume
        self.suspend = self._speaker.suspend
        self.restore = self._speaker.restore
        self.stop = self._speaker.stop

    @property
    def busy(self) -> bool:
        """Whether anything is being said, or is not settled yet."""
        return self._speaker.busy

    @property
    def protected(self) -> bool:
        """Whether something is said by our own voice that is heard to its end."""
        return any(saying.streamed is None and saying.kind != "greeting" for saying in self._sayings.values())

    @property
    def own(self) -> tuple[int, ...]:
        """What is said by our own voice."""
        return tuple(saying.number for saying in self._sayings.values() if saying.streamed is None)

    async def silence(self, limit_s: float) -> None:
        """Wait until nothing is being said, so long at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._silent.wait()

    def can_say(self, text: str) -> bool:
        """Whether our own voice can say it."""
        return self._has_voice or text in self._phrases

    def say(self, number: int, kind: UtteranceKind, text: str) -> None:
        """Say something with our own voice."""
        saying = self._sayings[number] = Saying(number=number, kind=kind)
        self._silent.clear()
        saying.settled = self._speaker.begin(number, kind)
        self._speaker.say(number, text)

    def begin(self, number: int, kind: UtteranceKind, turn: int | None, connection: int) -> None:
        """Play something of the model's, whose sound follows."""
        saying = self._saying(number, connection)
        assert saying.streamed is not None
        saying.kind = saying.streamed.kind = kind
        saying.turn = turn
        self._silent.clear()
        saying.settled = self._speaker.lend(saying.streamed, turn=turn)

    def sound(self, number: int, part: str, samples: Samples) -> None:
        """Take more of its sound, at the model's rate."""
        if (saying := self._sayings.get(number)) is None or saying.streamed is None or saying.resampler is None:
            return
        saying.part = part
        saying.streamed.sound(part, saying.resampler.process(samples))
        self._speaker.made(number)

    def write(self, number: int, part: str, text: str, connection: int) -> None:
        """Take more of its words, which may come before its sound."""
        if (streamed := self._saying(number, connection).streamed) is not None:
            streamed.words(part, text)

    def rest(self, number: int) -> None:
        """No more of it comes soon: others may go before the rest."""
        self._drain(number)
        self._speaker.made(number, paused=True)

    def finish(self, number: int, *, whole: bool) -> None:
        """There will be no more of it."""
        self._drain(number)
        if (saying := self._sayings.get(number)) is not None and saying.streamed is not None:
            saying.streamed.cut_short = saying.streamed.cut_short or not whole
            saying.streamed.close()
            self._pace = saying.streamed.pace if whole else self._pace
            self._speaker.made(number)

    def cut(self, number: int) -> None:
        """Stop playing it."""
        self._speaker.cancel(number)

    def forget(self, number: int) -> None:
        """Words of it came, and no sound ever will."""
        if (saying := self._sayings.get(number)) is not None and saying.settled is None:
            del self._sayings[number]

    def _saying(self, number: int, connection: int) -> Saying:
        if (saying := self._sayings.get(number)) is None:
            saying = self._sayings[number] = Saying(
                number=number,
                kind="reply",
                streamed=StreamedUtterance(number, "reply", rate=self._output.rate, pace=self._pace),
                connection=connection,
                resampler=Resampler(self._rate, self._output.rate),
            )
        return saying

    def _drain(self, number: int) -> None:
        """Give out what of the sound still lags in the resampler."""
        saying = self._sayings.get(number)
        if saying is not None and saying.streamed is not None and saying.resampler is not None and saying.part:
            saying.streamed.sound(saying.part, saying.resampler.flush())

    def _happened(self, event: TurnEvent) -> None:
        if not isinstance(event, UtteranceOver):
            return
        saying = self._sayings.pop(event.utterance, None)
        if saying is not None and saying.settled is not None:
            self._settled(saying, saying.settled.result())
        if not self._speaker.busy:
            self._silent.set()
