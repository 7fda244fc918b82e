from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from agents.core.executor import TOOL_INPUT_INVALID
from agents.core.messages import ToolResultData
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall
from tests.agents.core.scenes import Anything, Diary, echo, talking


class Guests(BaseModel):
    people: int = Field(ge=1)
    names: list[str] = []


async def run(tool: Tool | tuple[Tool, ...], *calls: ScriptedCall) -> list[ToolResultData]:
    glove, _ = talking(list(calls), "Done.", tools=tool if isinstance(tool, tuple) else (tool,))
    diary = Diary()
    glove.add_subscriber(diary)
    await glove.process_request("Go")
    assert all(data["duration_ms"] >= 0 for data in diary.of("tool_use_result"))
    (message,) = [message for message in await glove.store.get_messages() if message.tool_results]
    assert [result.result for result in message.tool_results] == [d["result"] for d in diary.of("tool_use_result")]
    return [result.result for result in message.tool_results]


async def test_calls_run_one_after_the_other_in_the_models_order() -> None:
    order: list[str] = []

    async def do(given: Anything, ctx: ToolContext) -> None:
        order.append(f"begin {given.word}")
        order.append(f"end {given.word}")

    tool = Tool(name="note", description="", input=Anything, do=do)
    await run(tool, *(ScriptedCall(name="note", input={"word": word}) for word in "abc"))
    assert order == ["begin a", "end a", "begin b", "end b", "begin c", "end c"]


async def test_names_are_looked_up_whatever_their_case() -> None:
    (result,) = await run(echo("tell_time"), ScriptedCall(name="Tell_Time", input={"word": "x"}))
    assert result.data == "tell_time:x"


@pytest.mark.parametrize(
    ("asked", "hint"),
    [("time", "Did you mean 'tell_time'?"), ("tell_time_now", "Did you mean 'tell_time'?"), ("xyz", None), ("", None)],
)
async def test_an_unknown_tool_is_an_error_that_names_the_others(asked: str, hint: str | None) -> None:
    (result,) = await run((echo("tell_time"), echo("calculate")), ScriptedCall(name=asked))
    assert result.status == "error" and result.message is not None
    assert "tell_time, calculate" in result.message
    assert (hint in result.message) if hint else ("Did you mean" not in result.message)


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({}, {"people"}),
        ({"people": 0}, {"people"}),
        ({"people": 2, "names": ["a", 1]}, {"names.1"}),
        ("not json", {"(input)"}),
        ([1], {"(input)"}),
    ],
)
async def test_input_that_does_not_fit_is_refused_before_the_tool_runs(given: Any, paths: set[str]) -> None:
    ran: list[Any] = []
    tool = Tool(name="book", description="", input=Guests, do=lambda given, ctx: ran.append(given))
    (result,) = await run(tool, ScriptedCall(name="book", input=given))
    assert (result.status, result.message) == ("error", TOOL_INPUT_INVALID)
    assert set(result.data["problems"]) == paths
    assert ran == []


async def test_a_raw_schema_passes_its_input_on_unchecked() -> None:
    tool = Tool(name="raw", description="", input={"type": "object"}, do=lambda given, ctx: given)
    (result,) = await run(tool, ScriptedCall(name="raw", input={"anything": [1]}))
    assert result.data == {"anything": [1]}


async def test_an_exception_is_an_error_result_and_the_next_call_runs() -> None:
    def do(given: Anything, ctx: ToolContext) -> str:
        raise LookupError("no such room" + "!" * 5000)

    broken = Tool(name="broken", description="", input=Anything, do=do)
    first, second = await run((broken, echo()), ScriptedCall(name="broken"), ScriptedCall(name="echo"))
    assert first.status == "error" and first.message is not None
    assert first.message.startswith("LookupError: no such room!") and len(first.message) <= 2000
    assert second.status == "success"


@pytest.mark.parametrize(
    ("returned", "data"),
    [("text", "text"), (None, None), ([1], [1]), (Guests(people=2), {"people": 2, "names": []})],
)
async def test_a_plain_return_value_is_a_success(returned: Any, data: Any) -> None:
    tool = Tool(name="t", description="", input=Anything, do=lambda given, ctx: returned)
    (result,) = await run(tool, ScriptedCall(name="t"))
    assert result == ToolResultData(status="success", data=data)


async def test_a_result_is_passed_on_as_it_is() -> None:
    made = ToolResultData(status="error", message="closed", render_data={"card": 1})
    tool = Tool(name="t", description="", input=Anything, do=lambda given, ctx: made)
    assert await run(tool, ScriptedCall(name="t")) == [made]


async def test_a_tool_knows_its_call_its_glove_and_that_nobody_has_a_screen() -> None:
    seen: list[ToolContext] = []
    tool = Tool(name="t", description="", input=Anything, do=lambda given, ctx: seen.append(ctx))
    await run(tool, ScriptedCall(name="t", id="c7"))
    (ctx,) = seen
    assert (ctx.call_id, ctx.display, ctx.signal.aborted) == ("c7", None, False)
    assert [tool.name for tool in ctx.glove.tools] == ["t"]
