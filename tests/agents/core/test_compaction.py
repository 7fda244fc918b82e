from __future__ import annotations

from typing import Any

import pytest

from agents.core.abort import AbortSignal
from agents.core.compaction import Compaction
from agents.core.errors import DefinitionError, ModelError
from agents.core.glove import Glove
from agents.core.messages import Usage
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall, ScriptedModel, ScriptedResponse
from tests.agents.core.scenes import Anything, Diary, echo, outline, talking

ASK = "Write down what was agreed."
CALL = ScriptedCall(name="echo", input={"word": "x"})


def long(*responses: ScriptedResponse, limit: int = 100, each: int = 50, **options: Any) -> tuple[Glove, ScriptedModel]:
    """An agent whose every model call uses so many tokens, a fifth of them for the answer."""
    glove, _ = talking(compaction=Compaction(instructions=ASK, context_limit=limit), **options)
    usage = Usage(tokens_in=each * 4 // 5, tokens_out=each // 5, cache_read_input_tokens=3)
    glove.model = model = ScriptedModel(responses, usage=usage)
    return glove, model


def summary(text: str, words: str) -> str:
    lines = ["[Summary of the conversation so far]", text, f"The user's latest words were: {words}"]
    return "\n".join([*lines, "[End of the summary]"])


async def test_a_long_conversation_is_summed_up_before_the_next_words_and_nothing_is_lost_of_them() -> None:
    glove, model = long("One.", "Two.", "All agreed.", "Three.")
    diary = Diary()
    glove.add_subscriber(diary)
    glove.add_context_provider(lambda signal: "It rains.")
    for said in ("a", "b", "c"):
        await glove.process_request(said)
    assert outline(model.requests[2].messages) == ["user: a", "agent: One.", "user: b", "agent: Two.", f"user: {ASK}"]
    assert model.requests[2].tools == ()
    assert outline(model.requests[3].messages) == [
        f"user: {summary('All agreed.', 'b')}",
        "user: c",
        "[runtime] It rains.",
    ]
    stored = outline(await glove.store.get_messages())
    assert stored == [
        "user: a",
        "agent: One.",
        "user: b",
        "agent: Two.",
        f"user: {summary('All agreed.', 'b')}",
        "user: c",
        "agent: Three.",
    ]
    assert [data["text"] for data in diary.of("text_delta")] == ["One.", "Two.", "Three."]


async def test_what_it_used_is_told_once_and_counted_exactly() -> None:
    glove, _ = long("One.", "Two.", "All agreed.", "Three.")
    diary = Diary()
    glove.add_subscriber(diary)
    for said in ("a", "b"):
        await glove.process_request(said)
    await glove.force_compaction()
    usage = {"tokens_in": 40, "tokens_out": 10, "cache_read_input_tokens": 3}
    assert diary.of("compaction_start") == [{"current_token_consumption": 100}]
    (end,) = diary.of("compaction_end")
    assert (end["current_token_consumption"], end["consumption"]) == (10, usage)
    assert end["summary_message"].is_compaction
    assert diary.of("token_consumption") == [{"consumption": usage}] * 2
    assert (await glove.store.get_token_count(), await glove.store.get_turn_count()) == (10, 0)
    total = await glove.store.get_token_consumption()  # type: ignore[attr-defined]
    assert (total.tokens_in, total.tokens_out, total.cache_read_input_tokens) == (120, 30, 9)


async def test_before_a_round_that_would_go_over_it_the_calls_stay_with_their_results() -> None:
    glove, model = long("One.", "Two.", [CALL], "All agreed.", "Three.", limit=111, tools=(echo(),))
    for said in ("a", "b", "c"):
        await glove.process_request(said)
    assert outline(model.requests[3].messages)[-2:] == ["user: c", f"user: {ASK}"]
    assert outline(model.requests[4].messages) == [
        f"user: {summary('All agreed.', 'c')}",
        "agent:  +echo",
        "results echo=success",
    ]
    assert await glove.store.get_token_count() == 10 + 50 + 50


async def test_after_a_round_that_went_over_it_the_results_are_in_the_summary() -> None:
    glove, model = long([CALL], "All agreed.", "Done.", limit=50, tools=(echo(),))
    await glove.process_request("a")
    assert outline(model.requests[1].messages) == ["user: a", "agent:  +echo", "results echo=success", f"user: {ASK}"]
    assert outline(model.requests[2].messages) == [f"user: {summary('All agreed.', 'a')}"]


async def test_a_second_summary_is_made_of_the_first_and_what_came_after_it() -> None:
    glove, model = long("One.", "First.", "Two.", "Second.")
    await glove.process_request("a")
    await glove.force_compaction()
    await glove.process_request("b")
    await glove.force_compaction()
    assert outline(model.requests[3].messages) == [
        f"user: {summary('First.', 'a')}",
        "user: b",
        "agent: Two.",
        f"user: {ASK}",
    ]


async def test_a_summary_that_fails_leaves_the_conversation_as_it_was_and_is_tried_again() -> None:
    glove, model = long("One.", "Two.", [ModelError("scripted", "down")], "Three.", "All agreed.", "Four.")
    for said in ("a", "b", "c", "d"):
        await glove.process_request(said)
    assert outline(model.requests[3].messages)[-1] == "user: c"
    assert outline(model.requests[5].messages) == [f"user: {summary('All agreed.', 'c')}", "user: d"]


async def test_an_empty_summary_still_says_what_was_asked_last() -> None:
    glove, model = long("One.", [], "Two.")
    await glove.process_request("a")
    await glove.force_compaction()
    await glove.process_request("b")
    assert "could not be put into words" in model.requests[2].messages[0].text
    assert "latest words were: a" in model.requests[2].messages[0].text


async def test_a_tool_may_ask_for_it_and_it_is_done_when_the_round_is_over() -> None:
    async def tidy(given: Anything, ctx: ToolContext) -> str:
        await ctx.glove.force_compaction()
        return "tidied"

    tool = Tool(name="tidy", description="", input=Anything, do=tidy)
    glove, model = long([ScriptedCall(name="tidy")], "All agreed.", "Done.", limit=10_000, tools=(tool,))
    await glove.process_request("a")
    assert outline(model.requests[1].messages)[2] == "results tidy=success"
    assert outline(model.requests[2].messages) == [f"user: {summary('All agreed.', 'a')}"]


async def test_a_result_that_comes_after_the_summary_is_told() -> None:
    import asyncio

    free, started = asyncio.Event(), asyncio.Event()

    async def do(given: Anything, ctx: ToolContext) -> str:
        started.set()
        await free.wait()
        return "three"

    tool = Tool(name="search", description="", input=Anything, do=do)
    glove, model = long([ScriptedCall(name="search")], "Nine.", "All.", "Three.", limit=10_000, tools=(tool,))
    first = asyncio.ensure_future(glove.process_request("a"))
    await started.wait()
    await glove.process_request("b")
    await first
    await glove.force_compaction()
    free.set()
    await glove.errands.drain()
    assert [line.split(" ")[0] for line in outline(model.requests[3].messages)] == ["user:", "[tool_result]"]
    assert '"three"' in model.requests[3].messages[1].text


async def test_an_abort_does_not_stop_a_summary_half_way() -> None:
    signal = AbortSignal()
    glove, _ = long("One.", "Two.", ["All ", _later(signal), "agreed."], "Three.")
    for said in ("a", "b"):
        await glove.process_request(said)
    with pytest.raises(Exception, match="aborted"):
        await glove.process_request("c", signal)
    assert outline(await glove.store.get_messages())[-2:] == [f"user: {summary('All agreed.', 'b')}", "user: c"]


def _later(signal: AbortSignal) -> Any:
    async def abort() -> None:
        signal.abort()

    return abort


def test_a_compaction_that_cannot_work_is_refused_at_build() -> None:
    glove, _ = talking(compaction=Compaction(instructions=" ", context_limit=0))
    with pytest.raises(DefinitionError) as caught:
        glove.build()
    assert len(caught.value.mistakes) == 2


async def test_without_settings_it_cannot_be_forced() -> None:
    glove, _ = talking()
    with pytest.raises(DefinitionError, match="no compaction"):
        await glove.force_compaction()
