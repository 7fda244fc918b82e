"""Words that are typed in a call, over a socket of a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.voice_server.phone import calling
from tests.voice_server.serving import Served, serving
from voice_server.house import House

pytestmark = pytest.mark.realtime


@pytest.fixture(scope="module")
def served(house: House) -> Iterator[Served]:
    with serving(house) as served:
        yield served


async def test_what_is_typed_is_a_turn_at_once_and_is_answered_aloud(served: Served) -> None:
    async with calling(served.voice) as phone:
        await phone.hears("state", state="listening")
        await phone.send("say", text=" What is twelve times seven?\n")
        turn = await phone.hears("turn")
        spoken = await phone.hears("spoken")
    assert turn["data"] == {"turn": 0, "text": "What is twelve times seven?"}
    assert "84" in spoken["data"]["heard"]
    timed = phone.all("latency")[0]["data"]
    assert (timed["reason"], timed["speech_ended"]) == ("typed", timed["committed"])


async def test_an_agent_that_speaks_falls_silent_for_it(served: Served) -> None:
    async with calling(served.voice) as phone:
        await phone.hears("state", state="listening")
        await phone.send("say", text="What can you do?")
        await phone.hears("heard")
        await phone.send("say", text="What is twelve times seven?")
        first = (await phone.hears("spoken"))["data"]
        second = (await phone.hears("spoken", count=2))["data"]
    assert first["interrupted"] and 0 < len(first["heard"]) < len(first["text"])
    assert "84" in second["heard"]


@pytest.mark.parametrize("text", ["", " ", "x" * 2_001, "\u0000"])
async def test_nothing_and_too_much_is_complained_of_and_the_call_goes_on(served: Served, text: str) -> None:
    async with calling(served.voice) as phone:
        await phone.hears("state", state="listening")
        await phone.send("say", text=text)
        complaint = (await phone.hears("error"))["data"]
        assert complaint["code"] == "bad_message" and complaint["message"].startswith("say.text: ")
        await phone.send("say", text="What is twelve times seven?")
        await phone.hears("turn")
