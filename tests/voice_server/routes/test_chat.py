from __future__ import annotations

from tests.voice_server.chat.visitor import visiting


async def test_a_message_is_answered_with_events_from_its_turn_to_its_end() -> None:
    async with visiting() as visitor, visitor.saying("What is twelve times seven?", conversation="ann") as stream:
        events = await stream.rest()
        types = [event.type for event in events]
        assert types == ["chat", "turn", "tool", "tool", "text", "spoken", "ended"]
        assert [event.last_event_id for event in events] == ["", "1", "2", "3", "4", "5", "6"]
        assert events[0].data == {"conversation": "ann", "agent": "agents.desk:create", "model": "offline", "turn": 0}
        assert stream.text == events[-2].data["text"] == "12 times 7 is 84."
        assert events[-1].data == {"reason": "answered", "turn": 0}
        assert all(event.envelope["type"] == event.type and event.envelope["call"] == "ann" for event in events)
        headers = stream.response.headers
        assert headers["content-type"] == "text/event-stream; charset=utf-8"
        assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")
