from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.audio.frame import Frame
from voice_server.clients.commands import HangUp, Mute, Played, Start
from voice_server.transports.websocket.session import Action, Begin, Close, CloseCode, Complain, Obey, Session

FRAME = bytes(640)
"""20 ms at 16 kHz."""


def session(*, idle_s: float = 600.0, **start: Any) -> Session:
    """A session that has begun at second 0."""
    begun = Session(0.0, idle_s=idle_s)
    assert begun.feed(say("start", **start), 0.0)
    return begun


def say(type: str, **fields: Any) -> str:
    return json.dumps({"type": type, **fields})


def code(actions: list[Action]) -> CloseCode | None:
    """How the connection is closed, if it is."""
    return next((action.code for action in actions if isinstance(action, Close)), None)


def test_a_client_says_start_and_what_it_wants() -> None:
    begun = Session(0.0, idle_s=600.0)
    assert begun.feed(say("start", rate=48_000, screen=True), 1.0) == [Begin(start=Start(rate=48_000, screen=True))]


@pytest.mark.parametrize(
    "first",
    [
        FRAME,
        "",
        "{",
        "[]",
        '"start"',
        say("mute"),
        say("start", rate=7_999),
        say("start", rate="x"),
        say("start", no=1),
    ],
)
def test_what_comes_before_start_closes_the_connection(first: str | bytes) -> None:
    begun = Session(0.0, idle_s=600.0)
    assert code(begun.feed(first, 1.0)) is CloseCode.NOT_UNDERSTOOD
    assert begun.feed(say("start"), 1.0) == []


def test_who_says_nothing_for_five_seconds_is_sent_away() -> None:
    begun = Session(10.0, idle_s=600.0)
    assert begun.tick(14.9) is None
    closed = begun.tick(begun.deadline)
    assert closed is not None
    assert closed.code is CloseCode.SILENT
    assert begun.tick(16.0) is None


def test_who_sends_no_audio_for_long_is_sent_away_though_they_say_something() -> None:
    begun = session(idle_s=60.0)
    assert begun.feed(FRAME, 30.0)
    begun.feed(say("mute"), 80.0)
    assert begun.deadline == 90.0
    assert begun.tick(89.0) is None
    closed = begun.tick(90.0)
    assert closed is not None
    assert (closed.code, closed.reason) == (CloseCode.SILENT, "no audio for 60 seconds")


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
def test_audio_comes_at_the_rate_that_was_said(rate: int) -> None:
    samples = np.arange(-80, 80, dtype=np.int16)
    (frame,) = session(rate=rate).feed(samples.astype("<i2").tobytes(), 0.0)
    assert isinstance(frame, Frame)
    assert frame.rate == rate
    np.testing.assert_array_equal(frame.samples, samples)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"", "audio of 0 bytes"),
        (b"\0", "audio of 1 bytes"),
        (bytes(641), "audio of 641 bytes"),
        (bytes(3_202), "0.10 s of audio in one message"),
        (bytes(64_000), "2.00 s of audio in one message"),
        ("hello", "command"),
        ('{"type": "dance"}', "command"),
        ('{"type": "played"}', "epoch"),
        ('{"type": "played", "epoch": -1, "ms": 0}', "epoch"),
        ('{"type": "played", "epoch": 0, "ms": NaN}', ""),
        ('{"type": "played", "epoch": 0, "ms": 1e400}', ""),
        ('{"type": "mute", "why": "because"}', "why"),
        ('{"type": "start"}', "begun already"),
        ("[" * 60_000, ""),
        ('{"type": "resolve", "slot": "' + "x" * 70_000 + '"}', "too long"),
    ],
)
def test_a_mistake_is_complained_of_and_forgiven(message: str | bytes, reason: str) -> None:
    begun = session()
    (complaint,) = begun.feed(message, 0.0)
    assert isinstance(complaint, Complain)
    assert reason in complaint.message
    assert len(complaint.message) < 200
    assert isinstance(begun.feed(FRAME, 0.0)[0], Frame)


def test_a_handful_of_mistakes_closes_the_connection_and_one_a_minute_does_not() -> None:
    begun = session()
    for minute in range(60):
        assert code(begun.feed("?", minute * 60.0)) is None
    closes = [code(begun.feed("?", 3_600.0)) for _ in range(6)]
    assert closes == [None] * 5 + [CloseCode.NOT_UNDERSTOOD]
    assert begun.feed(FRAME, 3_600.0) == []


def test_commands_are_obeyed() -> None:
    begun = session()
    assert begun.feed(say("mute"), 0.0) == [Obey(command=Mute())]
    assert begun.feed(say("hangup"), 0.0) == [Obey(command=HangUp())]
    assert begun.feed(say("played", epoch=3, ms=420), 0.0) == [Obey(command=Played(epoch=3, ms=420))]


def test_ten_times_real_time_is_too_fast() -> None:
    begun = session()
    sent = 0
    while code(begun.feed(FRAME, sent * 0.002)) is None:
        sent += 1
    assert 1.5 <= sent * 0.02 < 1.8


def test_audio_may_come_for_hours_by_a_clock_that_runs_fast_and_in_bursts_after_stalls() -> None:
    begun = session()
    for number in range(200_000):  # an hour and six minutes
        assert code(begun.feed(FRAME, number * 0.02 * 0.999)) is None
    now = 200_000 * 0.02
    for _ in range(int(9 / 0.02)):  # the network stood still for nine seconds
        assert code(begun.feed(FRAME, now + 9.0)) is None
    assert CloseCode.TOO_FAST in [code(begun.feed(FRAME, now + 9.0)) for _ in range(100)]


def test_too_many_messages_are_too_fast_whatever_they_are() -> None:
    begun = session()
    closes = [code(begun.feed(say("mute"), 0.0)) for _ in range(300)]
    assert CloseCode.TOO_FAST in closes
    assert closes.index(CloseCode.TOO_FAST) > 200


messages = st.one_of(
    st.binary(max_size=4_000),
    st.text(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=10) | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
        max_leaves=8,
    ).map(json.dumps),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["start", "played", "mute", "unmute", "commit", "interrupt", "resolve", "hangup"]),
            "epoch": st.integers() | st.none(),
            "ms": st.floats() | st.text(max_size=3),
        }
    ).map(json.dumps),
)


@given(st.lists(st.tuples(messages, st.floats(0, 30)), max_size=40), st.booleans())
def test_whatever_comes_every_message_is_understood_complained_of_or_the_last(
    said: list[tuple[str | bytes, float]], begun: bool
) -> None:
    talking = session() if begun else Session(0.0, idle_s=60.0)
    now = 0.0
    closed = False
    for message, later in said:
        now += later
        actions = talking.feed(message, now)
        assert bool(actions) is not closed
        assert not any(isinstance(action, Close) for action in actions[:-1])
        closed = closed or code(actions) is not None
        for action in actions:
            if isinstance(action, Frame):
                assert 0 < action.duration <= 0.1
            if isinstance(action, Close):
                assert 4400 <= action.code <= 4413
                assert 0 < len(action.reason.encode()) <= 120
