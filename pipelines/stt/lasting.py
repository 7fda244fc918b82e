"""A hearing that lasts: reopened when its engine fails, and given again what that had not understood yet.

Above: ``listener`` hears a call through it. Below: any recogniser, whatever it raises, and whenever it emits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, assert_never

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.clock import Clock, Timer
from pipelines.stt.base import Final, Hearing, Partial, Recognition, RecognitionFailed, Recognizer

__all__ = ["Ear", "LastingHearing", "reopening_delays"]

SECOND_HEARINGS = 1
"""How often a segment that an engine failed on is given to the reopened engine."""

KEPT_S = 60.0
"""Seconds of a segment that are kept for a second hearing. Of a longer one the text so far has to do: nobody speaks
for a minute without taking breath, and a noise that lasts must not fill the memory."""

CLOSE_LIMIT_S = 2.0
"""Seconds an engine may take to close."""


def reopening_delays() -> Iterator[float]:
    """Yield the seconds to wait before reopening a failed recogniser: half a second doubling to fifteen, for ever."""
    delay = 0.5
    while True:
        yield delay
        delay = min(delay * 2, 15.0)


class Ear(Protocol):
    """Takes what is heard."""

    def words(self, segment: int, text: str, *, final: bool) -> None:
        """A segment's text so far, or its whole text: once, after its end."""
        ...

    def unheard(self, segment: int) -> None:
        """There will be no final text of a segment that ended."""
        ...

    def trouble(self, reason: str) -> None:
        """The engine failed; it will be reopened."""
        ...


@dataclass(slots=True)
class _Kept:
    """A segment until its final is there."""

    spelling: bool
    audio: list[Samples] = field(default_factory=list)
    samples: int = 0
    ended: bool = False
    failures: int = 0


class LastingHearing:
    """One call's hearing.

    Args:
        clock: the call's.
        recognizer: the process's recogniser.
        group: the call's task group; failed hearings are closed in it.
        ear: takes what is heard.
    """

    def __init__(self, *, clock: Clock, recognizer: Recognizer, group: asyncio.TaskGroup, ear: Ear) -> None:
        self._clock = clock
        self._recognizer = recognizer
        self._group = group
        self._ear = ear
        self._delays = reopening_delays()
        self._reopening: Timer | None = None
        self._hearing: Hearing | None = None
        self._use = 0
        """Counts the hearings: what an earlier one emits is not believed."""
        self._kept: dict[int, _Kept] = {}
        self._closed = False
        self._open()

    @property
    def busy(self) -> bool:
        """Whether a final text is still to come."""
        return bool(self._kept)

    def begin(self, segment: int, *, spelling: bool = False) -> None:
        """Open a segment."""
        self._kept[segment] = _Kept(spelling)
        self._ask(lambda hearing: hearing.begin(segment, spelling=spelling))

    def feed(self, segment: int, samples: Samples) -> None:
        """Take audio of the open segment."""
        if (kept := self._kept.get(segment)) is None:
            return
        kept.samples += len(samples)
        if kept.samples <= KEPT_S * HEARING_RATE:
            kept.audio.append(samples)
        else:
            kept.audio.clear()
        self._ask(lambda hearing: hearing.feed(segment, samples))

    def pause(self, segment: int) -> None:
        """Speech fell silent just now."""
        if segment in self._kept:
            self._ask(lambda hearing: hearing.pause(segment))

    def end(self, segment: int) -> None:
        """No more audio for the segment."""
        if (kept := self._kept.get(segment)) is None:
            self._ear.unheard(segment)
            return
        kept.ended = True
        self._ask(lambda hearing: hearing.end(segment))

    def drop(self, segment: int) -> None:
        """Forget a segment whose text is not wanted any more."""
        if self._kept.pop(segment, None) is not None:
            self._ask(lambda hearing: hearing.drop(segment))

    async def aclose(self) -> None:
        """Stop hearing, within ``CLOSE_LIMIT_S``. Idempotent."""
        self._closed = True
        if self._reopening is not None:
            self._reopening.cancel()
        hearing, self._hearing = self._hearing, None
        if hearing is not None:
            await self._close(hearing)

    def _ask(self, what: Callable[[Hearing], None]) -> None:
        if (hearing := self._hearing) is None:
            return
        try:
            what(hearing)
        except Exception as error:  # noqa: BLE001 - an engine's boundary: whatever it raises, the call goes on
            if hearing is self._hearing:
                self._failed(f"it raised {type(error).__name__}")

    def _recognised(self, use: int, recognition: Recognition) -> None:
        if self._closed or use != self._use:
            return
        kept = self._kept.get(recognition.segment)
        match recognition:
            case RecognitionFailed():
                self._failed(recognition.reason)
            case Partial() | Final() if kept is None:
                pass  # it was dropped, or is over
            case Final(segment=segment, text=text) if kept.ended:
                del self._kept[segment]
                self._delays = reopening_delays()
                self._ear.words(segment, text, final=True)
            case Partial(segment=segment, text=text) | Final(segment=segment, text=text):
                self._ear.words(segment, text, final=False)
            case _:
                assert_never(recognition)

    def _failed(self, reason: str) -> None:
        """Reopen the engine after a while and let it hear again what it failed on, once."""
        self._use += 1
        hearing, self._hearing = self._hearing, None
        if hearing is not None:
            self._group.create_task(self._close(hearing))
        self._reopening = self._clock.call_at(self._clock.now() + next(self._delays), self._reopen)
        self._ear.trouble(reason)
        for segment, kept in list(self._kept.items()):
            kept.failures += 1
            too_long = kept.samples > 0 and not kept.audio
            if too_long or (kept.ended and kept.failures > SECOND_HEARINGS):
                self._kept.pop(segment, None)
                if kept.ended:
                    self._ear.unheard(segment)

    def _open(self) -> None:
        use = self._use
        try:
            self._hearing = self._recognizer.open(self._clock, lambda recognition: self._recognised(use, recognition))
        except Exception as error:  # noqa: BLE001 - an engine's boundary
            self._failed(f"it raised {type(error).__name__}")

    def _reopen(self) -> None:
        self._reopening = None
        self._open()
        for segment, kept in list(self._kept.items()):
            self._ask(partial(_replay, segment=segment, kept=kept))

    async def _close(self, hearing: Hearing) -> None:
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await hearing.aclose()
        except Exception as error:  # noqa: BLE001 - an engine's boundary; TimeoutError is one of them
            if not self._closed:
                self._ear.trouble(f"it could not be closed: {type(error).__name__}")


def _replay(hearing: Hearing, segment: int, kept: _Kept) -> None:
    hearing.begin(segment, spelling=kept.spelling)
    for samples in kept.audio:
        hearing.feed(segment, samples)
    if kept.ended:
        hearing.end(segment)
