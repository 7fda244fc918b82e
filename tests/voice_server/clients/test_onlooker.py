"""How clients are told of goals and forms."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agents.core.progress import Progress
from voice_server.clients.events import ClientEvent, FormsShown, GoalsShown
from voice_server.clients.onlooker import Onlooker
from voice_server.clients.shown import form_shown


def form(**changes: Any) -> dict[str, Any]:
    field = {"id": "name", "label": "Name", "type": "text", "required": True, "status": "empty", "ask": True}
    read = {"instance_id": "f1", "form": "trip", "name": "Trip", "status": "active", "complete": False, "asked": "name"}
    return {**read, "fields": [{**field, **changes}], "steps": []}


async def test_several_changes_in_one_turn_of_the_loop_are_read_once() -> None:
    progress, reads = Progress(), 0
    told: list[ClientEvent] = []

    async def read() -> list[dict[str, Any]]:
        nonlocal reads
        reads += 1
        return [form(status="filled", value="x" * reads)]

    changed = progress.register("forms", read)
    onlooker = Onlooker(progress, told.append)
    async with asyncio.TaskGroup() as group:
        group.create_task(onlooker.run())
        await onlooker.settle()
        assert (reads, len(told)) == (1, 1)
        for _ in range(10):
            changed()
        await onlooker.settle()
        assert (reads, len(told)) == (2, 2)
        onlooker.close()
    changed()
    assert reads == 2


async def test_nothing_is_told_before_there_is_something_nor_twice_what_is_the_same() -> None:
    progress = Progress()
    told: list[ClientEvent] = []
    goals: dict[str, Any] = {"program": None}

    async def read() -> dict[str, Any]:
        return goals

    changed = progress.register("goals", read)
    onlooker = Onlooker(progress, told.append)
    async with asyncio.TaskGroup() as group:
        group.create_task(onlooker.run())
        await onlooker.settle()
        assert told == []
        goals = {"program": "trip", "version": 1, "status": "active", "activeGoal": None, "goals": [], "deferred": []}
        for _ in range(2):
            changed()
            await onlooker.settle()
        assert told == [GoalsShown(program="trip", version=1, status="active", active_goal=None, goals=(), deferred=())]
        onlooker.tell_again()
        assert told == [told[0]] * 2
        onlooker.close()


async def test_what_cannot_be_read_is_tried_again_after_the_next_change() -> None:
    progress, broken = Progress(), True
    told: list[ClientEvent] = []

    async def read() -> list[dict[str, Any]]:
        if broken:
            raise OSError("the disk is gone")
        return [form()]

    changed = progress.register("forms", read)
    onlooker = Onlooker(progress, told.append)
    async with asyncio.TaskGroup() as group:
        group.create_task(onlooker.run())
        await onlooker.settle()
        broken = False
        changed()
        await onlooker.settle()
        assert told == [FormsShown(forms=(form_shown(form()),))]
        onlooker.close()


def test_what_is_told_is_bounded_whatever_was_written() -> None:
    long = form(status="filled", value={"text": "ü" * 20_000}, error="e" * 20_000)
    shown = form_shown({**long, "fields": long["fields"] * 1_000})
    assert len(shown.fields) == 200
    assert len(shown.fields[0].value) == 500 and shown.fields[0].value.endswith("…")
    assert len(json.dumps(shown.model_dump(mode="json"))) < 1_000_000
