from __future__ import annotations

from typing import Any

from agents.core.glove import Glove
from agents.core.inbox import INBOX_TOOL
from agents.core.selection import ToolSelection
from agents.core.store import tasks_of
from agents.core.tasks import TASKS_TOOL
from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.stores.memory import MemoryStore
from tests.agents.core.scenes import echo, talking


class Plain:
    """A store without any group."""

    def __init__(self) -> None:
        self._store = MemoryStore()

    def __getattr__(self, name: str) -> Any:
        if "task" in name or "inbox" in name:
            raise AttributeError(name)
        return getattr(self._store, name)


def todo(content: str, status: str = "pending") -> dict[str, str]:
    return {"content": content, "activeForm": f"{content}ing", "status": status}


def update(*todos: dict[str, str]) -> list[ScriptedCall]:
    return [ScriptedCall(name=TASKS_TOOL, input={"todos": list(todos)})]


async def listed(glove: Glove) -> list[tuple[str, str, str, str]]:
    store = tasks_of(glove.store)
    assert store is not None
    return [(task.id, task.content, task.active_form, task.status) for task in await store.get_tasks()]


async def test_the_list_is_replaced_and_entries_of_the_same_content_keep_their_ids() -> None:
    glove, model = talking(
        update(todo("pack"), todo("book"), todo("pack")),
        "Done.",
        update(todo("book", "completed"), todo("pack", "in_progress"), todo("leave")),
        "Done.",
        framework_tools=None,
    )
    await glove.process_request("Go")
    (pack, *_), (book, *_), (second_pack, *_) = await listed(glove)
    assert len({pack, book, second_pack}) == 3
    await glove.process_request("On")
    *kept, (leave, *_) = await listed(glove)
    assert kept == [(book, "book", "booking", "completed"), (pack, "pack", "packing", "in_progress")]
    assert leave not in (pack, book, second_pack)
    data = [r.result.data for m in model.requests[-1].messages for r in m.tool_results][-1]
    assert data["tasks"][0] == {"id": book, "content": "book", "activeForm": "booking", "status": "completed"}


async def test_a_list_that_does_not_fit_changes_nothing() -> None:
    glove, model = talking(update(todo("pack", "lost"), todo("")), "Done.", framework_tools=None)
    await glove.process_request("Go")
    assert await listed(glove) == []
    (result,) = [r.result for m in model.requests[-1].messages for r in m.tool_results]
    assert set(result.data["problems"]) == {"todos.0.status", "todos.1.content"}


def test_the_tool_is_first_once_and_there_only_for_a_store_that_keeps_tasks() -> None:
    def names(glove: Glove) -> list[str]:
        return [tool.name for tool in glove.tools]

    glove = Glove(model=ScriptedModel()).fold(echo())
    glove.build()
    glove.build(MemoryStore())
    assert names(glove) == [TASKS_TOOL, INBOX_TOOL, "echo"]
    glove.rebuild(Plain())
    assert names(glove) == ["echo"]
    glove.rebuild(MemoryStore())
    assert names(glove) == [TASKS_TOOL, INBOX_TOOL, "echo"]
    denied = Glove(model=ScriptedModel(), framework_tools=ToolSelection(deny=("update_tasks", "post_to_inbox"))).fold(
        echo()
    )
    assert names(denied.build()) == ["echo"]


async def test_tasks_belong_to_the_conversation_the_request_began_in() -> None:
    first, second = MemoryStore("first"), MemoryStore("second")
    glove, _ = talking(update(todo("pack")), "Done.", framework_tools=None, store=first)
    request = glove.begin("Go")
    glove.rebuild(second)
    await request.run()
    assert [len(await store.get_tasks()) for store in (first, second)] == [1, 0]
    assert [len(await store.get_messages()) for store in (first, second)] == [4, 0]
