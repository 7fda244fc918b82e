import json
from typing import Any

import pytest

from voice_server.cli import main
from voice_server.clients.commands import parse_command
from voice_server.clients.events import EVENTS
from voice_server.clients.schema import clients_schema

SCHEMA = clients_schema()


def _reached(schema: Any) -> set[str]:
    """Collect all definitions that are referred to anywhere in a schema."""
    if isinstance(schema, dict):
        named = {schema["$ref"].removeprefix("#/$defs/")} if "$ref" in schema else set()
        return named.union(*(_reached(value) for value in schema.values()))
    return set().union(*(_reached(value) for value in schema)) if isinstance(schema, list) else set()


def test_every_event_travels_in_an_envelope() -> None:
    types = {event.type for event in EVENTS}
    union = [SCHEMA["$defs"][ref["$ref"].rpartition("/")[2]] for ref in SCHEMA["$defs"]["Event"]["oneOf"]]
    assert {envelope["properties"]["type"]["const"] for envelope in union} == types
    assert all(set(envelope["required"]) == {"v", "seq", "call", "t_ms", "type", "data"} for envelope in union)


def test_events_may_grow_and_commands_may_not() -> None:
    assert not [event for event in EVENTS if "additionalProperties" in SCHEMA["$defs"][event.__name__]]
    commands = [ref["$ref"].rpartition("/")[2] for ref in SCHEMA["$defs"]["Command"]["oneOf"]]
    assert all(SCHEMA["$defs"][command]["additionalProperties"] is False for command in commands)


def test_every_command_of_the_schema_is_understood() -> None:
    samples = {"epoch": 0, "ms": 0, "slot": "slot_1", "text": "Hi."}
    for ref in SCHEMA["$defs"]["Command"]["oneOf"]:
        command = SCHEMA["$defs"][ref["$ref"].rpartition("/")[2]]
        said = {name: samples[name] for name in command.get("required", ())}
        assert parse_command(json.dumps({"type": command["properties"]["type"]["const"], **said}))


def test_no_reference_leads_nowhere_and_nothing_lies_about() -> None:
    assert _reached(SCHEMA) == set(SCHEMA["$defs"])


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
