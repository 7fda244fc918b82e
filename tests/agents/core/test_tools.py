from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from agents.core.errors import DefinitionError, ToolSelectionError
from agents.core.selection import ToolSelection
from agents.core.tools import Tool, ToolContext
from agents.models.scripted import ScriptedCall
from tests.agents.core.scenes import Anything, Diary, echo, outline, talking


def named(*tools: Tool) -> list[str]:
    return [tool.name for tool in tools]


class Odd(BaseModel, arbitrary_types_allowed=True):
    clock: Diary


@pytest.mark.parametrize("bad", [None, {}, {"type": "string"}, int, "schema", Odd])
def test_a_tool_without_a_usable_input_is_refused_at_build(bad: Any) -> None:
    tool = Tool(name="t", description="", input=bad, do=lambda given, ctx: None)
    glove, _ = talking(tools=(tool,))
    with pytest.raises(DefinitionError, match=r"tool 't' .*input"):
        glove.build()


@pytest.mark.parametrize(
    ("mistake", "options"),
    [
        ("needs a name", {"name": " "}),
        ("needs a name", {"name": "a b"}),
        ("needs a name", {"name": "x" * 65}),
        ("needs work", {"do": None}),
        ("cannot be retried", {"retries": -1}),
        ("timeout of 0", {"timeout_s": 0}),
        ("may not be stopped", {"timeout_s": 1, "unabortable": True}),
        ("requires none", {"permission_question": "May I?"}),
        ("display strategy", {"display_strategy": "fade"}),
    ],
)
def test_a_definition_that_cannot_work_is_refused_at_build(mistake: str, options: dict[str, Any]) -> None:
    given = {"name": "t", "description": "", "input": Anything, "do": lambda given, ctx: None, **options}
    with pytest.raises(DefinitionError, match=mistake):
        talking(tools=(Tool(**given),))[0].build()


async def test_build_names_every_mistake_at_once_and_so_does_the_first_request() -> None:
    def broken(name: str, retries: int) -> Tool:
        return Tool(name=name, description="", input=Anything, do=lambda given, ctx: None, retries=retries)

    glove, model = talking("Yes.", tools=(broken("a b", -1), echo("c"), echo("C")), max_turns=0)
    for refused in (glove.build, lambda: glove.begin("Go")):
        with pytest.raises(DefinitionError) as caught:
            refused()
        assert len(caught.value.mistakes) == 4
        for part in ("max_turns is 0", "'a b' needs a name", "'a b' cannot be retried -1", "named 'C' already"):
            assert part in str(caught.value)
    assert model.requests == []


def test_after_build_a_name_that_is_taken_is_refused_and_nothing_is_folded() -> None:
    glove, _ = talking(tools=(echo("a"),))
    glove.build()
    for names in (("b", "A"), ("b", "B")):
        with pytest.raises(DefinitionError, match="already"):
            glove.fold(*map(echo, names))
    assert named(*glove.tools) == ["a"]


def test_a_model_class_becomes_a_schema() -> None:
    assert echo().spec.input_schema["properties"]["word"]["type"] == "string"


@pytest.mark.parametrize(
    ("previous", "coming", "after"),
    [
        (["B", "c"], ["x", "y"], ["a", "x", "y", "d"]),
        (["b"], ["b"], ["a", "b", "c", "d"]),
        (["a", "d"], [], ["b", "c"]),
        ([], ["x"], ["a", "b", "c", "d", "x"]),
        (["nothing"], ["x"], ["a", "b", "c", "d", "x"]),
        (["d", "a"], ["D", "x"], ["D", "x", "b", "c"]),
    ],
)
def test_replaced_tools_stand_where_the_first_that_left_stood(
    previous: list[str], coming: list[str], after: list[str]
) -> None:
    glove, _ = talking(tools=tuple(map(echo, "abcd")))
    glove.build().replace_tools(previous, [echo(name) for name in coming])
    assert named(*glove.tools) == after


@pytest.mark.parametrize(
    ("coming", "mistake"), [(["x", "X"], "two of the new tools"), (["x", "C"], "is not replaced"), (["x y"], "a name")]
)
def test_replacing_tools_is_all_or_nothing(coming: list[str], mistake: str) -> None:
    glove, _ = talking(tools=tuple(map(echo, "abc")))
    with pytest.raises(DefinitionError, match=mistake):
        glove.replace_tools(["a"], [echo(name) for name in coming])
    assert named(*glove.tools) == ["a", "b", "c"]


async def test_a_round_in_progress_keeps_the_tools_it_was_offered() -> None:
    def swap(given: Anything, ctx: ToolContext) -> str:
        ctx.glove.replace_tools(["old"], [echo("new")])
        return "swapped"

    swapping = Tool(name="swap", description="", input=Anything, do=swap)
    glove, model = talking(
        [ScriptedCall(name="swap"), ScriptedCall(name="old")],
        [ScriptedCall(name="new"), ScriptedCall(name="old")],
        "Done.",
        tools=(swapping, echo("old")),
    )
    await glove.process_request("Go")
    offered = [[tool.name for tool in request.tools] for request in model.requests[:2]]
    assert offered == [["swap", "old"], ["swap", "new"]]
    rounds = [line for line in outline(await glove.store.get_messages()) if line.startswith("results")]
    assert rounds == ["results swap=success,old=success", "results new=success,old=error"]


FORM_TOOLS = tuple(echo(name) for name in ("glove_form_fill", "glove_form_status", "glove_form_list", "other"))


@pytest.mark.parametrize(
    ("selection", "picked"),
    [
        (ToolSelection(), ["glove_form_fill", "glove_form_status", "glove_form_list", "other"]),
        (ToolSelection(allow=("list", "glove_form_fill")), ["glove_form_fill", "glove_form_list"]),
        (ToolSelection(deny=("Form_Status", "other")), ["glove_form_fill", "glove_form_list"]),
        (ToolSelection(allow=("fill", "list"), deny=("list",)), ["glove_form_fill"]),
        (ToolSelection(allow=()), []),
        (ToolSelection(allow=("fill",), deny=("other",)), ["glove_form_fill"]),
    ],
)
def test_a_selection_goes_by_full_name_or_by_its_end_and_keeps_the_order(
    selection: ToolSelection, picked: list[str]
) -> None:
    glove, _ = talking()
    assert named(*glove.fold(*FORM_TOOLS, selection=selection).tools) == picked


@pytest.mark.parametrize("selection", [{"allow": ("fil",)}, {"allow": ("fill",), "deny": ("lst",)}, {"deny": ("",)}])
def test_a_slip_in_a_list_is_refused_with_the_names_there_are_and_nothing_is_folded(selection: Any) -> None:
    glove, _ = talking()
    with pytest.raises(ToolSelectionError, match="glove_form_fill") as caught:
        glove.fold(*FORM_TOOLS, selection=ToolSelection(**selection))
    assert caught.value.code == "unknown_tool"
    assert glove.tools == ()
