"""Sessions as they are written, and voices as they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipelines.realtime.base import AdvertisedTool, SessionSetup, TurnDetection
from pipelines.realtime.openai import wire
from pipelines.realtime.openai.options import (
    UNSET,
    OpenAIOptions,
    RetentionRatio,
    SemanticVad,
    ServerVad,
    Transcription,
)
from tests.realtime.openai.desk import PLAIN
from tests.realtime.openai_service.schema import SESSION, check


def _hearing(options: OpenAIOptions, setup: SessionSetup = PLAIN) -> dict[str, Any]:
    written = wire.session(setup, options)
    check(written, SESSION, "session")
    hearing = written["audio"]["input"]
    assert isinstance(hearing, dict)
    return hearing


def test_a_session_has_everything_the_service_requires() -> None:
    tool = AdvertisedTool(name="book", description="Book.", parameters={"$ref": "#/$defs/Trip", "$defs": {}})
    setup = SessionSetup(instructions="Be brief.", tools=(tool,), voice="marin")
    written = wire.session(setup, OpenAIOptions())
    check(written, SESSION, "session")
    pcm = {"type": "audio/pcm", "rate": 24_000}
    assert written == {
        "type": "realtime",
        "output_modalities": ["audio"],
        "instructions": "Be brief.",
        "tools": [
            {"type": "function", "name": "book", "description": "Book.", "parameters": dict(tool.parameters)},
        ],
        "audio": {
            "input": {
                "format": pcm,
                "transcription": {"model": "gpt-4o-mini-transcribe"},
                "turn_detection": {"type": "semantic_vad"},
            },
            "output": {"format": pcm, "voice": "marin"},
        },
    }


@pytest.mark.parametrize(
    ("option", "written"),
    [
        (None, None),
        (SemanticVad(), {"type": "semantic_vad"}),
        (SemanticVad(eagerness="low"), {"type": "semantic_vad", "eagerness": "low"}),
        (ServerVad(), {"type": "server_vad"}),
        (ServerVad(idle_timeout_ms=None), {"type": "server_vad", "idle_timeout_ms": None}),
        (
            ServerVad(silence_duration_ms=450, prefix_padding_ms=300, create_response=False, threshold=0),
            {
                "type": "server_vad",
                "silence_duration_ms": 450,
                "prefix_padding_ms": 300,
                "create_response": False,
                "threshold": 0,
            },
        ),
    ],
)
def test_turn_detection_is_written_as_chosen_and_null_is_null(option: Any, written: Any) -> None:
    assert _hearing(OpenAIOptions(turn_detection=option))["turn_detection"] == written


def test_what_is_unset_is_not_written() -> None:
    unset = OpenAIOptions(turn_detection=UNSET, transcription=UNSET)
    assert set(_hearing(unset)) == {"format"}
    assert not {"truncation", "max_output_tokens"} & set(wire.session(PLAIN, unset))
    assert set(wire.session(PLAIN, unset)["audio"]["output"]) == {"format"}


def test_what_is_none_is_written_as_null() -> None:
    hearing = _hearing(OpenAIOptions(turn_detection=None, transcription=None, noise_reduction=None))
    assert (hearing["turn_detection"], hearing["transcription"], hearing["noise_reduction"]) == (None, None, None)


def test_with_turns_of_ours_the_provider_takes_none_whatever_the_option() -> None:
    ours = SessionSetup(instructions="", turn_detection=TurnDetection.OURS)
    for option in (UNSET, SemanticVad(), ServerVad(), None):
        assert _hearing(OpenAIOptions(turn_detection=option), ours)["turn_detection"] is None


@pytest.mark.parametrize(
    ("truncation", "written"),
    [
        ("auto", "auto"),
        ("disabled", "disabled"),
        (RetentionRatio(retention_ratio=0.8), {"type": "retention_ratio", "retention_ratio": 0.8}),
        (
            RetentionRatio(retention_ratio=0.5, post_instructions_tokens=5_000),
            {"type": "retention_ratio", "retention_ratio": 0.5, "token_limits": {"post_instructions": 5_000}},
        ),
    ],
)
def test_truncation_is_written_as_chosen(truncation: Any, written: Any) -> None:
    assert wire.session(PLAIN, OpenAIOptions(truncation=truncation))["truncation"] == written


def test_the_rest_is_written_as_chosen() -> None:
    options = OpenAIOptions(
        transcription=Transcription(model="whisper-1", language="de"),
        noise_reduction="far_field",
        speed=1.2,
        max_output_tokens=500,
    )
    written = wire.session(PLAIN, options)
    assert written["audio"]["input"]["transcription"] == {"model": "whisper-1", "language": "de"}
    assert written["audio"]["input"]["noise_reduction"] == {"type": "far_field"}
    assert (written["audio"]["output"]["speed"], written["max_output_tokens"]) == (1.2, 500)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ServerVad(threshold=1.1),
        lambda: ServerVad(silence_duration_ms=-1),
        lambda: ServerVad(idle_timeout_ms=-5),
        lambda: RetentionRatio(retention_ratio=-0.1),
        lambda: RetentionRatio(retention_ratio=1, post_instructions_tokens=0),
        lambda: OpenAIOptions(speed=2),
        lambda: OpenAIOptions(max_output_tokens=5_000),
    ],
)
def test_what_the_service_would_refuse_cannot_be_chosen(wrong: Any) -> None:
    with pytest.raises(ValueError, match="got"):
        wrong()


def test_a_voice_survives_the_wire() -> None:
    voice = np.array([0, 1, -1, 32_767, -32_768], np.int16)
    (frame,) = wire.append(voice)
    message = wire.read(frame)
    assert message is not None
    read = wire.decode_audio(message["audio"])
    assert read is not None and read.tolist() == voice.tolist()
    assert list(wire.append(voice[:0])) == []


@pytest.mark.parametrize("junk", ["!!", "AAA", "ä", "AAAA\n"])
def test_a_voice_that_is_none_is_passed_over(junk: str) -> None:
    assert wire.decode_audio(junk) is None


def test_half_a_sample_is_dropped() -> None:
    read = wire.decode_audio("AQAC")
    assert read is not None and read.tolist() == [1]
