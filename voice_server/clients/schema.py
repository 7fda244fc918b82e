"""The JSON Schema of what clients are told and may say: one document, from which the page's types are generated.

Above: ``voice-server schema`` prints it. Below: ``events`` and ``commands`` are what it describes.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from voice_server.clients.commands import Command
from voice_server.clients.events import EVENTS, VERSION, ClientEvent

__all__ = ["clients_schema"]

_Described: TypeAlias = tuple[type[BaseModel], Literal["serialization", "validation"]]


def clients_schema() -> dict[str, Any]:
    """Describe every event, in its envelope, and every command.

    Returns:
        A JSON Schema (2020-12). ``Event`` and ``Command`` among its ``$defs`` are the two unions; ``CallReady`` travels
        as a ``CallReadyEvent``. Events may have fields that are not described: within a version they are only added.
        Commands may not.
    """
    commands: tuple[type[BaseModel], ...] = get_args(get_args(Command)[0])
    told: list[_Described] = [(event, "serialization") for event in EVENTS]
    said: list[_Described] = [(command, "validation") for command in commands]
    _, described = models_json_schema([*told, *said])
    definitions = described["$defs"]
    for event in EVENTS:
        definitions[event.__name__].pop("additionalProperties")
        definitions[f"{event.__name__}Event"] = _envelope(event)
    for definition in definitions.values():
        _trim(definition)
    definitions["Event"] = _union("What a client is told.", [f"{event.__name__}Event" for event in EVENTS])
    definitions["Command"] = _union("What a client says.", [command.__name__ for command in commands])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Message",
        "description": "A text message between the server and a client, in either direction.",
        "anyOf": [_ref("Event"), _ref("Command")],
        "$defs": dict(sorted(definitions.items())),
    }


def _envelope(event: type[ClientEvent]) -> dict[str, Any]:
    numbered = {"type": "integer", "minimum": 1, "description": "ascending within a call"}
    passing = {"type": "null", "description": "it is not sent again to a client that comes back"}
    properties = {
        "v": {"const": VERSION},
        "seq": numbered if event.kept else passing,
        "call": {"type": "string"},
        "t_ms": {"type": "integer", "minimum": 0, "description": "milliseconds since the call began"},
        "type": {"const": event.type},
        "data": _ref(event.__name__),
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _union(description: str, names: list[str]) -> dict[str, Any]:
    return {"description": description, "oneOf": [_ref(name) for name in names]}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _trim(definition: dict[str, Any]) -> None:
    """Drop what says nothing: titles made of names, of which generators would make types, and null for "left out"."""
    definition.pop("title", None)
    for described in definition.get("properties", {}).values():
        described.pop("title", None)
        if described.get("default", ...) is None:
            del described["default"]
