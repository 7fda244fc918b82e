"""What each gating gives to the recogniser, and what it believes of it."""

from __future__ import annotations

import pytest

from pipelines.events import OutputHeld, OutputResumed, SoundIgnored, SpeechOver
from pipelines.gating import Gating
from pipelines.turns.events import NoteKind
from pipelines.turns.guards import VoiceEvidence
from pipelines.turns.settings import TurnSettings
from pipelines.vad.detector import DetectorSettings
from tests.pipelines.line import Line, hold
from tests.pipelines.scripted import Answer, ScriptedHearing, ScriptedRecognizer

HARD, SOFT, OFF = Gating


def say(gating: Gating, word: str, seconds: float) -> Line:
    """Say one word into silence."""

    async def tale(line: Line) -> None:
        await line.silence(1)
        await line.says(word, word_s=seconds)
        await line.silence(4)

    return hold(tale, settings={"gating": gating})


@pytest.mark.parametrize(
    ("gating", "word", "seconds", "read", "committed", "ignored"),
    [
        (HARD, "soon", 0.10, [], [], []),
        (SOFT, "soon", 0.10, ["soon"], ["soon"], []),
        (OFF, "soon", 0.10, ["soon"], ["soon"], []),
        # What recognisers write into a click.
        (HARD, "you", 0.10, [], [], []),
        (SOFT, "you", 0.10, ["you"], [], [NoteKind.PHANTOM]),
        (OFF, "you", 0.10, ["you"], ["you"], []),
        (HARD, "you", 0.40, ["you"], ["you"], []),
        (SOFT, "you", 0.40, ["you"], ["you"], []),
        (OFF, "you", 0.40, ["you"], ["you"], []),
        # A description of a sound is no word.
        (OFF, "[click]", 0.10, ["[click]"], [], [NoteKind.PHANTOM]),
    ],
)
def test_what_is_read_of_a_sound_and_what_is_believed(
    gating: Gating, word: str, seconds: float, read: list[str], committed: list[str], ignored: list[NoteKind]
) -> None:
    line = say(gating, word, seconds)
    assert line.recognizer.finals == read
    assert line.committed == committed
    assert [event.kind for event in line.all(SoundIgnored)] == ignored
    assert [event.confirmed for event in line.all(SpeechOver)] == [bool(read)]
    assert line.cascade.idle


@pytest.mark.parametrize(("gating", "began_at"), [(HARD, 0.256), (SOFT, 0.032), (OFF, 0.032)])
def test_when_the_recogniser_begins_to_read(gating: Gating, began_at: float) -> None:
    begun: list[float] = []

    class Ears(ScriptedRecognizer):
        def open(self, clock, emit):  # type: ignore[no-untyped-def]
            class Hearing(ScriptedHearing):
                def begin(self, segment: int, *, spelling: bool = False) -> None:
                    begun.append(clock.now())
                    super().begin(segment, spelling=spelling)

            return Hearing(self, clock, emit)

    async def tale(line: Line) -> None:
        await line.says("something", word_s=0.5)
        await line.silence(1)

    hold(tale, settings={"gating": gating}, recognizer=Ears)
    assert begun == [pytest.approx(began_at, abs=0.02)]


@pytest.mark.parametrize(("gating", "stopped"), [(HARD, False), (SOFT, True), (OFF, True)])
def test_a_command_too_short_for_the_hard_gate_stops_the_agent_through_the_others(
    gating: Gating, stopped: bool
) -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.silence(2)
        await line.says("no", word_s=0.22)
        await line.silence(4)

    line = hold(tale, settings={"gating": gating}, answers=(Answer(words=40), Answer(words=1)))
    assert line.committed == (["tell me", "no"] if stopped else ["tell me"])


@pytest.mark.parametrize("gating", Gating)
def test_a_click_over_the_agent_holds_it_for_as_long_as_any_sound_that_is_none(gating: Gating) -> None:
    async def tale(line: Line) -> None:
        await line.says("tell", "me")
        await line.silence(2)
        await line.says("click", word_s=0.05)
        await line.silence(6)

    line = hold(tale, settings={"gating": gating}, answers=(Answer(words=12),))
    assert line.committed == ["tell me"]
    (held, resumed), (over,) = (line.times(OutputHeld), line.times(OutputResumed)), line.all(SpeechOver)[1:]
    assert len(held) == len(resumed) == 1
    assert resumed[0] - over.ended_at < 0.8
    assert line.cascade.idle


@pytest.mark.parametrize(("gating", "guarded"), [(HARD, True), (SOFT, True), (OFF, False)])
def test_whose_words_they_are_is_asked_unless_gating_is_off(gating: Gating, guarded: bool) -> None:
    turns = gating.turns(TurnSettings(far_field_ratio=0.5))
    weak = VoiceEvidence(voiced_s=0.1, peak_probability=0.5)
    for invented in ("thank you", "thanks for watching", "one two three four five six seven"):
        assert (turns.phantom.judge(invented, weak) is not None) is guarded
    assert (turns.far_field_ratio > 0) is guarded


def test_gating_leaves_the_rest_of_the_detector_as_it_is() -> None:
    settings = DetectorSettings(entry=0.7, onset_s=0.1, end_s=0.4)
    assert HARD.detector(settings) is settings
    for gating in (SOFT, OFF):
        softened = gating.detector(settings)
        assert (softened.entry, softened.onset_s, softened.end_s) == (0.7, 0.1, 0.4)
