from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from datetime import datetime
from typing import Any, cast

import pytest

from agents.core.errors import ModelError
from agents.core.glove import Glove
from agents.core.messages import Message
from agents.core.prompt import INTERRUPTED_NOTE
from agents.core.tools import Tool, ToolContext
from agents.desk import create
from agents.desk.messages import MessagePad
from agents.display import DisplayManager
from agents.models.openai_compat import OpenAICompatible
from agents.models.scripted import ScriptedCall
from agents.offline.model import OfflineModel
from pipelines.clock import RealClock, VirtualClock, fixed
from pipelines.glove import SETTLEMENT_WAIT_S, GloveResponder
from pipelines.responder import (
    OPEN_QUESTION,
    Expectation,
    ExpectationKind,
    Reply,
    Responder,
    ResponderError,
    ResponderEvent,
    StoreContended,
    TextCompleted,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from tests.agents.core.scenes import Anything, echo, hanging, outline, talking
from tests.agents.models.completions_server import call, completions_server, text
from tests.agents.models.wire_server import Answer


async def collect(reply: Reply) -> list[ResponderEvent]:
    return [event async for event in reply.events()]


def words(events: list[ResponderEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def hear(responder: Responder, said: str) -> list[ResponderEvent]:
    """Have something answered and hear the whole answer."""
    reply = responder.draft(said).commit()
    events = await collect(reply)
    await reply.settle(words(events), interrupted=False)
    return events


def read_until(reply: Reply, stop: Callable[[ResponderEvent], bool]) -> asyncio.Task[list[ResponderEvent]]:
    """Abort the reply at the event that ``stop`` accepts, then read to the end."""

    async def read() -> list[ResponderEvent]:
        events = []
        async for event in reply.events():
            events.append(event)
            if stop(event):
                reply.abort()
        return events

    return asyncio.ensure_future(read())


async def test_a_reply_streams_text_and_tool_activity_as_they_happen() -> None:
    glove, _ = talking(
        ["Let me see. ", ScriptedCall(name="echo", input={"word": "a"})], ["It is ", "a."], tools=(echo(),)
    )
    responder: Responder = GloveResponder(glove, RealClock())
    first, started, completed, finished, *rest = await collect(responder.draft("What is it?").commit())
    assert first == TextDelta(text="Let me see. ")
    assert started == ToolStarted(call_id="call_1", name="echo", input={"word": "a"})
    assert completed == TextCompleted()
    assert isinstance(finished, ToolFinished) and (finished.call_id, finished.status) == ("call_1", "success")
    assert rest == [TextDelta(text="It is "), TextDelta(text="a."), TextCompleted()]


async def test_a_draft_calls_and_stores_nothing_until_it_is_committed() -> None:
    glove, model = talking("Yes.")
    responder = GloveResponder(glove, RealClock())
    draft = responder.draft("Hello")
    draft.discard()
    draft.discard()
    with pytest.raises(RuntimeError, match="committed or discarded"):
        draft.commit()
    assert model.requests == [] and await glove.store.get_messages() == []
    assert words(await collect(responder.draft("Hello").commit())) == "Yes."


async def test_abort_in_mid_generation_ends_the_events_and_settling_appends_what_was_heard() -> None:
    glove, model = talking(["Twelve times ", "seven is ", asyncio.Event().wait], "All right.")
    responder = GloveResponder(glove, RealClock())
    reply = responder.draft("Go").commit()
    events = await read_until(reply, lambda event: event == TextDelta(text="seven is "))
    assert words(events) == "Twelve times seven is "
    assert model.closed == 1
    assert outline(await glove.store.get_messages()) == ["user: Go"]
    await reply.settle("Twelve times ", interrupted=True)
    await collect(responder.draft("Stop").commit())
    assert outline(model.requests[1].messages) == [
        "user: Go",
        "agent: Twelve times",
        f"[runtime] {INTERRUPTED_NOTE}",
        "user: Stop",
    ]
    assert (await glove.store.get_messages())[1].text == "Twelve times seven is "


async def test_abort_in_a_tool_reports_it_aborted_and_keeps_the_history_whole() -> None:
    hang, _, _ = hanging()
    glove, _ = talking([ScriptedCall(name="hang")], "All right.", tools=(hang,))
    responder = GloveResponder(glove, RealClock())
    reply = responder.draft("Go").commit()
    events = await read_until(reply, lambda event: isinstance(event, TextCompleted))
    assert [event.status for event in events if isinstance(event, ToolFinished)] == ["aborted"]
    assert outline(await glove.store.get_messages())[-1] == "results hang=aborted"
    assert words(await collect(responder.draft("Next").commit())) == "All right."


async def test_a_call_announced_but_never_run_is_reported_aborted() -> None:
    glove, _ = talking([ScriptedCall(name="echo"), asyncio.Event().wait], tools=(echo(),))
    reply = GloveResponder(glove, RealClock()).draft("Go").commit()
    *_, last = await read_until(reply, lambda event: isinstance(event, ToolStarted))
    assert last == ToolFinished(call_id="call_1", name="echo", status="aborted")


async def test_abort_before_the_events_answers_nothing_and_keeps_the_callers_words() -> None:
    glove, model = talking("Yes.")
    responder = GloveResponder(glove, RealClock())
    reply = responder.draft("one four").commit()
    reply.abort()
    reply.abort()
    assert await collect(reply) == []
    await reply.settle("", interrupted=True)
    await collect(responder.draft("two nine").commit())
    assert outline(model.requests[0].messages) == ["user: one four", "user: two nine"]


def test_words_of_a_reply_nobody_listened_to_are_not_lost() -> None:
    glove, model = talking("Yes.")

    async def scene(clock: VirtualClock) -> None:
        responder = GloveResponder(glove, clock)
        responder.draft("one four").commit().abort()
        await collect(responder.draft("two nine").commit())

    clock = VirtualClock()
    clock.run(scene(clock))
    assert outline(model.requests[0].messages) == ["user: one four", "user: two nine"]


async def test_settling_maps_the_heard_words_over_the_messages_of_the_reply() -> None:
    glove, model = talking(["Let me see. ", ScriptedCall(name="echo")], "It is nine.", "Fine.", tools=(echo(),))
    responder = GloveResponder(glove, RealClock())
    reply = responder.draft("What time is it?").commit()
    await collect(reply)
    await reply.settle("Let me ", interrupted=True)
    await collect(responder.draft("Stop").commit())
    assert outline(model.requests[2].messages) == [
        "user: What time is it?",
        "agent: Let me +echo",
        "results echo=success",
        f"[runtime] {INTERRUPTED_NOTE}",
        "user: Stop",
    ]


def test_the_next_reply_waits_for_the_settlement_of_the_last_but_not_for_long() -> None:
    glove, model = talking("It is nine.", "Fine.", "Yes.")
    begun: list[float] = []

    async def scene(clock: VirtualClock) -> None:
        responder = GloveResponder(glove, clock)
        first = responder.draft("One").commit()
        await collect(first)
        clock.call_at(clock.now() + 0.1, lambda: settling.append(asyncio.ensure_future(settle(first))))
        second = responder.draft("Two").commit()
        await collect(second)
        begun.append(clock.now())
        await collect(responder.draft("Three").commit())
        begun.append(clock.now())

    async def settle(reply: Reply) -> None:
        await reply.settle("It is", interrupted=True)

    settling: list[asyncio.Future[None]] = []
    clock = VirtualClock()
    clock.run(scene(clock))
    assert begun == pytest.approx([0.1, 0.1 + SETTLEMENT_WAIT_S])
    assert "agent: It is" in outline(model.requests[1].messages)


async def test_overheard_words_are_told_to_one_model_call_and_never_stored() -> None:
    glove, model = talking([ScriptedCall(name="echo")], "Done.", "Yes.", tools=(echo(),))
    responder = GloveResponder(glove, RealClock())
    responder.overheard("mm-hm")
    responder.overheard("Tuesday")
    responder.overheard(" ")
    await collect(responder.draft("Go").commit())
    told = outline(model.requests[0].messages)[-1]
    assert told.startswith("[runtime]") and '"mm-hm"; "Tuesday"' in told
    for request in model.requests[1:]:
        assert "Tuesday" not in str(request.messages)
    assert "Tuesday" not in str(await glove.store.get_messages())


async def test_overheard_words_wait_for_a_model_call_that_answers() -> None:
    glove, model = talking([ModelError("scripted", "down")], "Yes.", "Yes.")
    responder = GloveResponder(glove, RealClock())
    responder.overheard("Tuesday")
    with pytest.raises(ResponderError):
        await collect(responder.draft("Go").commit())
    for said in ("Again", "Once more"):
        await hear(responder, said)
    assert ["Tuesday" in str(request.messages) for request in model.requests] == [True, True, False]


async def test_a_responder_that_is_closed_leaves_nothing_on_the_agent() -> None:
    glove, model = talking("Yes.")
    first = GloveResponder(glove, RealClock())
    first.overheard("Tuesday")
    await first.aclose()
    await first.aclose()
    gone = weakref.ref(first)
    del first
    assert gone() is None
    await hear(GloveResponder(glove, RealClock()), "Go")
    assert "Tuesday" not in str(model.requests[0].messages)


async def test_overheard_words_are_bounded() -> None:
    glove, model = talking("Yes.")
    responder = GloveResponder(glove, RealClock())
    for number in range(1000):
        responder.overheard(f"remark {number} " + "x" * 1000)
    await collect(responder.draft("Go").commit())
    told = model.requests[0].messages[-1].text
    assert "remark 999" in told and "remark 100 " not in told and len(told) < 5000


async def test_a_model_failure_is_a_responder_error_and_the_next_reply_works() -> None:
    glove, _ = talking(["Well, ", ModelError("scripted", "the line is down")], "Here I am.")
    responder = GloveResponder(glove, RealClock())
    reply = responder.draft("Hello").commit()
    with pytest.raises(ResponderError, match="the line is down"):
        await collect(reply)
    await reply.settle("Well,", interrupted=True)
    assert words(await collect(responder.draft("Hello?").commit())) == "Here I am."


async def test_an_unforeseen_failure_does_not_quote_the_caller() -> None:
    glove, _ = talking([ValueError("my number is 279413862")])
    with pytest.raises(ResponderError) as caught:
        await collect(GloveResponder(glove, RealClock()).draft("Hello").commit())
    assert "ValueError" in str(caught.value) and "279413862" not in str(caught.value)


async def test_leaving_the_events_ends_the_request() -> None:
    hang, started, ended = hanging()
    glove, _ = talking([ScriptedCall(name="hang")], tools=(hang,))
    before = asyncio.all_tasks()
    reply = GloveResponder(glove, RealClock()).draft("Go").commit()
    async with aclosing(cast("Any", reply.events())) as events:
        async for event in cast("AsyncIterator[ResponderEvent]", events):
            if isinstance(event, TextCompleted):
                await started.wait()
                break
    assert asyncio.all_tasks() == before
    assert ended == ["cancelled"]


async def test_a_reader_that_is_slow_makes_the_model_wait_and_loses_nothing() -> None:
    glove, _ = talking([f"{number} " for number in range(500)])
    count = 0
    async for event in GloveResponder(glove, RealClock()).draft("Count").commit().events():
        if isinstance(event, TextDelta):
            assert event.text == f"{count} "
            count += 1
    assert count == 500


async def test_what_a_tool_expects_is_what_the_responder_expects() -> None:
    def ask(given: Anything, ctx: ToolContext) -> str:
        ctx.expect("choice", choices=("phone", "e-mail"))
        return "asked"

    tool = Tool(name="ask", description="Asks.", input=Anything, do=ask)
    glove, _ = talking([ScriptedCall(name="ask")], "Phone or e-mail?", "Fine.", tools=(tool,))
    responder = GloveResponder(glove, RealClock())
    assert responder.expects() == OPEN_QUESTION
    await hear(responder, "Go")
    assert responder.expects() == Expectation(kind=ExpectationKind.CHOICE, choices=("phone", "e-mail"))
    await hear(responder, "Never mind")
    assert responder.expects() == OPEN_QUESTION


async def test_a_waiting_slot_blocks() -> None:
    display = DisplayManager()
    glove, _ = talking(display=display)
    responder = GloveResponder(glove, RealClock())
    assert not responder.blocked()
    waiting = asyncio.ensure_future(display.push_and_wait("confirm"))
    await asyncio.sleep(0)
    assert responder.blocked()
    display.resolve(display.slots[0].id, True)
    assert await waiting is True
    assert not responder.blocked()


async def test_greetings_and_narrations_join_the_history() -> None:
    glove, model = talking("Yes.")
    responder = GloveResponder(glove, RealClock())
    await responder.record("Hello, this is the desk.", kind="greeting", interrupted=False)
    await collect(responder.draft("Hi").commit())
    assert outline(model.requests[0].messages) == ["agent: Hello, this is the desk.", "user: Hi"]


def test_waits_for_the_model_and_tool_runs_are_charged_to_the_calls_clock() -> None:
    glove, _ = talking([ScriptedCall(name="echo")], ["a", "b"], tools=(echo(),))
    clock = VirtualClock(fixed(model=0.1, tool=1.0))

    async def scene() -> list[tuple[float, str]]:
        reply = GloveResponder(glove, clock).draft("Go").commit()
        return [(round(clock.now(), 6), type(event).__name__) async for event in reply.events()]

    # Each item of a stream is leased by itself; the item before a completed response says that it is whole.
    assert clock.run(scene()) == [
        (0.1, "ToolStarted"),
        (0.2, "TextCompleted"),
        (1.2, "ToolFinished"),
        (1.3, "TextDelta"),
        (1.4, "TextDelta"),
        (1.5, "TextCompleted"),
    ]


@pytest.mark.wire
def test_a_real_model_over_a_socket_is_waited_for_while_virtual_time_stands_still() -> None:
    clock = VirtualClock(fixed(model=0.2))

    async def scene() -> tuple[list[tuple[float, str]], list[str]]:
        tick = clock.call_at(0.1, lambda: None)
        answers = (
            Answer(chunks=[text("Well. "), call(0, id="a", name="echo", arguments="{}")], piece_bytes=50),
            Answer(chunks=[text("It "), text("is."), text(" Never heard.")], piece_bytes=50),
            Answer(chunks=[text("Fine.")]),
        )
        async with completions_server(*answers) as server:
            model = OpenAICompatible("m", provider="test", base_url=server.url, api_key="k")
            glove = Glove(model=model).fold(echo())
            responder = GloveResponder(glove, clock)
            said = []
            reply = responder.draft("Go").commit()
            async for event in reply.events():
                if isinstance(event, TextDelta):
                    said.append((round(clock.now(), 6), event.text))
                if event == TextDelta(text="is."):
                    reply.abort()
            await reply.settle("Well. It", interrupted=True)
            assert words(await collect(responder.draft("Stop").commit())) == "Fine."
            await model.aclose()
            assert server.complaints == []
        tick.cancel()
        return said, [message.text for message in await glove.store.get_messages() if message.sender == "agent"]

    said, stored = clock.run(scene())
    # Text, call and end of the first response, then two pieces of the second; the connection itself costs nothing.
    assert said == [(0.2, "Well. "), (0.8, "It "), (1.0, "is.")]
    assert stored == ["Well. ", "It is.", "Fine."]


async def test_a_desk_dialogue_through_the_responder() -> None:
    pad = MessagePad()
    glove = create(OfflineModel(), now=lambda: datetime(2026, 3, 3, 9, 41), pad=pad)
    responder = GloveResponder(glove, RealClock())
    script = [
        ("Can you take a message?", ExpectationKind.DICTATION),
        ("I am running late.", ExpectationKind.CHOICE),
        ("Phone.", ExpectationKind.DIGITS),
        ("Two, seven, nine, four, one, three, eight, six, two.", ExpectationKind.YES_NO),
        ("What time is it?", ExpectationKind.YES_NO),
        ("Mm-hm.", ExpectationKind.OPEN),
    ]
    for said, expected in script:
        answer = words(await hear(responder, said))
        assert responder.expects().kind == expected, answer
    assert [message.contact for message in pad.kept] == ["279413862"]


async def test_a_caller_who_interrupts_the_desk_is_answered_and_the_rest_is_marked_unheard() -> None:
    glove = create(OfflineModel(), now=lambda: datetime(2026, 3, 3, 9, 41))
    responder = GloveResponder(glove, RealClock())
    reply = responder.draft("What can you do?").commit()
    about = words(await collect(reply))
    reply.abort()
    await reply.settle(about[:40], interrupted=True)
    answer = words(await collect(responder.draft("Stop. What is twelve times seven?").commit()))
    assert answer == "12 times 7 is 84."
    settlements = await glove.store.get_settlements()
    (cut,) = [settled for settled in settlements.values() if settled.interrupted]
    assert cut.heard == about[:40]


async def test_what_others_add_to_the_conversation_meanwhile_is_told_and_not_said() -> None:
    async def elsewhere() -> None:
        await glove.store.append_messages([Message(sender="user", text="Secret", id="elsewhere")])

    glove, _ = talking(["It is ", elsewhere, "nine."])
    events = await collect(GloveResponder(glove, RealClock()).draft("What time is it?").commit())
    assert words(events) == "It is nine."
    (contended,) = [event for event in events if isinstance(event, StoreContended)]
    assert "somebody else has added 1 message(s)" in contended.reason and "Secret" not in contended.reason


async def test_what_the_agent_answers_in_a_chat_is_not_spoken_in_the_call_that_waits_for_it() -> None:
    asked, gate = asyncio.Event(), asyncio.Event()

    async def think() -> None:
        asked.set()
        await gate.wait()

    glove, _ = talking([think, "By chat.", ScriptedCall(name="echo")], "Done.", "By voice.", tools=(echo(),))
    responder = GloveResponder(glove.build(), RealClock())
    chatting = asyncio.ensure_future(glove.process_request("Chat?"))
    await asked.wait()
    hearing = asyncio.ensure_future(collect(responder.reply("Voice?")))
    gate.set()
    assert await hearing == [TextDelta(text="By voice."), TextCompleted()]
    assert (await chatting).text == "Done."
