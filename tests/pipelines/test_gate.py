from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.audio.frame import Samples
from pipelines.vad.gate import GateState, SpeechGate


def chunk(n: int, value: int = 0) -> Samples:
    return np.full(n, value, dtype=np.int16)


def test_a_closed_gate_keeps_a_little_more_than_the_preroll_and_never_less() -> None:
    gate = SpeechGate()
    for value in range(100):
        assert gate.feed(chunk(320, value)) == []
    gate.hold()
    kept = gate.open()
    assert sum(map(len, kept)) == 12_800
    assert kept[-1][0] == 99


def test_what_came_before_the_opening_comes_out_first_and_once() -> None:
    gate = SpeechGate()
    gate.feed(chunk(100, 1))
    gate.hold()
    gate.feed(chunk(100, 2))
    assert [int(part[0]) for part in gate.open()] == [1, 2]
    assert gate.open() == []
    assert [int(part[0]) for part in gate.feed(chunk(100, 3))] == [3]


def test_a_pending_gate_that_grows_past_five_seconds_opens() -> None:
    gate = SpeechGate()
    gate.hold()
    passed: list[Samples] = []
    for _ in range(250):
        passed += gate.feed(chunk(320))
    assert gate.state is GateState.OPEN
    assert sum(map(len, passed)) == 80_000


def test_a_misfire_leaves_only_the_preroll() -> None:
    gate = SpeechGate()
    gate.hold()
    for _ in range(100):
        gate.feed(chunk(320))
    gate.cancel()
    assert gate.state is GateState.CLOSED
    gate.hold()
    assert sum(map(len, gate.open())) == 12_800


def test_a_closed_gate_keeps_nothing_of_the_speech_it_let_through() -> None:
    gate = SpeechGate()
    gate.open()
    gate.feed(chunk(320))
    gate.close()
    gate.hold()
    assert gate.open() == []


def test_cancelling_an_open_gate_does_nothing() -> None:
    gate = SpeechGate()
    gate.open()
    gate.cancel()
    assert gate.state is GateState.OPEN


@given(st.lists(st.sampled_from(["feed", "hold", "open", "cancel", "close"]), max_size=60))
def test_no_sample_passes_twice_or_out_of_order(steps: list[str]) -> None:
    gate = SpeechGate(preroll_s=0.02)
    passed: list[int] = []
    for number, step in enumerate(steps):
        if step == "feed":
            passed += [int(part[0]) for part in gate.feed(chunk(160, number))]
        elif step == "open":
            passed += [int(part[0]) for part in gate.open()]
        else:
            getattr(gate, step)()
    assert passed == sorted(set(passed))
