"""Detectors that fail in a call: it is told, and loudness has to do for the rest of it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pipelines.audio.frame import Samples
from pipelines.events import EngineTrouble
from tests.pipelines.line import Line, hold
from tests.pipelines.scripted import ScriptedActivity


class Dying(ScriptedActivity):
    """Raises when it has heard for a while."""

    fed = 0

    def feed(self, samples: Samples) -> list[float]:
        self.fed += 1
        if self.fed == 50:
            raise RuntimeError("words of the caller")
        return super().feed(samples)


class Unsure(ScriptedActivity):
    """Answers what is no probability."""

    answer: float = math.nan

    def feed(self, samples: Samples) -> list[float]:
        return [self.answer for _ in super().feed(samples)]


class Oversure(Unsure):
    answer = 1.5


class Clinging(ScriptedActivity):
    """Cannot be reset."""

    def reset(self) -> None:
        raise RuntimeError("words of the caller")


class Vague(ScriptedActivity):
    """Does not know what it waits for."""

    @property
    def pending(self) -> int:
        raise RuntimeError("words of the caller")


@pytest.mark.parametrize(
    ("activity", "reason"),
    [
        (Dying, "it raised RuntimeError"),
        (Unsure, "it raised ValueError"),
        (Oversure, "it raised ValueError"),
        (Clinging, "it raised RuntimeError"),
        (Vague, "it raised RuntimeError"),
    ],
)
def test_a_call_whose_detector_fails_goes_on_hearing(activity: Any, reason: str) -> None:
    async def tale(line: Line) -> None:
        await line.silence(0.5)
        for word in ("one", "two", "three"):
            await line.says("say", word)
            await line.silence(4)
            await line.clock.sleep(1)

    line = hold(tale, activity=activity)
    assert line.committed == ["say one", "say two", "say three"]
    assert [(event.engine, event.reason) for event in line.all(EngineTrouble)] == [("vad", reason)]
