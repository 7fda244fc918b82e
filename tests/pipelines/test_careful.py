"""Agents that cannot answer what they are asked beside the conversation: it goes on, and they are complained of."""

from __future__ import annotations

from pipelines.events import EngineTrouble
from pipelines.responder import Expectation
from tests.pipelines.line import Line, hold
from tests.pipelines.scripted import Answer, ScriptedResponder


class BlindResponder(ScriptedResponder):
    """Never knows whether a slot waits."""

    def blocked(self) -> bool:
        raise LookupError("secret of the caller")


class ForgetfulResponder(ScriptedResponder):
    """Does not know what it asked for, and will not be told of asides."""

    def expects(self) -> Expectation:
        raise LookupError("secret of the caller")

    def overheard(self, text: str) -> None:
        raise LookupError("secret of the caller")


async def a_conversation(line: Line) -> None:
    await line.says("tell", "me")
    await line.silence(2.2)
    await line.says("mm-hm")
    await line.silence(4)
    await line.says("and", "more")
    await line.silence(4)


def test_an_agent_that_does_not_know_of_its_slots_is_complained_of_once_and_answers() -> None:
    line = hold(a_conversation, responder=BlindResponder)
    assert line.committed == ["tell me", "and more"]
    assert [(event.engine, event.reason) for event in line.all(EngineTrouble)] == [("model", "it raised LookupError")]


def test_an_agent_that_recovers_and_fails_again_is_complained_of_again() -> None:
    class Moody(ScriptedResponder):
        asked = 0

        def blocked(self) -> bool:
            self.asked += 1
            if self.asked // 50 % 2:
                raise LookupError
            return False

    async def tale(line: Line) -> None:
        await line.silence(3.99)

    line = hold(tale, responder=Moody)
    assert len(line.all(EngineTrouble)) == 2


def test_an_agent_that_does_not_know_what_it_asked_still_speaks_to_the_end() -> None:
    line = hold(a_conversation, responder=ForgetfulResponder, answers=(Answer(words=12),))
    assert line.committed == ["tell me", "and more"]
    assert all(len(reply.settled) == 1 for reply in line.responder.replies)
    assert {event.reason for event in line.all(EngineTrouble)} == {"it raised LookupError"}
    assert line.apologies == 0
