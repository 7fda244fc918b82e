"""A call's turns with a speech-to-speech model: what is stored, in which order, and what is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from agents.core.errors import StoreError
from agents.core.messages import Message
from agents.stores.memory import MemoryStore
from pipelines.events import (
    EngineTrouble,
    TokensSpent,
    ToolCalled,
    ToolReturned,
    TurnCommitted,
    TurnWorded,
    UtteranceEnded,
    UtteranceHeard,
    UtteranceStarted,
)
from pipelines.realtime.events import (
    CallerWords,
    CallsWithdrawn,
    ReplyAudio,
    ReplyEnded,
    ReplyOutcome,
    ReplyWords,
    TokensTold,
    TokensUsed,
)
from pipelines.realtime.events import ToolCalled as Called
from pipelines.realtime.settings import Lost, RealtimeSettings
from tests.realtime.scripted import RATE, RealtimeLine, hold, tool, words


def test_a_turn_is_answered_heard_and_stored_once() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("A trip to Vienna.", "c1")
        line.answer("For how many?", words(3))
        await line.wait(1.5)
        assert line.pipeline.idle

    line = hold(tale)
    (turn,) = line.all(TurnCommitted)
    (ended,) = line.all(UtteranceEnded)
    assert (turn.turn, turn.text, turn.utterance) == (0, "A trip to Vienna.", ended.utterance)
    assert (ended.heard, ended.interrupted, ended.kind, ended.turn) == ("For how many?", False, "reply", 0)
    assert np.count_nonzero(line.output.track()) == 3 * 0.25 * RATE, "every sample, once"
    assert asyncio.run(line.stored()) == ["caller: A trip to Vienna.", "agent: For how many?"]


def test_words_that_come_after_the_answer_began_stand_before_it() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.session.tell(CallerWords(item="c1", text="", final=False))
        line.answer("For how many?", words(3))
        await line.wait(0.4)
        line.session.tell(CallerWords(item="c1", text="A trip.", final=True))
        await line.wait(1.5)

    line = hold(tale)
    assert [event.text for event in line.all(TurnCommitted)] == [""]
    assert [(event.turn, event.text) for event in line.all(TurnWorded)] == [(0, "A trip.")]
    assert asyncio.run(line.stored()) == ["caller: A trip.", "agent: For how many?"]


def test_words_that_never_come_do_not_hold_the_conversation() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.session.tell(CallerWords(item="c1", text="", final=False))
        line.calls(("k1", "book", "{}"))
        await line.wait(1.9)
        assert not line.session.of("answer"), "the words are waited for"
        await line.wait(0.2)
        assert line.session.of("answer"), "and not for ever"
        line.session.tell(CallerWords(item="c1", text="A trip.", final=True))
        await line.wait(0.2)

    line = hold(tale, tools=(tool("book", lambda *_: "done"),))
    assert asyncio.run(line.stored()) == ["agent:  +book", "results success", "caller: A trip."], "nothing is lost"


def test_results_go_before_the_context_and_the_turn_is_one_utterance() -> None:
    noted: list[str] = []

    def book(*_: Any) -> str:
        noted.append("a trip")
        return "done"

    async def tale(line: RealtimeLine) -> None:
        line.glove.add_context_provider(lambda _: f"Booked: {len(noted)}.")
        line.turn("Book it.", "c1")
        line.calls(("k1", "book", "{}"), ("k2", "book", '{"again": true}'), text="One moment.")
        await line.wait(1.0)
        line.answer("It is booked.", words(3, first=5))
        await line.wait(2.0)

    line = hold(tale, tools=(tool("book", book),))
    ((results, snapshot, respond),) = line.session.of("answer")
    assert [result.call_id for result in results] == ["k1", "k2"]
    assert json.loads(results[0].output) == {"status": "success", "data": "done", "message": None}
    assert (snapshot.text, respond) == ("Booked: 2.", True)
    assert [event.turn for event in line.all(ToolCalled)] == [0, 0] and len(line.all(ToolReturned)) == 2
    (ended,) = line.all(UtteranceEnded)
    assert (ended.text, ended.turn) == ("One moment. It is booked.", 0)
    assert asyncio.run(line.stored()) == [
        "caller: Book it.",
        "agent: One moment. +book +book",
        "results success success",
        "agent: It is booked.",
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "status", "said"),
    [
        ("book", "{}", "success", ""),
        ("book", "", "success", ""),
        ("BOOK", "{}", "success", ""),
        ("book", "{not json", "error", "TOOL_INPUT_INVALID"),
        ("book", '["a"]', "error", "TOOL_INPUT_INVALID"),
        ("cook", "{}", "error", "no tool"),
        ("secret", "{}", "error", "no tool"),
        ("breaks", "{}", "error", "ValueError"),
        ("hangs", "{}", "error", "longer than"),
        ("asks", "{}", "error", ""),
    ],
)
def test_each_call_has_one_result_on_every_branch(name: str, arguments: str, status: str, said: str) -> None:
    async def hangs(_: Any, ctx: Any) -> None:
        async with ctx.waiting():
            await asyncio.Event().wait()

    async def breaks(*_: Any) -> None:
        raise ValueError("no")

    async def asks(_: Any, ctx: Any) -> None:
        await ctx.display.push_and_wait("card")

    async def tale(line: RealtimeLine) -> None:
        line.turn("Go.", "c1")
        line.calls(("k1", name, arguments))
        await line.wait(3.0)

    line = hold(
        tale,
        tools=(
            tool("book", lambda *_: "done"),
            tool("breaks", breaks, retries=0),
            tool("hangs", hangs, timeout_s=1.0),
            tool("asks", asks, retries=0),
            tool("secret", lambda *_: "told"),
        ),
        host={"exclude_tools": ["Secret"]},
    )
    ((results, _, respond),) = line.session.of("answer")
    (result,) = results
    told = json.loads(result.output)
    assert (result.call_id, told["status"], respond) == ("k1", status, True)
    assert said in (told["message"] or "")
    assert "secret" not in [tool.name for tool in line.session.setup.tools]


def test_the_context_is_refreshed_without_a_word_and_only_when_it_changed() -> None:
    state = {"text": "Open."}

    async def tale(line: RealtimeLine) -> None:
        line.glove.add_context_provider(lambda _: state["text"])
        await line.pipeline.refresh_context()
        await line.pipeline.refresh_context()
        state["text"] = "Paid."
        await line.pipeline.refresh_context()
        await line.wait()

    line = hold(tale)
    refreshed = line.session.of("refresh")
    assert [snapshot.text for snapshot in refreshed] == ["Open.", "Paid."]
    assert refreshed[0].version < refreshed[1].version
    assert not line.session.of("inject")


def test_a_tool_that_appears_is_told_before_the_results() -> None:
    async def tale(line: RealtimeLine) -> None:
        def book(*_: Any) -> str:
            line.glove.fold(tool("pay", lambda *_: "paid"))
            return "done"

        line.glove.fold(tool("book", book))
        line.turn("Book it.", "c1")
        line.calls(("k1", "book", "{}"))
        await line.wait(0.5)

    line = hold(tale)
    names = [name for name, _ in line.session.sent]
    assert names.index("update") < names.index("answer")
    assert "pay" in [each.name for each in line.session.of("update")[-1].tools]


def test_a_slow_tool_goes_on_when_the_caller_does_and_is_told_later() -> None:
    async def slow(_: Any, ctx: Any) -> str:
        async with ctx.waiting():
            await asyncio.sleep(5.0)
        return "found"

    async def tale(line: RealtimeLine) -> None:
        line.turn("Search.", "c1")
        line.calls(("k1", "search", "{}"))
        await line.wait(1.0)
        assert not line.session.of("answer")
        line.turn("How late is it?", "c2")
        await line.wait(0.2)
        ((results, _, respond),) = line.session.of("answer")
        assert "Still running" in results[0].output and not respond, "the caller's words are answered, not the call"
        line.answer("It is noon.", words(3))
        await line.wait(6.0)
        ((role, text, asked),) = line.session.of("inject")
        assert role == "system" and asked and "found" in text
        line.answer("I found it.", words(3))
        await line.wait(1.5)

    line = hold(tale, tools=(tool("search", slow),))
    assert [(event.kind, event.turn) for event in line.all(UtteranceEnded)] == [
        ("reply", 0),
        ("reply", 1),
        ("tool_result", None),
    ]
    (returned,) = line.all(ToolReturned)
    assert (returned.turn, returned.status) == (0, "success")
    stored = asyncio.run(line.stored())
    assert stored[-1] == "agent: I found it." and stored.count("results success") == 2


def test_a_tool_that_never_returns_is_told_to_go_on() -> None:
    async def never(_: Any, ctx: Any) -> None:
        async with ctx.waiting():
            await asyncio.Event().wait()

    async def tale(line: RealtimeLine) -> None:
        line.turn("Search.", "c1")
        line.calls(("k1", "search", "{}"))
        await line.wait(3.5)

    line = hold(tale, tools=(tool("search", never),), settings=RealtimeSettings(patience_s=3.0))
    ((results, _, respond),) = line.session.of("answer")
    assert "Still running" in results[0].output and respond, "the model says so"


def test_results_that_are_not_wanted_are_kept_and_not_sent() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Book it.", "c1")
        line.calls(("k1", "book", "{}"))
        line.session.tell(CallsWithdrawn(call_ids=("k1",)))
        await line.wait(0.5)

    line = hold(tale, tools=(tool("book", lambda *_: "done"),))
    assert not line.session.of("answer") and line.session.of("refresh")
    assert "results success" in asyncio.run(line.stored()), "what was done is done"


def test_what_an_answer_cost_is_told_for_its_turn_and_counted() -> None:
    used = TokensUsed(audio_in=100, audio_out=40, text_in=300, text_out=9, cached_in=200)

    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        reply = line.begin()
        line.say(reply, "Hi.", words(1))
        line.session.tell(ReplyEnded(reply=reply, outcome=ReplyOutcome.COMPLETED, used=used))
        line.turn("Once more.", "c2")
        line.answer("Hi.", words(1))
        line.session.tell(TokensTold(reply=reply, used=TokensUsed(audio_out=2)))
        await line.wait(1.0)

    line = hold(tale)
    assert [(event.turn, event.audio_out) for event in line.all(TokensSpent)] == [(0, 40), (0, 2)]
    counted = asyncio.run(line.store.get_token_count())
    assert counted == 100 + 40 + 300 + 9 + 2


def test_a_failed_answer_is_owned_up_to_and_told() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        reply = line.begin()
        line.end(reply, ReplyOutcome.FAILED, "the server is overloaded")
        await line.wait(1.0)

    settings = RealtimeSettings()
    line = hold(tale, pipeline={"phrases": {settings.failed: np.full(RATE // 2, 7, np.int16)}})
    assert any("overloaded" in event.reason for event in line.all(EngineTrouble))
    assert [event.kind for event in line.all(UtteranceEnded)] == ["reply", "apology"]
    assert np.count_nonzero(line.output.track() == 7) == RATE // 2


def test_late_words_and_sound_of_a_void_reply_are_dropped() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        reply = line.begin()
        line.say(reply, "One two three four", words(4))
        await line.wait(0.5)
        line.barge_in(reply)
        line.session.tell(ReplyAudio(reply=reply, item=f"{reply}.item", samples=np.full(RATE, 999, np.int16)))
        line.session.tell(ReplyWords(reply=reply, item=f"{reply}.item", text=" five"))
        await line.wait(1.0)

    line = hold(tale)
    assert 999 not in line.output.track()
    (ended,) = line.all(UtteranceEnded)
    assert "five" not in ended.text


def test_what_is_typed_is_a_turn_at_once() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        line.answer("One two three four five six", words(6))
        await line.wait(0.6)
        line.pipeline.type_in("For two.")
        await line.wait(0.4)
        line.answer("Two.", words(1))
        await line.wait(1.0)

    line = hold(tale)
    assert line.session.of("inject") == [("caller", "For two.", True)]
    assert [event.text for event in line.all(TurnCommitted)] == ["Hello.", "For two."]
    stored = asyncio.run(line.stored())
    assert stored[0] == "caller: Hello." and stored[2:] == ["caller: For two.", "agent: Two."]


def test_the_greeting_is_the_model_s_where_there_is_no_other_voice() -> None:
    async def tale(line: RealtimeLine) -> None:
        ((role, text, respond),) = line.session.of("inject")
        assert role == "system" and "Welcome." in text and respond
        line.answer("Welcome.", words(1))
        await line.wait(1.0)

    line = hold(tale, settings=RealtimeSettings(greeting="Welcome."))
    (started,) = line.all(UtteranceStarted)
    assert (started.kind, started.turn) == ("greeting", None)


def test_a_narration_of_our_own_is_heard_to_its_end_and_told_the_model() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.pipeline.narrate("Please hold.")
        await line.wait(0.1)
        line.barge_in()
        await line.wait(1.5)

    line = hold(tale, pipeline={"phrases": {"Please hold.": np.full(RATE, 7, np.int16)}})
    assert np.count_nonzero(line.output.track() == 7) == RATE
    ((_, text, respond),) = line.session.of("inject")
    assert "Please hold." in text and not respond
    assert asyncio.run(line.stored()) == ["agent: Please hold."]


def test_heard_words_never_run_ahead_of_the_sound() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Count.", "c1")
        reply = line.begin()
        line.session.tell(ReplyWords(reply=reply, item="i", text="aaaa bbbb cccc dddd eeee ffff gggg hhhh"))
        for at in range(8):
            line.session.tell(ReplyAudio(reply=reply, item="i", samples=words(1, first=1 + at)))
            await line.wait(0.2)
        line.end(reply)
        await line.wait(2.0)

    line = hold(tale)
    started = line.times(UtteranceStarted)[0]
    for at, event in line.events:
        if isinstance(event, UtteranceHeard):
            assert len(event.heard.split()) <= (at - started) / 0.25 + 0.5


def test_calls_of_a_void_reply_are_not_run_and_have_results_all_the_same() -> None:
    ran: list[str] = []

    async def tale(line: RealtimeLine) -> None:
        line.turn("Book it.", "c1")
        line.begin()
        await line.wait()
        line.pipeline.interrupt()
        line.session.tell(
            Called(reply="r1", call_id="k1", name="book", arguments="{}"),
            ReplyEnded(reply="r1", outcome=ReplyOutcome.COMPLETED),
        )
        await line.wait(0.5)

    line = hold(tale, tools=(tool("book", lambda *_: ran.append("x"), unabortable=True),))
    assert not ran, "nothing is booked for who said stop"
    ((results, _, respond),) = line.session.of("answer")
    assert json.loads(results[0].output)["status"] == "aborted" and not respond
    assert asyncio.run(line.stored())[1:] == ["agent:  +book", "results aborted"]


class BrokenStore(MemoryStore):
    """Keeps nothing that has calls in it."""

    async def append_messages(self, messages: Sequence[Message], **more: Any) -> int:
        if any(message.tool_calls for message in messages):
            raise StoreError("the disk is full")
        return await super().append_messages(messages, **more)


def test_calls_that_cannot_be_kept_are_refused_and_not_run() -> None:
    ran: list[str] = []

    async def tale(line: RealtimeLine) -> None:
        line.turn("Book it.", "c1")
        line.calls(("k1", "book", "{}"))
        await line.wait(0.5)
        line.answer("That did not work.", words(4))
        await line.wait(1.5)

    line = hold(tale, store=BrokenStore(), tools=(tool("book", lambda *_: ran.append("x")),))
    ((results, _, respond),) = line.session.of("answer")
    assert json.loads(results[0].output)["status"] == "error" and respond
    assert not ran, "what is not known to have been asked for is not done"
    assert any("the disk is full" in event.reason for event in line.all(EngineTrouble))
    assert asyncio.run(line.stored()) == ["caller: Book it.", "agent: That did not work."]


def test_an_excluded_tool_that_does_not_exist_is_a_mistake() -> None:
    async def tale(line: RealtimeLine) -> None:
        await line.wait(1.0)

    settings = RealtimeSettings(on_lost=Lost.STAY)
    line = hold(tale, tools=(tool("book", lambda *_: "done"),), host={"exclude_tools": ["bok"]}, settings=settings)
    assert any("exclude_tools names bok" in event.reason for event in line.all(EngineTrouble))
    assert not line.provider.sessions


def test_a_host_is_told_of_each_call() -> None:
    told: list[tuple[str, str]] = []

    async def tale(line: RealtimeLine) -> None:
        line.calls(("k1", "book", "{}"), ("k2", "cook", "{}"))
        await line.wait(0.5)

    hold(
        tale,
        tools=(tool("book", lambda *_: "done"),),
        host={"on_tool_call": lambda name, phase, _: told.append((name, phase))},
    )
    assert told == [("book", "start"), ("cook", "start"), ("book", "done"), ("cook", "error")]


def test_calls_of_the_same_id_have_keys_of_their_own() -> None:
    keys: list[str] = []

    async def book(_: Any, ctx: Any) -> str:
        keys.append(ctx.idempotency_key)
        return "done"

    async def tale(line: RealtimeLine) -> None:
        line.calls(("k1", "book", "{}"))
        line.calls(("k1", "book", '{"seat": 2}'))
        await line.wait(0.5)

    hold(tale, tools=(tool("book", book),))
    assert len(set(keys)) == 2 and all(keys), "another call is another key, whatever the wire calls it"
