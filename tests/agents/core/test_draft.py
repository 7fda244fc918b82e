"""Drafts: a model call on words that are not a message yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import Any

import pytest

from agents.core.abort import AbortSignal
from agents.core.draft import ModelDraft
from agents.core.errors import AbortError, ModelError
from agents.core.glove import Glove
from agents.core.messages import Usage
from agents.core.tools import Tool
from agents.models.scripted import ScriptedCall, ScriptedModel
from tests.agents.core.scenes import Anything, Diary, echo, talking


async def written(glove: Glove, said: str) -> ModelDraft:
    """A draft whose model call is over."""
    draft = glove.draft(said)
    await draft.run()
    return draft


async def kept(glove: Glove) -> list[dict[str, Any]]:
    """The stored messages, without how long their tools took."""
    messages = [asdict(message) for message in await glove.store.get_messages()]
    for message in messages:
        for result in message["tool_results"]:
            result["duration_ms"] = 0
    return messages


def timeless(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != "duration_ms"}


async def held(drafted: bool) -> tuple[list[tuple[str, Any]], list[dict[str, Any]], ScriptedModel]:
    """The same conversation, with a draft or without."""
    glove, model = talking(
        ["Let me see. ", ScriptedCall(name="echo", input={"word": "x"})], "It is x.", tools=(echo(),)
    )
    diary = Diary()
    glove.add_subscriber(diary)
    glove.add_context_provider(lambda _: "It is Monday.")
    draft = await written(glove, "what is it") if drafted else None
    assert diary.events == []
    await glove.begin("What is it?", draft=draft).run()
    return [(type, timeless(data)) for type, data in diary.events], await kept(glove), model


async def test_a_request_that_takes_up_a_draft_cannot_be_told_from_one_without() -> None:
    events, stored, model = await held(drafted=True)
    plain_events, plain_stored, plain_model = await held(drafted=False)
    assert events == plain_events
    assert stored == plain_stored
    assert len(model.requests) == len(plain_model.requests) == 2
    assert stored[0]["text"] == "What is it?"


async def test_nothing_of_a_discarded_draft_is_stored_told_or_run() -> None:
    ran: list[str] = []
    tool = Tool(name="echo", description="Runs.", input=Anything, do=lambda given, ctx: ran.append(given.word))
    glove, model = talking(["Hello. ", ScriptedCall(name="echo", input={"word": "x"})], "Good bye.", tools=(tool,))
    diary = Diary()
    glove.add_subscriber(diary)
    before = await kept(glove)
    draft = await written(glove, "Hello")
    draft.discard()
    assert (await kept(glove), diary.events, ran) == (before, [], [])
    reply = await glove.begin("Something else", draft=draft).run()
    assert reply.text == "Good bye."
    assert diary.types() == ["text_delta", "model_response_complete", "token_consumption"]
    assert len(model.requests) == 2


def _context(glove: Glove) -> None:
    glove.add_context_provider(lambda _: "It is Tuesday.")


def _tools(glove: Glove) -> None:
    glove.fold(echo("other"))


def _prompt(glove: Glove) -> None:
    glove.system_prompt = "You are brief."


def _model(glove: Glove) -> None:
    glove.model = ScriptedModel(["Fresh."])


@pytest.mark.parametrize("change", [_context, _tools, _prompt, _model])
async def test_a_draft_that_was_asked_something_else_is_not_used(change: Callable[[Glove], None]) -> None:
    glove, _ = talking("Stale.", "Fresh.")
    draft = await written(glove, "Hello")
    change(glove)
    assert (await glove.begin("Hello", draft=draft).run()).text == "Fresh."


async def test_a_draft_is_not_used_when_the_conversation_went_on_meanwhile() -> None:
    glove, _ = talking("Stale.", "Fresh.")
    draft = await written(glove, "Hello")
    await glove.record("By the way.", interrupted=False)
    assert (await glove.begin("Hello", draft=draft).run()).text == "Fresh."


async def test_a_draft_on_other_words_is_not_used_but_punctuation_is_no_other_word() -> None:
    glove, model = talking("Stale.", "Fresh.", "Again.")
    assert (await glove.begin("Hello you", draft=await written(glove, "Hello")).run()).text == "Fresh."
    assert (await glove.begin("And now?", draft=await written(glove, "and now")).run()).text == "Again."
    assert len(model.requests) == 3


async def test_tokens_of_a_discarded_draft_are_counted_apart() -> None:
    glove = Glove(model=ScriptedModel(["Stale.", "Fresh."], usage=Usage(tokens_in=7, tokens_out=3)))
    draft = await written(glove, "Hello")
    await glove.begin("Something else", draft=draft).run()
    assert glove.discarded_usage == Usage(tokens_in=7, tokens_out=3)
    assert await glove.store.get_token_count() == 10


async def test_tokens_of_a_draft_discarded_in_mid_stream_are_counted_as_far_as_they_were_told() -> None:
    told = (Usage(tokens_in=7, tokens_out=1), Usage(tokens_in=7, tokens_out=2))
    glove, model = talking([told[0], "One, ", told[1], asyncio.Event().wait])
    draft = glove.draft("Count")
    async with asyncio.TaskGroup() as group:
        group.create_task(draft.run())
        await asyncio.sleep(0.01)
        draft.discard()
    assert model.closed == 1
    assert glove.discarded_usage == told[1]
    assert await glove.store.get_token_count() == 0


@pytest.mark.parametrize("drafted", [True, False])
async def test_tokens_of_a_response_that_is_stopped_in_mid_stream_are_counted_apart_once(drafted: bool) -> None:
    told = Usage(tokens_in=7, tokens_out=1)
    glove, _ = talking([told, "One, ", asyncio.Event().wait])
    draft = glove.draft("Count") if drafted else None
    signal = AbortSignal()
    async with asyncio.TaskGroup() as group:
        if draft is not None:
            group.create_task(draft.run())
            await asyncio.sleep(0.01)
        running = group.create_task(_aborted(glove.begin("Count", draft=draft, signal=signal).run()))
        await asyncio.sleep(0.01)
        signal.abort()
        await running
    assert glove.discarded_usage == told
    assert await glove.store.get_token_count() == 0


async def test_tokens_of_a_draft_that_is_taken_up_are_counted_once() -> None:
    glove = Glove(model=ScriptedModel(["Fresh."], usage=Usage(tokens_in=7, tokens_out=3)))
    await glove.begin("Hello", draft=await written(glove, "Hello")).run()
    assert glove.discarded_usage == Usage()
    assert await glove.store.get_token_count() == 10


async def test_a_draft_that_is_still_being_written_is_taken_up_where_it_is() -> None:
    go_on = asyncio.Event()
    glove, model = talking(["One, ", go_on.wait, "two."])
    diary = Diary()
    glove.add_subscriber(diary)
    draft = glove.draft("Count")
    async with asyncio.TaskGroup() as group:
        group.create_task(draft.run())
        await asyncio.sleep(0.01)
        request = group.create_task(glove.begin("Count", draft=draft).run())
        await asyncio.sleep(0.01)
        assert diary.types() == ["text_delta"]
        go_on.set()
    assert request.result().text == "One, two."
    assert len(model.requests) == 1


async def test_aborting_the_request_stops_the_draft_it_took_up() -> None:
    glove, model = talking(["One, ", asyncio.Event().wait, "two."])
    draft = glove.draft("Count")
    signal = AbortSignal()
    async with asyncio.TaskGroup() as group:
        group.create_task(draft.run())
        await asyncio.sleep(0.01)
        request = glove.begin("Count", draft=draft, signal=signal)
        running = group.create_task(_aborted(request.run()))
        await asyncio.sleep(0.01)
        signal.abort()
        await running
    assert request.partial == "One, "
    assert model.closed == 1


async def _aborted(run: Coroutine[Any, Any, object]) -> None:
    with pytest.raises(AbortError):
        await run


async def test_a_draft_that_failed_is_made_good_by_the_request() -> None:
    glove, _ = talking([ModelError("scripted", "it is down")], "Fresh.")
    draft = await written(glove, "Hello")
    assert (await glove.begin("Hello", draft=draft).run()).text == "Fresh."


async def test_a_draft_that_breaks_off_after_it_was_taken_up_fails_the_request() -> None:
    go_on = asyncio.Event()
    glove, _ = talking(["One, ", go_on.wait, ModelError("scripted", "it is down")])
    draft = glove.draft("Count")
    async with asyncio.TaskGroup() as group:
        group.create_task(draft.run())
        await asyncio.sleep(0.01)
        request = glove.begin("Count", draft=draft)
        running = group.create_task(_failing(request.run()))
        await asyncio.sleep(0.01)
        go_on.set()
    assert running.result() == "it is down"
    assert request.partial == "One, "


async def _failing(run: Coroutine[Any, Any, object]) -> str:
    with pytest.raises(ModelError) as caught:
        await run
    return caught.value.reason


async def test_an_agent_may_refuse_drafts() -> None:
    glove, model = talking("Fresh.", drafts=False)
    draft = await written(glove, "Hello")
    assert model.requests == []
    assert (await glove.begin("Hello", draft=draft).run()).text == "Fresh."


async def test_no_draft_is_written_while_something_waits_that_a_request_would_take_in_first() -> None:
    glove, model = talking("Fresh.")
    glove.compaction_wanted = True
    await written(glove, "Hello")
    glove.compaction_wanted = False
    async with glove.floor.taken(None, urgent=False):
        await written(glove, "Hello")
    assert model.requests == []
