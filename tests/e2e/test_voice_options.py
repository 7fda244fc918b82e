"""The options of a call on recorded speech: a button for turns, gating, a muted start, a detector without a model."""

from __future__ import annotations

import pytest

from pipelines.engines import EngineKind, load_engine
from tests.e2e.stage import Call, Stage
from tests.fixtures.catalogue import fixture
from tests.fixtures.wer import normalised, wer

DETECTOR_S = 0.06
"""What a detector's windows and the frames of a line may add to a time."""


def texts(call: Call) -> list[str]:
    return [" ".join(normalised(turn.caller)) for turn in call.turns]


# --------------------------------------------------------------------------------------------------------- push to talk


@pytest.mark.parametrize("name", ["what-time-is-it", "number-in-groups", "dictation"])
def test_whoever_holds_a_button_is_heard_over_every_pause_and_answered_when_they_let_go(
    stage: Stage, name: str
) -> None:
    call = stage.call(name, turn_taking="manual")
    (turn,) = call.turns
    assert wer(fixture(name).words, turn.caller) <= 0.1
    # No silence is waited for: the turn is there with its text.
    assert turn.latency_ms.endpoint is not None
    assert turn.latency_ms.endpoint == turn.latency_ms.stt
    assert call.kinds() == ["muted", "unmuted", "muted"]


def test_a_button_interrupts_before_a_word_is_said(stage: Stage) -> None:
    call = stage.call("what-can-you-do", ("what-time-is-it", 1.0), turn_taking="manual")
    assert texts(call) == ["what can you do for me", "what time is it"]
    assert [turn.interrupted for turn in call.turns] == [True, False]
    (cancelled,) = call.events("cancelled")
    assert cancelled.data["cause"] == "pressed"
    words_from = call.spoke_at[1][0]
    assert cancelled.t_ms / 1000 < words_from
    assert call.audible_until(words_from + 0.2) < words_from


@pytest.mark.parametrize("name", ["fan", "blip", "door-slam", "cough"])
def test_a_button_held_over_what_is_no_word_is_no_turn(stage: Stage, name: str) -> None:
    call = stage.call(name, turn_taking="manual")
    assert call.turns == () and call.report.utterances == ()
    assert call.kinds() == ["muted", "unmuted", "muted", "nothing_said"]


def test_who_starts_muted_is_heard_once_unmuted(stage: Stage) -> None:
    call = stage.call("what-time-is-it", start_muted=True)
    assert texts(call) == ["what time is it"]
    assert call.kinds() == ["muted", "unmuted"]


# --------------------------------------------------------------------------------------------------------------- gating


@pytest.mark.parametrize(
    ("name", "hard", "soft", "off"),
    [
        # Too short for the hard gate: the others read it, and find no word in it.
        ("blip", [], ["noise"], ["noise"]),
        # Long enough for all of them.
        ("cough", ["noise"], ["noise"], ["noise"]),
        # What no detector notices reaches no recogniser.
        ("door-slam", [], [], []),
        ("fan", [], [], []),
        ("room-tone", [], [], []),
    ],
)
def test_which_sounds_are_read(stage: Stage, name: str, hard: list[str], soft: list[str], off: list[str]) -> None:
    calls = {gating: stage.call(name, gating=gating) for gating in ("hard", "soft", "off")}
    assert {gating: call.kinds() for gating, call in calls.items()} == {"hard": hard, "soft": soft, "off": off}
    assert not any(call.turns for call in calls.values())


@pytest.mark.parametrize("gating", ["hard", "soft"])
def test_the_people_behind_the_caller_are_no_turn_while_the_guards_are_asked(stage: Stage, gating: str) -> None:
    call = stage.call("babble-after-caller", gating=gating)
    assert texts(call) == ["what time is it please"]
    assert call.kinds() == ["far_field"]


def test_with_gating_off_whoever_speaks_is_the_caller(stage: Stage) -> None:
    call = stage.call("babble-after-caller", gating="off")
    assert texts(call)[0] == "what time is it please"
    assert len(call.turns) == 2
    assert call.events("far_field") == []


@pytest.mark.parametrize("gating", ["hard", "soft", "off"])
@pytest.mark.parametrize(
    ("name", "words"), [("yes", "yes"), ("no", "no"), ("quiet-caller", "could you tell me the time")]
)
def test_speech_is_a_turn_whatever_the_gating(stage: Stage, name: str, words: str, gating: str) -> None:
    assert texts(stage.call(name, gating=gating)) == [words]


# ------------------------------------------------------------------------------------------------------------ by energy


def by_energy(stage: Stage, *says: str | tuple[str, float]) -> Call:
    return stage.call(*says, house=stage.with_engines(vad=load_engine(EngineKind.VAD, "energy")))


@pytest.mark.parametrize("name", ["what-time-is-it", "three-miles", "long-question", "yes", "phone-band"])
def test_loudness_alone_finds_a_caller_in_a_quiet_room(stage: Stage, name: str) -> None:
    call = by_energy(stage, name)
    (turn,) = call.turns
    assert wer(fixture(name).words, turn.caller) <= 0.15
    # Its silence of 450 ms, where the model has 250.
    assert turn.latency_ms.endpoint is not None and turn.latency_ms.endpoint >= 450


@pytest.mark.parametrize("name", ["blip", "door-slam", "cough", "room-tone"])
def test_what_is_loud_and_no_word_is_no_turn(stage: Stage, name: str) -> None:
    call = by_energy(stage, name)
    assert call.turns == () and call.report.utterances == ()


def test_an_interruption_found_by_loudness_stops_the_agent_and_a_door_does_not(stage: Stage) -> None:
    stopped, went_on = (by_energy(stage, "what-can-you-do", (name, 1.0)) for name in ("stop", "door-slam"))
    assert [turn.interrupted for turn in stopped.turns] == [True, False]
    assert [turn.interrupted for turn in went_on.turns] == [False]
    (held,), (resumed,) = went_on.events("held"), went_on.events("resumed")
    assert resumed.t_ms - held.t_ms <= 1000 * (fixture("door-slam").duration_s + 0.8)
    assert resumed.t_ms / 1000 <= went_on.spoke_at[1][1] + 0.8 + DETECTOR_S
