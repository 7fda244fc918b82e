from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import pytest

from agents.spoken import say_date, say_time
from tests.e2e.stage import ALL_OUTPUTS, Stage, heard_by
from tests.fixtures.catalogue import fixture
from tests.fixtures.wer import normalised
from voice_server.options import OutputKind

CONTRACT: dict[str, Any] = {
    "v": int,
    "conversation": str,
    "pipeline": str,
    "agent": str,
    "stt": str,
    "tts": str,
    "model": str,
    "turns": [
        {
            "caller": str,
            "agent": str,
            "heard": str,
            "interrupted": bool,
            "tools": [{"name": str, "input": dict, "status": str}],
            "latency_ms": {"endpoint": int, "stt": int, "model": int, "tts": int, "voice_to_voice": int},
        }
    ],
    "utterances": [
        {
            "id": int,
            "kind": str,
            "turn": int,
            "text": str,
            "heard": str,
            "interrupted": bool,
            "start_s": float,
            "end_s": float,
        }
    ],
    "events": [{"t_ms": int, "type": str, "data": dict}],
    "goals": (dict, type(None)),
    "forms": [{"id": str, "status": str, "values": dict}],
    "audio": {"seconds": float, "path": (str, type(None))},
}
"""The object of DESIGN 6, with types in the place of values; a list's one item is what each of its items is."""


def assert_fits(value: Any, contract: Any, where: str = "report") -> None:
    """All keys are there, each value of its type; exactly, for a ``bool`` is no ``int`` here."""
    match contract:
        case dict():
            assert isinstance(value, dict), where
            assert contract.keys() <= value.keys(), f"{where} lacks {contract.keys() - value.keys()}"
            for key, inner in contract.items():
                assert_fits(value[key], inner, f"{where}.{key}")
        case list():
            assert isinstance(value, list), where
            for at, item in enumerate(value):
                assert_fits(item, contract[0], f"{where}[{at}]")
        case tuple():
            assert type(value) in contract, f"{where} is {value!r}"
        case _:
            assert type(value) is contract, f"{where} is {value!r}"


def test_a_question_of_the_time_calls_the_tool_and_is_answered_with_the_time(stage: Stage) -> None:
    before = datetime.now().astimezone()
    call = stage.call("what-time-is-it")
    (turn,) = call.turns
    assert normalised(turn.caller) == normalised("what time is it")
    assert [(tool.name, tool.input, tool.status) for tool in turn.tools] == [("tell_time", {}, "success")]
    moments = (before, before + timedelta(minutes=1))
    assert turn.agent.strip() in [f"It is {say_time(moment)}, on {say_date(moment)}." for moment in moments]
    assert (turn.heard, turn.interrupted) == (turn.agent, False)
    assert normalised(heard_by(call.agent))[:2] == ["it", "is"]
    assert call.events() == []


@pytest.mark.parametrize("output", ALL_OUTPUTS)
def test_the_report_keeps_its_contract_and_its_times_fit_the_audio(stage: Stage, output: OutputKind) -> None:
    says = ("what-can-you-do", ("stop-tell-me-the-time", 3.0), "cough")
    call = stage.call(*says, output=output)
    report = json.loads(json.dumps(call.report.to_json()))
    assert_fits(report, CONTRACT)
    assert report["v"] == 1
    assert [report[key] for key in ("agent", "stt", "tts", "model")] == [
        "agents.desk:create",
        "whisper",
        "hibari",
        "offline",
    ]
    assert [utterance["id"] for utterance in report["utterances"]] == sorted({u["id"] for u in report["utterances"]})
    for utterance in call.report.utterances:
        assert utterance.text.startswith(utterance.heard)
        # The report's times are those of the audio: from its first to its last sample.
        assert abs(call.audible_from(utterance.start_s) - utterance.start_s) <= 0.1
        assert abs(call.audible_until(utterance.end_s + 0.01) - utterance.end_s) <= 0.45
        if utterance.turn is not None:
            turn = call.turns[utterance.turn]
            assert (turn.agent, turn.heard, turn.interrupted) == (
                utterance.text,
                utterance.heard,
                utterance.interrupted,
            )


def test_latencies_add_up_and_are_those_of_the_audio(stage: Stage) -> None:
    call = stage.call("what-time-is-it", "twelve-times-seven", "what-day-is-it")
    assert len(call.turns) == 3
    for turn, utterance, (_, ended) in zip(call.turns, call.report.utterances, call.spoke_at, strict=True):
        latency = asdict(turn.latency_ms)
        total = latency.pop("voice_to_voice")
        stt = latency.pop("stt")
        assert abs(total - sum(latency.values())) <= 2
        assert 0 < stt <= latency["endpoint"]
        assert min(latency.values()) >= 0
        # "Last speech sample" is where the detector places it: two windows of it is all it may be off.
        # A voice rings on for the detector by up to 0.1 s, and a window of 32 ms ends where it will.
        assert abs((utterance.start_s - ended) * 1000 - total) <= 132


@pytest.mark.parametrize("name", ["what-time-is-it", "twelve-times-seven", "three-miles", "long-question"])
def test_a_caller_is_understood_word_for_word(stage: Stage, name: str) -> None:
    (turn,) = stage.call(name, agent="echo").turns
    assert normalised(turn.caller) == normalised(fixture(name).words)


@pytest.mark.parametrize(("name", "tool"), [("quiet-caller", "tell_time"), ("phone-band", "calculate")])
def test_quiet_callers_and_callers_on_the_phone_are_understood_and_answered(stage: Stage, name: str, tool: str) -> None:
    (turn,) = stage.call(name).turns
    assert normalised(turn.caller) == normalised(fixture(name).words)
    assert [(use.name, use.status) for use in turn.tools] == [(tool, "success")]


@pytest.mark.parametrize("name", ["blip", "door-slam", "fan", "room-tone", "cough", "throat-clear"])
def test_a_noise_is_no_turn_and_nothing_is_said_about_it(stage: Stage, name: str) -> None:
    call = stage.call(name)
    assert (call.turns, call.report.utterances) == ((), ())
    assert set(call.kinds()) <= {"noise", "phantom"}


def test_after_every_noise_the_next_words_are_a_turn_of_their_own(stage: Stage) -> None:
    noises = ("blip", "door-slam", "fan", "cough", "throat-clear")
    call = stage.call(*noises, "what-time-is-it", agent="echo")
    assert [normalised(turn.caller) for turn in call.turns] == [normalised("what time is it")]


def test_of_babble_behind_the_caller_nothing_is_a_turn(stage: Stage) -> None:
    call = stage.call("babble-after-caller")
    assert [normalised(turn.caller) for turn in call.turns] == [normalised("what time is it please")]
    assert call.turns[0].heard == call.turns[0].agent
    assert set(call.kinds()) <= {"far_field", "noise"}
