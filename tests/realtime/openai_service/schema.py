"""The shapes that the service accepts; the names and values are those of the SDK's types (``types/realtime``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.realtime.openai_service.refused import Refused

__all__ = ["EVENTS", "ITEM", "RESPONSE", "SESSION", "check", "required"]


class Nullable:
    def __init__(self, shape: Any) -> None:
        self.shape = shape


class OneOf:
    def __init__(self, *values: str) -> None:
        self.values = values


class ByType:
    """An object whose ``type`` says which it is."""

    def __init__(self, **shapes: Mapping[str, Any]) -> None:
        self.shapes = shapes


class Between:
    def __init__(self, least: float, most: float, *, or_text: str | None = None) -> None:
        self.least, self.most, self.or_text = least, most, or_text


class Anything:
    pass


_FORMAT = {"type": OneOf("audio/pcm", "audio/pcmu", "audio/pcma"), "rate": Between(24_000, 24_000)}
_TURNS = {"create_response": bool, "interrupt_response": bool}
_MILLISECONDS = Between(0, 600_000)

SESSION: Mapping[str, Any] = {
    "type": OneOf("realtime"),
    "model": str,
    "instructions": str,
    "output_modalities": list,
    "tools": list,
    "tool_choice": Anything(),
    "parallel_tool_calls": bool,
    "max_output_tokens": Between(1, 4096, or_text="inf"),
    "truncation": Anything(),
    "prompt": Nullable(dict),
    "include": Nullable(list),
    "tracing": Anything(),
    "reasoning": dict,
    "audio": {
        "input": {
            "format": _FORMAT,
            "noise_reduction": Nullable({"type": OneOf("near_field", "far_field")}),
            "transcription": Nullable({"model": str, "language": str, "prompt": str}),
            "turn_detection": Nullable(
                ByType(
                    server_vad={
                        "threshold": Between(0, 1),
                        "prefix_padding_ms": _MILLISECONDS,
                        "silence_duration_ms": _MILLISECONDS,
                        "idle_timeout_ms": Nullable(_MILLISECONDS),
                        **_TURNS,
                    },
                    semantic_vad={"eagerness": OneOf("low", "medium", "high", "auto"), **_TURNS},
                )
            ),
        },
        "output": {"format": _FORMAT, "voice": str, "speed": Between(0.25, 1.5)},
    },
}

_CONTENT = {"type": str, "text": str, "audio": str, "transcript": str, "image_url": str, "detail": str}

ITEM = ByType(
    message={"id": str, "object": str, "status": str, "role": OneOf("user", "assistant", "system"), "content": list},
    function_call={"id": str, "object": str, "status": str, "call_id": str, "name": str, "arguments": str},
    function_call_output={"id": str, "object": str, "status": str, "call_id": str, "output": str},
)

RESPONSE: Mapping[str, Any] = {
    "metadata": Nullable(dict),
    "instructions": str,
    "output_modalities": list,
    "tools": list,
    "tool_choice": Anything(),
    "max_output_tokens": Between(1, 4096, or_text="inf"),
}

EVENTS: Mapping[str, Mapping[str, Any]] = {
    "session.update": {"session": dict},
    "input_audio_buffer.append": {"audio": str},
    "input_audio_buffer.commit": {},
    "input_audio_buffer.clear": {},
    "conversation.item.create": {"item": dict, "previous_item_id": Nullable(str)},
    "conversation.item.truncate": {"item_id": str, "content_index": int, "audio_end_ms": int},
    "conversation.item.delete": {"item_id": str},
    "conversation.item.retrieve": {"item_id": str},
    "response.create": {"response": RESPONSE},
    "response.cancel": {"response_id": str},
}
"""The fields of each event, beside ``type`` and ``event_id``. Those of WebRTC and SIP are not for a WebSocket."""

_NAMES = {bool: "a boolean", str: "a string", int: "an integer", dict: "an object", list: "an array"}


def required(message: Mapping[str, Any], *names: str, path: str = "") -> None:
    """Refuse a message that lacks a field."""
    for name in names:
        if name not in message:
            raise Refused("missing_required_parameter", f"Missing required parameter: '{path}{name}'.", f"{path}{name}")


def check(value: Any, shape: Any, path: str) -> None:
    """Refuse a value that has not the shape it must have, at ``path``."""
    match shape:
        case Nullable():
            if value is not None:
                check(value, shape.shape, path)
        case Anything():
            pass
        case OneOf():
            _typed(value, str, path)
            if value not in shape.values:
                raise _unsupported(value, shape.values, path)
        case Between():
            _between(value, shape, path)
        case ByType():
            _typed(value, dict, path)
            required(value, "type", path=f"{path}.")
            if value["type"] not in shape.shapes:
                raise _unsupported(value["type"], tuple(shape.shapes), f"{path}.type")
            check(value, {"type": str, **shape.shapes[value["type"]]}, path)
        case Mapping():
            _typed(value, dict, path)
            for name, part in value.items():
                if name not in shape:
                    raise Refused("unknown_parameter", f"Unknown parameter: '{path}.{name}'.", f"{path}.{name}")
                check(part, shape[name], f"{path}.{name}")
        case _:
            _typed(value, shape, path)


def _typed(value: Any, kind: type, path: str) -> None:
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise _mistyped(value, _NAMES[kind], path)


def _between(value: Any, shape: Between, path: str) -> None:
    if value == shape.or_text:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _mistyped(value, "a number", path)
    if not shape.least <= value <= shape.most:
        raise Refused("invalid_value", f"Invalid '{path}': {value} is not from {shape.least} to {shape.most}.", path)


def _mistyped(value: Any, expected: str, path: str) -> Refused:
    got = "null" if value is None else _NAMES.get(type(value), "a number")
    return Refused("invalid_type", f"Invalid type for '{path}': expected {expected}, but got {got} instead.", path)


def _unsupported(value: Any, values: tuple[str, ...], path: str) -> Refused:
    known = ", ".join(f"'{one}'" for one in values)
    return Refused("invalid_value", f"Invalid value: '{value}'. Supported values are: {known}.", path)
