"""What a tool says while it runs is heard at once, in order, although its reply is not finished."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from agents.core.messages import Message
from agents.core.prompt import History, assemble
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall, ScriptedResponse
from pipelines.clock import VirtualClock, fixed
from pipelines.events import ToolCalled, ToolReturned, UtteranceEnded, UtteranceStarted
from pipelines.glove import GloveResponder
from tests.agents.core.scenes import Anything, Diary, outline, talking
from tests.pipelines.line import Line, Tale
from voice_server.transports.recorded import RecordedOutput

SLOW_S = 20.0
Work = Callable[[ToolContext], Coroutine[Any, Any, None]]

OUTPUTS: dict[str, Callable[..., RecordedOutput]] = {
    "pausing": RecordedOutput,
    "clearing": lambda clock, **options: RecordedOutput(clock, can_pause=False, **options),
    "late": lambda clock, **options: RecordedOutput(clock, can_pause=False, late_s=0.2, **options),
}


class Scene:
    """A call with a tool that does some work, saying things."""

    def __init__(self, work: Work, *responses: ScriptedResponse, output: str = "pausing") -> None:
        async def do(given: Anything, ctx: ToolContext) -> str:
            await work(ctx)
            return "three"

        tool = Tool(name="search", description="Searches.", input=Anything, do=do)
        self.glove, self.model = talking(*responses, tools=(tool,))
        self.clock = VirtualClock(fixed(model=0.1))
        self.line = Line(
            self.clock,
            responder=lambda clock, _: GloveResponder(self.glove, clock),
            drafts=0,
            output=OUTPUTS[output],
        )
        self.stored: list[Message] = []

    def hold(self, tale: Tale) -> Scene:
        async def call() -> None:
            await self.line.call(tale)
            self.stored = await self.glove.store.get_messages()

        self.clock.run(call())
        return self

    def started(self) -> list[tuple[str, float]]:
        """Utterances in the order they were heard, with when."""
        return [(event.kind, round(at, 1)) for at, event in self.line.events if isinstance(event, UtteranceStarted)]

    def ended(self) -> list[tuple[str, str, bool]]:
        return [(event.kind, event.heard.strip(), event.interrupted) for event in self.line.all(UtteranceEnded)]


async def patient(ctx: ToolContext, seconds: float = SLOW_S) -> None:
    async with ctx.waiting():
        await asyncio.sleep(seconds)


async def says_once(ctx: ToolContext) -> None:
    await ctx.say("This takes a while.")
    await patient(ctx)


SEARCH = ScriptedCall(name="search", id="c1")


async def asks_and_waits(line: Line) -> None:
    await line.says("find", "flights")
    await line.silence(30)


@pytest.mark.parametrize("output", OUTPUTS)
def test_it_is_said_behind_the_words_of_the_reply_and_before_the_rest_of_it(output: str) -> None:
    scene = Scene(says_once, ["Searching now. ", SEARCH], "Three flights.", output=output).hold(asks_and_waits)
    assert [kind for kind, _ in scene.started()] == ["reply", "narration"]
    (_, replied_at), (_, said_at) = scene.started()
    assert said_at - replied_at < 1.5, "as soon as two words have been heard"
    assert scene.ended() == [
        ("narration", "This takes a while.", False),
        ("reply", "Searching now. Three flights.", False),
    ]
    track = scene.line.output.track()
    heard = [scene.line.voice.words[value - 1] for value in dict.fromkeys(track[track > 0].tolist())]
    assert heard == ["Searching", "now.", "This", "takes", "a", "while.", "Three", "flights."]
    assert outline(assemble(History(messages=scene.stored))) == [
        "user: find flights",
        "agent: Searching now.  +search",
        "results search=success",
        "agent: This takes a while.",
        "agent: Three flights.",
    ]


def test_it_is_said_at_once_when_the_reply_has_no_words_yet() -> None:
    scene = Scene(says_once, [SEARCH], "Three flights.").hold(asks_and_waits)
    assert [kind for kind, _ in scene.started()] == ["narration", "reply"]
    (_, said_at), (_, replied_at) = scene.started()
    assert replied_at - said_at > SLOW_S - 1


def test_what_is_said_one_after_the_other_is_heard_in_order_and_so_is_the_rest_of_the_reply() -> None:
    async def says_twice(ctx: ToolContext) -> None:
        await ctx.say("First this.")
        await ctx.say("Then that.")

    scene = Scene(says_twice, ["Searching now. ", SEARCH], "Three flights.").hold(asks_and_waits)
    track = scene.line.output.track()
    heard = [scene.line.voice.words[value - 1] for value in dict.fromkeys(track[track > 0].tolist())]
    assert " ".join(heard) == "Searching now. First this. Then that. Three flights."


def test_a_question_over_it_is_answered_after_it_and_the_tool_goes_on_and_may_say_more() -> None:
    async def says_more(ctx: ToolContext) -> None:
        await says_once(ctx)
        await ctx.say("Nearly done.")
        await patient(ctx, 5.0)

    async def tale(line: Line) -> None:
        await line.says("find", "flights")
        await line.silence(3.2)
        await line.says("what", "time", "is", "it")
        await line.silence(45)

    scene = Scene(says_more, ["Searching now. ", SEARCH], "Nine.", "Three flights.").hold(tale)
    assert scene.line.committed == ["find flights", "what time is it"]
    assert scene.ended() == [
        ("narration", "This takes a while.", False),
        ("reply", "Searching now.", True),
        ("reply", "Nine.", False),
        ("narration", "Nearly done.", False),
        ("tool_result", "Three flights.", False),
    ]


def test_a_reply_stopped_while_it_is_set_aside_is_settled_by_what_was_heard_of_it() -> None:
    def host(line: Line, event: Any) -> None:
        if isinstance(event, UtteranceStarted) and event.kind == "narration":
            line.clock.call_at(line.clock.now() + 0.3, line.cascade.interrupt)

    scene = Scene(says_once, ["Searching now. ", SEARCH])
    scene.line.host = host
    scene.hold(asks_and_waits)
    assert sorted(scene.ended()) == [("narration", "This", True), ("reply", "Searching now.", True)]
    assert [event.status for event in scene.line.all(ToolReturned)] == ["aborted"]


@pytest.mark.parametrize("responses", [(["Searching now. ", SEARCH], "Three flights."), ([SEARCH], "Three flights.")])
def test_what_a_host_says_on_hearing_of_a_call_is_heard_while_the_tool_runs(responses: Any) -> None:
    def host(line: Line, event: Any) -> None:
        if isinstance(event, ToolCalled):
            line.cascade.narrate("Please hold the line.")

    scene = Scene(patient, *responses)
    scene.line.host = host
    scene.hold(asks_and_waits)
    (called_at,) = scene.line.times(ToolCalled)
    (said_at,) = [at for kind, at in scene.started() if kind == "narration"]
    assert said_at < called_at + 1.5
    assert [heard for kind, heard, _ in scene.ended() if kind == "narration"] == ["Please hold the line."]
    assert scene.ended()[-1][1].endswith("Three flights.")


async def test_without_a_voice_it_is_an_event() -> None:
    async def do(given: Anything, ctx: ToolContext) -> str:
        await ctx.say("One moment.")
        await ctx.say("  ")
        return "three"

    glove, _ = talking([SEARCH], "Three.", tools=(Tool(name="search", description="Searches.", input=Anything, do=do),))
    diary = Diary()
    glove.add_subscriber(diary)
    await glove.process_request("Go")
    assert diary.of("tool_said") == [{"text": "One moment.", "tool_name": "search", "call_id": "c1"}]
    assert "One moment" not in str(await glove.store.get_messages())
