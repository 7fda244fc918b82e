"""The task list of a conversation in a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from agents.core.store import Task, TaskStatus
from agents.stores.sql.codec import Codec, as_key
from agents.stores.sql.row import ConversationRow
from agents.stores.sql.schema import tasks as table

__all__ = ["SqlTasks"]

TASK = Codec(Task)


class SqlTasks(ConversationRow):
    """Keeps the model's task list."""

    async def get_tasks(self) -> list[Task]:
        """All tasks, in order."""
        rows = await self._database.read(
            select(table.c.payload).where(table.c.conversation == self._identifier).order_by(table.c.position)
        )
        return [TASK.read(row.payload) for row in rows]

    async def add_tasks(self, tasks: Sequence[Task]) -> None:
        """Replace the list."""
        rows = [
            {
                "conversation": self._identifier,
                "task_id": as_key(task.id),
                "position": position,
                "payload": TASK.write(task),
            }
            for position, task in enumerate(tasks)
        ]
        if len({row["task_id"] for row in rows}) < len(rows):
            raise ValueError("two tasks have the same id; give every task an id of its own")

        def work(connection: Connection) -> None:
            self._lock(connection)
            connection.execute(delete(table).where(table.c.conversation == self._identifier))
            if rows:
                connection.execute(insert(table), rows)

        await self._database.write(work)

    async def update_task(
        self,
        task_id: str,
        *,
        content: str | None = None,
        active_form: str | None = None,
        status: TaskStatus | None = None,
    ) -> Task:
        """Change what is given."""
        given = {"content": content, "active_form": active_form, "status": status}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        here = (table.c.conversation == self._identifier) & (table.c.task_id == as_key(task_id))

        def work(connection: Connection) -> Task:
            self._lock(connection)
            payload = connection.scalar(select(table.c.payload).where(here))
            if payload is None:
                raise KeyError(task_id)
            task = replace(TASK.read(payload), **changes)
            connection.execute(update(table).where(here).values(payload=TASK.write(task)))
            return task

        return await self._database.write(work)
