"""How clients are told of goals and forms."""

from __future__ import annotations

import json
from typing import Any

from voice_server.clients.events import ClientEvent, FormsShown, GoalsShown
from voice_server.clients.onlooker import Onlooker
from voice_server.clients.shown import form_shown


def form(**changes: Any) -> dict[str, Any]:
    field = {"id": "name", "label": "Name", "type": "text", "required": True, "status": "empty", "ask": True}
    read = {"instance_id": "f1", "form": "trip", "name": "Trip", "status": "active", "complete": False, "asked": "name"}
    return {**read, "fields": [{**field, **changes}], "steps": []}


def test_nothing_is_told_before_there_is_something_nor_twice_what_is_the_same() -> None:
    told: list[ClientEvent] = []
    onlooker = Onlooker(told.append)
    onlooker.take("goals", {"program": None})
    onlooker.take("goals", None)
    onlooker.take("forms", None)
    onlooker.tell_again()
    assert told == []
    goals = {"program": "trip", "version": 1, "status": "active", "activeGoal": None, "goals": [], "deferred": []}
    for _ in range(2):
        onlooker.take("goals", goals)
    assert told == [GoalsShown(program="trip", version=1, status="active", active_goal=None, goals=(), deferred=())]
    onlooker.take("forms", [form()])
    onlooker.tell_again()
    assert told == [told[0], FormsShown(forms=(form_shown(form()),))] * 2


def test_what_is_told_is_bounded_whatever_was_written() -> None:
    long = form(status="filled", value={"text": "ü" * 20_000}, error="e" * 20_000)
    shown = form_shown({**long, "fields": long["fields"] * 1_000})
    assert len(shown.fields) == 200
    assert len(shown.fields[0].value) == 500 and shown.fields[0].value.endswith("…")
    assert len(json.dumps(shown.model_dump(mode="json"))) < 1_000_000
