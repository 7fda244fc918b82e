from __future__ import annotations

from typing import Any

import pytest

from agents.core.errors import DefinitionError
from agents.core.tools import Tool
from tests.agents.core.scenes import Anything, echo, talking


@pytest.mark.parametrize("bad", [None, {}, {"type": "string"}, int, "schema"])
def test_a_tool_without_a_usable_input_is_refused(bad: Any) -> None:
    with pytest.raises(DefinitionError, match="'t' needs an input"):
        Tool(name="t", description="", input=bad, do=lambda given, ctx: None)


def test_a_tool_without_a_name_is_refused() -> None:
    with pytest.raises(DefinitionError, match="needs a name"):
        Tool(name=" ", description="", input=Anything, do=lambda given, ctx: None)


def test_a_name_that_is_taken_is_refused_and_nothing_is_folded() -> None:
    glove, _ = talking(tools=(echo("a"),))
    for names in (("b", "A"), ("b", "B")):
        with pytest.raises(DefinitionError, match="already"):
            glove.fold(*map(echo, names))
    assert [tool.name for tool in glove.tools] == ["a"]


def test_a_model_class_becomes_a_schema() -> None:
    assert echo().spec.input_schema["properties"]["word"]["type"] == "string"
