"""The messages of OpenAI's Realtime API: what we send, and how what comes is read without trusting its shape.

Above: ``protocol``. Sources: the types of OpenAI's SDK 3.57 (``types/realtime``).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.realtime.base import AdvertisedTool, SessionSetup, TurnDetection
from pipelines.realtime.openai.options import (
    UNSET,
    OpenAIOptions,
    RetentionRatio,
    SemanticVad,
    ServerVad,
    Transcription,
    TruncationOption,
    Unset,
)

__all__ = [
    "RATE",
    "WORDS_LIMIT",
    "Message",
    "append",
    "decode_audio",
    "in_words",
    "mapping",
    "message_item",
    "number",
    "read",
    "session",
    "text",
    "turn_detection",
    "write_tools",
]

Message: TypeAlias = dict[str, Any]

RATE = 24_000
"""Hertz, both ways: the only rate of the format ``audio/pcm``."""

APPEND_LIMIT = 5 * RATE
"""Samples in one append, 320 kB on the wire: it takes 15 MiB, and short ones let others through in between."""

WORDS_LIMIT = 300
"""Characters of a provider's words that are passed on."""

_SECRET = re.compile(r"\b(?:sk|ek)[-_][\w*.-]{6,}")
_FORMAT = {"type": "audio/pcm", "rate": RATE}


def session(setup: SessionSetup, options: OpenAIOptions) -> Message:
    """Write a session: everything that is set, and nothing that is not."""
    hearing: Message = {"format": _FORMAT}
    if options.transcription is not UNSET:
        hearing["transcription"] = _transcription(options.transcription)
    if options.noise_reduction is not UNSET:
        hearing["noise_reduction"] = options.noise_reduction and {"type": options.noise_reduction}
    if (detection := turn_detection(setup, options)) is not UNSET:
        hearing["turn_detection"] = _detection(detection)
    speaking: Message = {"format": _FORMAT}
    if setup.voice is not None:
        speaking["voice"] = setup.voice
    if options.speed is not UNSET:
        speaking["speed"] = options.speed
    made: Message = {
        "type": "realtime",
        "output_modalities": ["audio"],
        "instructions": setup.instructions,
        "tools": write_tools(setup.tools),
        "audio": {"input": hearing, "output": speaking},
    }
    if options.truncation is not UNSET:
        made["truncation"] = _truncation(options.truncation)
    if options.max_output_tokens is not UNSET:
        made["max_output_tokens"] = options.max_output_tokens
    return made


def turn_detection(setup: SessionSetup, options: OpenAIOptions) -> ServerVad | SemanticVad | Unset | None:
    """Say who takes turns in a session: ``None`` when we do."""
    return None if setup.turn_detection is TurnDetection.OURS else options.turn_detection


def write_tools(tools: tuple[AdvertisedTool, ...]) -> list[Message]:
    """Write tools; schemas go as they are, ``$ref`` included."""
    return [
        {"type": "function", "name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
        for tool in tools
    ]


def message_item(item: str, role: str, words: str) -> Message:
    """Write a message; an agent's is what it said, anybody else's is what it is told."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"id": item, "type": "message", "role": role, "content": [{"type": kind, "text": words}]}


def append(samples: Samples) -> Iterator[str]:
    """Write the caller's voice. By hand: it is most of what is sent, and needs no escaping."""
    for start in range(0, len(samples), APPEND_LIMIT):
        voice = base64.b64encode(samples[start : start + APPEND_LIMIT].astype("<i2", copy=False).tobytes())
        yield f'{{"type":"input_audio_buffer.append","audio":"{voice.decode("ascii")}"}}'


def decode_audio(encoded: str) -> Samples | None:
    """Read an answer's voice; ``None`` when it is not what was agreed on. Half a sample at the end is dropped."""
    try:
        sound = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
    return np.frombuffer(sound, "<i2", count=len(sound) // 2).astype(np.int16, copy=False)


def read(data: bytes | str) -> Message | None:
    """Read a message; ``None`` when it is none."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def text(message: object, *path: str) -> str:
    """Find a text in a message; empty when there is none."""
    found = _at(message, path)
    return found if isinstance(found, str) else ""


def number(message: object, *path: str) -> int:
    """Find a count in a message; 0 when there is none."""
    found = _at(message, path)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else 0


def mapping(message: object, *path: str) -> Message:
    """Find an object in a message; empty when there is none."""
    found = _at(message, path)
    return found if isinstance(found, dict) else {}


def in_words(said: str) -> str:
    """Make a provider's words fit to be passed on: in one line, not long, and without a key."""
    words = " ".join(_SECRET.sub("[key]", said).split())
    return words if len(words) <= WORDS_LIMIT else words[: WORDS_LIMIT - 1] + "…"


def _at(message: object, path: tuple[str, ...]) -> object:
    for name in path:
        if not isinstance(message, Mapping):
            return None
        message = message.get(name)
    return message


def _detection(detection: ServerVad | SemanticVad | Unset | None) -> Message | None:
    match detection:
        case ServerVad():
            idle = detection.idle_timeout_ms
            return {
                "type": "server_vad",
                **_given(
                    threshold=detection.threshold,
                    prefix_padding_ms=detection.prefix_padding_ms,
                    silence_duration_ms=detection.silence_duration_ms,
                    create_response=detection.create_response,
                    interrupt_response=detection.interrupt_response,
                ),
                **({} if idle is UNSET else {"idle_timeout_ms": idle}),
            }
        case SemanticVad():
            return {
                "type": "semantic_vad",
                **_given(
                    eagerness=detection.eagerness,
                    create_response=detection.create_response,
                    interrupt_response=detection.interrupt_response,
                ),
            }
        case _:
            return None


def _truncation(truncation: TruncationOption | Unset) -> object:
    if not isinstance(truncation, RetentionRatio):
        return truncation
    limit = truncation.post_instructions_tokens
    return {
        "type": "retention_ratio",
        "retention_ratio": truncation.retention_ratio,
        **({} if limit is None else {"token_limits": {"post_instructions": limit}}),
    }


def _transcription(transcription: Transcription | Unset | None) -> Message | None:
    if not isinstance(transcription, Transcription):
        return None
    return _given(model=transcription.model, language=transcription.language, prompt=transcription.prompt)


def _given(**fields: Any) -> Message:
    # The service refuses null where a boolean or a number is expected.
    return {name: value for name, value in fields.items() if value is not None}
