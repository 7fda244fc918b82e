"""What a client may send, field by field: anything else is refused, in the words in which Gemini refuses it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["INVALID", "Refused", "camel", "check_message", "decoded"]

INVALID = "Request contains an invalid argument."


class Refused(Exception):
    """The connection is closed with this.

    Args:
        reason: it is cut to what a close frame holds.
        code: the close code.
    """

    def __init__(self, reason: str = INVALID, code: int = 1007) -> None:
        super().__init__(reason)
        self.reason = reason.encode()[:123].decode("utf-8", "ignore")
        self.code = code


Rule = Callable[[Any, str], None]


def check_message(message: object) -> tuple[str, dict[str, Any]]:
    """Check a message and give its one field; fields are in camel case then.

    Raises:
        Refused: the message is none.
    """
    if not isinstance(message, Mapping):
        raise Refused("Invalid JSON payload received. Expected an object.")
    read = camel(message)
    _fields(read, "", _MESSAGES)
    if len(read) != 1:
        raise Refused()
    ((kind, content),) = read.items()
    return kind, content


def camel(value: Any) -> Any:
    """Write the names of fields in camel case; the JSON of protocol buffers takes both. Names that are data stay."""
    if isinstance(value, Mapping):
        made = {}
        for name, inner in value.items():
            written = re.sub(r"_(\w)", lambda found: found[1].upper(), name)
            if written in ("response", "args", "default", "example"):
                made[written] = inner
            elif written == "properties" and isinstance(inner, Mapping):
                made[written] = {each: camel(schema) for each, schema in inner.items()}
            else:
                made[written] = camel(inner)
        return made
    return [camel(each) for each in value] if isinstance(value, list) else value


def _fields(value: Any, path: str, known: Mapping[str, Rule]) -> None:
    if not isinstance(value, Mapping):
        raise Refused(f"Invalid value at '{path}'")
    for name, inner in value.items():
        if name not in known:
            where = f" at '{path}'" if path else ""
            raise Refused(f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.')
        known[name](inner, f"{path}.{name}" if path else name)


def _object(**known: Rule) -> Rule:
    return lambda value, path: _fields(value, path, known)


def _list(rule: Rule) -> Rule:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, list):
            raise Refused(f"Invalid value at '{path}'")
        for place, each in enumerate(value):
            rule(each, f"{path}[{place}]")

    return check


def _is(*kinds: type) -> Rule:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise Refused(f"Invalid value at '{path}'")

    return check


def _one_of(*names: str) -> Rule:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, str) or value.upper() not in names:
            raise Refused(f"Invalid value at '{path}' (TYPE_ENUM), \"{value}\"")

    return check


def _long(value: Any, path: str) -> None:
    if not (isinstance(value, int) or (isinstance(value, str) and value.isdecimal())):
        raise Refused(f"Invalid value at '{path}' (TYPE_INT64), {value}")


def _sound(value: Any, path: str) -> None:
    _fields(value, path, {"data": _is(str), "mimeType": _is(str)})
    if not re.fullmatch(r"audio/pcm(;\s*rate=\d+)?", value.get("mimeType", "")):
        raise Refused(f"Unsupported mime type at '{path}'")
    decoded(value.get("data", ""), f"{path}.data")


def decoded(data: str, path: str = "data") -> bytes:
    """Read bytes. Protocol buffers take both alphabets of Base64, and the SDK writes the one for addresses."""
    try:
        return base64.b64decode(data.translate({ord("-"): "+", ord("_"): "/"}), validate=True)
    except (binascii.Error, ValueError):
        raise Refused(f"Invalid value at '{path}' (TYPE_BYTES), Base64 decoding failed") from None


def _anything(value: Any, path: str) -> None:
    """Take any JSON."""


def _schema(value: Any, path: str) -> None:
    _fields(value, path, _SCHEMA)
    kind = str(value.get("type", "")).upper()
    if not kind and "anyOf" not in value:
        raise Refused(f"{path}.type: must be specified")
    if "enum" in value and (kind != "STRING" or "" in value["enum"]):
        raise Refused(f"{path}.enum: only allowed for STRING type, and cannot be empty")
    if kind == "STRING" and value.get("format", "enum") not in ("enum", "date-time"):
        raise Refused(f"{path}.format: only 'enum' and 'date-time' are supported for STRING type")
    if kind == "ARRAY" and "items" not in value:
        raise Refused(f"{path}.items: missing field.")
    if missing := [name for name in value.get("required", []) if name not in value.get("properties", {})]:
        raise Refused(f"{path}.required[0]: property is not defined: {missing[0]}")


def _properties(value: Any, path: str) -> None:
    if not isinstance(value, Mapping):
        raise Refused(f"Invalid value at '{path}'")
    for name, schema in value.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name):
            raise Refused(f"{path}: invalid parameter name {name}")
        _schema(schema, f"{path}[{name}]")


def _function(value: Any, path: str) -> None:
    known = {
        "name": _is(str), "description": _is(str), "parameters": _schema,
        "behavior": _one_of("BLOCKING", "NON_BLOCKING"),
    }  # fmt: skip
    _fields(value, path, known)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}", value.get("name", "")):
        raise Refused(f"{path}.name: Invalid function name.")
    if str(value.get("parameters", {}).get("type", "object")).upper() != "OBJECT":
        raise Refused(f"{path}.parameters.type: parameters are of type OBJECT")


_SCHEMA: dict[str, Rule] = {
    "type": _one_of("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"),
    "format": _is(str), "title": _is(str), "description": _is(str), "nullable": _is(bool), "enum": _list(_is(str)),
    "items": _schema, "properties": _properties, "required": _list(_is(str)), "anyOf": _list(_schema),
    "minItems": _long, "maxItems": _long, "minProperties": _long, "maxProperties": _long, "minLength": _long,
    "maxLength": _long, "pattern": _is(str), "minimum": _is(int, float), "maximum": _is(int, float),
    "default": _anything, "example": _anything, "propertyOrdering": _list(_is(str)),
}  # fmt: skip

_CONTENT = _object(role=_one_of("USER", "MODEL"), parts=_list(_object(text=_is(str))))

_TRANSCRIPTION = _object(languageHints=_object(languageCodes=_list(_is(str))))

_DETECTION = _object(
    disabled=_is(bool),
    startOfSpeechSensitivity=_one_of("START_SENSITIVITY_HIGH", "START_SENSITIVITY_LOW"),
    endOfSpeechSensitivity=_one_of("END_SENSITIVITY_HIGH", "END_SENSITIVITY_LOW"),
    prefixPaddingMs=_is(int),
    silenceDurationMs=_is(int),
)

_SETUP = _object(
    model=_is(str),
    generationConfig=_object(
        responseModalities=_list(_one_of("AUDIO")),
        speechConfig=_object(
            voiceConfig=_object(prebuiltVoiceConfig=_object(voiceName=_is(str))), languageCode=_is(str)
        ),
        temperature=_is(int, float),
        maxOutputTokens=_is(int),
        topP=_is(int, float),
        topK=_is(int, float),
    ),
    systemInstruction=_CONTENT,
    tools=_list(_object(functionDeclarations=_list(_function))),
    realtimeInputConfig=_object(
        automaticActivityDetection=_DETECTION,
        activityHandling=_one_of("START_OF_ACTIVITY_INTERRUPTS", "NO_INTERRUPTION"),
        turnCoverage=_one_of(
            "TURN_INCLUDES_ONLY_ACTIVITY", "TURN_INCLUDES_ALL_INPUT", "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO"
        ),
    ),
    sessionResumption=_object(handle=_is(str), transparent=_is(bool)),
    contextWindowCompression=_object(triggerTokens=_long, slidingWindow=_object(targetTokens=_long)),
    inputAudioTranscription=_TRANSCRIPTION,
    outputAudioTranscription=_TRANSCRIPTION,
    historyConfig=_object(initialHistoryInClientContent=_is(bool)),
)

_MESSAGES: dict[str, Rule] = {
    "setup": _SETUP,
    "clientContent": _object(turns=_list(_CONTENT), turnComplete=_is(bool)),
    "realtimeInput": _object(
        audio=_sound, text=_is(str), activityStart=_object(), activityEnd=_object(), audioStreamEnd=_is(bool)
    ),
    "toolResponse": _object(functionResponses=_list(_object(id=_is(str), name=_is(str), response=_is(dict)))),
}
