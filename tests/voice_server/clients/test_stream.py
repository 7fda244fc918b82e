import json

import pytest

from voice_server.clients.events import CallerTurn, ClientEvent, LevelHeard
from voice_server.clients.stream import AHEAD, KEPT, EventStream, Follower, LaggingError


class _Time:
    at = 100.0

    def __call__(self) -> float:
        return self.at


def _turn(number: int) -> ClientEvent:
    return CallerTurn(turn=number, text="hello")


async def _read(follower: Follower) -> list[int | None]:
    follower.close()
    return [told.seq async for told in follower]


def test_an_event_is_an_envelope_with_number_call_and_time_since_the_stream_began() -> None:
    time = _Time()
    stream = EventStream("call-1", time)
    time.at = 101.25
    told = stream.tell(_turn(0))
    assert json.loads(told.text) == {
        "v": 1,
        "seq": 1,
        "call": "call-1",
        "t_ms": 1250,
        "type": "turn",
        "data": {"turn": 0, "text": "hello"},
    }


async def test_who_comes_back_with_the_last_number_it_saw_gets_the_later_events_first() -> None:
    stream = EventStream("c", _Time())
    for number in range(5):
        stream.tell(_turn(number))
    follower = stream.follow(after=3)
    stream.tell(_turn(5))
    assert not follower.missed
    assert await _read(follower) == [4, 5, 6]


async def test_a_passing_event_has_no_number_and_is_not_sent_again() -> None:
    stream = EventStream("c", _Time())
    watching = stream.follow()
    stream.tell(LevelHeard(level=0.1, probability=0.2))
    stream.tell(_turn(0))
    assert await _read(watching) == [None, 1]
    assert await _read(stream.follow(after=0)) == [1]


async def test_who_comes_back_too_late_is_told_that_events_are_missing() -> None:
    stream = EventStream("c", _Time())
    for number in range(KEPT + 10):
        stream.tell(_turn(number))
    assert stream.follow(after=5).missed
    assert not stream.follow(after=10).missed


async def test_a_follower_that_does_not_read_is_given_up_and_the_others_are_not() -> None:
    stream = EventStream("c", _Time())
    slow, quick = stream.follow(), stream.follow()
    for number in range(AHEAD + 1):
        stream.tell(_turn(number))
        if number == AHEAD // 2:
            await _drain(quick, number + 1)
    with pytest.raises(LaggingError):
        await _read(slow)
    assert len(await _read(quick)) == AHEAD - AHEAD // 2


async def _drain(follower: Follower, count: int) -> None:
    events = follower.__aiter__()
    for _ in range(count):
        await anext(events)


async def test_followers_end_with_the_stream() -> None:
    stream = EventStream("c", _Time())
    follower = stream.follow()
    stream.tell(_turn(0))
    stream.close()
    assert [told.seq async for told in follower] == [1]
