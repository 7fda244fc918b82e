from __future__ import annotations

import pytest

from agents.core.glove import Glove
from agents.core.messages import ContentPart, Message
from agents.core.tools import Tool, ToolContext
from agents.display import DisplayManager
from agents.models.openai_wire import write_messages
from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.stores.memory import MemoryStore
from tests.agents.core.scenes import Anything, echo, outline, talking


async def test_a_model_that_is_changed_in_mid_request_makes_the_next_call() -> None:
    other = ScriptedModel(["I am the other."])

    def swap(given: Anything, ctx: ToolContext) -> str:
        ctx.glove.model = other
        return "swapped"

    glove, _ = talking([ScriptedCall(name="swap")], tools=(Tool(name="swap", description="", input=Anything, do=swap),))
    glove.system_prompt = "Be brief."
    assert (await glove.process_request("Go")).text == "I am the other."
    assert other.requests[0].system_prompt == "Be brief."
    assert outline(other.requests[0].messages) == ["user: Go", "agent:  +swap", "results swap=success"]


async def test_conversations_can_be_switched_and_each_keeps_its_own() -> None:
    first, second = MemoryStore("first"), MemoryStore("second")
    glove, model = talking("One.", "Two.", "Three.", store=first)
    await glove.process_request("a")
    glove.rebuild(second)
    await glove.process_request("b")
    glove.rebuild(first)
    await glove.process_request("c")
    assert outline(model.requests[1].messages) == ["user: b"]
    assert outline(model.requests[2].messages) == ["user: a", "agent: One.", "user: c"]


def test_a_store_given_to_build_is_used_only_when_there_was_none() -> None:
    own, given = MemoryStore("own"), MemoryStore("given")
    assert Glove(model=ScriptedModel(), store=own).build(given).store is own
    assert Glove(model=ScriptedModel()).build(given).store is given


async def test_a_tool_sees_the_screen_there_is_when_it_looks() -> None:
    seen: list[bool] = []

    def look(given: Anything, ctx: ToolContext) -> str:
        seen.append(ctx.display is not None)
        return "looked"

    call = ScriptedCall(name="look")
    tool = Tool(name="look", description="", input=Anything, do=look)
    glove, _ = talking([call], "Done.", [call], "Done.", [call], "Done.", tools=(tool,))
    for display in (None, DisplayManager(), None):
        glove.display = display
        await glove.process_request("Go")
    assert seen == [False, True, False]


async def test_pictures_reach_the_model_beside_the_words() -> None:
    glove, model = talking("A cat.", "Nothing.")
    picture = ContentPart(type="image", media_type="image/png", data="aGk=")
    parts = [ContentPart(type="text", text="What"), picture, ContentPart(type="text", text="is this?")]
    await glove.process_request(parts)
    await glove.process_request([picture])
    stored = (await glove.store.get_messages())[0]
    assert (stored.text, stored.content) == ("What\nis this?", (picture,))
    assert stored == Message(sender="user", id=stored.id, text="What\nis this?", content=(picture,))
    first, _, last = write_messages(model.requests[1])
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    assert first["content"] == [{"type": "text", "text": "What\nis this?"}, image]
    assert last["content"] == [image]


def test_whether_it_serves_is_told_to_whoever_mounts_something() -> None:
    assert not Glove(model=ScriptedModel()).server_mode
    assert Glove(model=ScriptedModel(), server_mode=True).server_mode


@pytest.mark.parametrize("built", [False, True])
async def test_tools_can_be_folded_before_and_after_build(built: bool) -> None:
    glove, model = talking([ScriptedCall(name="echo", input={"word": "x"})], "Done.")
    if built:
        glove.build()
    await glove.fold(echo()).process_request("Go")
    assert outline(model.requests[1].messages)[-1] == "results echo=success"
