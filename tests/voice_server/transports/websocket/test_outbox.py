from __future__ import annotations

from voice_server.transports.websocket.outbox import MOST_BYTES, Audio, Outbox, Parting


def taken(outbox: Outbox) -> list[str | bytes | Parting]:
    items = [outbox.take() for _ in iter(lambda: bool(outbox), False)]
    return [item.message if isinstance(item, Audio) else item for item in items]


def test_audio_and_events_leave_in_the_order_they_came() -> None:
    outbox = Outbox()
    outbox.say("one")
    outbox.play(0, b"two", 0.0)
    outbox.say("three")
    assert taken(outbox) == ["one", b"two", "three"]


def test_a_clear_takes_back_older_audio_and_nothing_else() -> None:
    outbox = Outbox()
    outbox.play(1, b"old", 0.0)
    outbox.say("said")
    outbox.play(2, b"new", 0.0)
    outbox.clear(2)
    assert taken(outbox) == ["said", b"new"]


def test_what_waits_is_bounded_and_room_comes_back() -> None:
    outbox = Outbox()
    full = []
    outbox.play(0, bytes(MOST_BYTES), 0.0)
    full.append(outbox.overfull)
    outbox.say("!")
    full.append(outbox.overfull)
    outbox.take()
    full.append(outbox.overfull)
    outbox.play(0, bytes(MOST_BYTES), 0.0)
    full.append(outbox.overfull)
    outbox.clear(1)
    full.append(outbox.overfull)
    assert full == [False, True, False, True, False]


def test_nothing_comes_after_the_parting_and_there_is_one() -> None:
    outbox = Outbox()
    outbox.say("before")
    outbox.close(Parting(code=1000, reason="over"))
    outbox.close(Parting(code=4429, reason="slow"), at_once=True)
    outbox.say("after")
    outbox.play(0, b"after", 0.0)
    assert taken(outbox) == ["before", Parting(code=1000, reason="over")]


def test_who_cannot_read_is_told_nothing_but_that() -> None:
    outbox = Outbox()
    outbox.play(0, bytes(MOST_BYTES + 1), 0.0)
    outbox.close(Parting(code=4429, reason="slow"), at_once=True)
    assert taken(outbox) == [Parting(code=4429, reason="slow")]
    assert not outbox.overfull
