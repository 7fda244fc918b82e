"""The tool with which a model keeps a list of its own work, for stores that keep one."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from pydantic import BaseModel, Field

from agents.core.messages import ToolResultData
from agents.core.store import Task, TaskStatus, tasks_of
from agents.core.tools import Tool, ToolContext

__all__ = ["TASKS_TOOL", "tasks_tool"]

TASKS_TOOL = "glove_update_tasks"


class Todo(BaseModel):
    """An entry of the list."""

    content: str = Field(min_length=1, max_length=500, description="What is to be done: 'Book the flight'")
    activeForm: str = Field(min_length=1, max_length=500, description="While it is being done: 'Booking the flight'")
    status: TaskStatus


class Todos(BaseModel):
    """The whole list."""

    todos: list[Todo] = Field(max_length=100, description="All entries, done ones too: the list replaces the old one")


def tasks_tool() -> Tool:
    """Make the tool; it works on the list of the conversation it is called in."""

    async def do(given: Todos, ctx: ToolContext) -> Any:
        store = tasks_of(ctx.store)
        if store is None:
            return ToolResultData(status="error", message="This conversation keeps no list of tasks.")
        known: dict[str, list[str]] = {}
        for task in await store.get_tasks():
            known.setdefault(task.content, []).append(task.id)
        tasks = []
        for todo in given.todos:
            same = known.get(todo.content)
            task_id = same.pop(0) if same else f"task_{uuid4().hex}"
            tasks.append(Task(id=task_id, content=todo.content, active_form=todo.activeForm, status=todo.status))
        await store.add_tasks(tasks)
        return {"tasks": [_shown(task) for task in tasks]}

    return Tool(
        name=TASKS_TOOL,
        description=(
            "Keep the list of what you are doing for the user when it takes several steps. Send the full list every "
            "time, with at most one entry in progress, and mark an entry completed as soon as it is done."
        ),
        input=Todos,
        do=do,
    )


def _shown(task: Task) -> dict[str, str]:
    return {"id": task.id, "content": task.content, "activeForm": task.active_form, "status": task.status}
