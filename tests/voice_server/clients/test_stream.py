import json

from voice_server.clients.events import CallerTurn, ClientEvent, LevelHeard
from voice_server.clients.stream import KEPT, EventStream, Follower


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
    assert await _read(follower) == [4, 5, 6]


async def test_a_passing_event_has_no_number_and_is_not_sent_again() -> None:
    stream = EventStream("c", _Time())
    stream.tell(LevelHeard(level=0.1, probability=0.2))
    stream.tell(_turn(0))
    assert await _read(stream.follow(after=0)) == [1]


async def test_what_is_said_aside_reaches_nobody_else() -> None:
    stream = EventStream("c", _Time())
    watching = stream.follow()
    assert stream.aside(_turn(0)).seq is None
    assert await _read(watching) == []


async def test_who_comes_back_too_late_is_told_that_events_are_missing_and_goes_on_with_what_follows() -> None:
    stream = EventStream("c", _Time())
    for number in range(KEPT + 10):
        stream.tell(_turn(number))
    assert stream.missed(9) and not stream.missed(10)
    events = aiter(stream.follow(after=9))
    missed = json.loads((await anext(events)).text)
    assert (missed["type"], missed["seq"], missed["data"]["code"]) == ("error", None, "missed")
    stream.tell(_turn(0))
    assert (await anext(events)).seq == KEPT + 11


async def test_a_number_that_was_not_told_yet_belongs_to_another_stream() -> None:
    stream = EventStream("c", _Time(), behind=500)
    assert stream.missed(3) and stream.missed(501)
    assert not stream.missed(500)
    assert stream.tell(_turn(0)).seq == 501
    assert [told.seq for told in stream.since(500)] == [501]


async def test_a_slow_follower_misses_events_and_is_told_so_and_the_others_miss_none() -> None:
    stream = EventStream("c", _Time(), keep=3)
    slow, quick = stream.follow(), aiter(stream.follow())
    for number in range(5):
        stream.tell(_turn(number))
        assert (await anext(quick)).seq == number + 1
    assert await _read(slow) == [None]


async def test_followers_end_with_the_stream() -> None:
    stream = EventStream("c", _Time())
    follower = stream.follow()
    stream.tell(_turn(0))
    stream.close()
    assert [told.seq async for told in follower] == [1]
