"""How a session is set up, as Gemini reads it: everything that is set, and nothing that is not.

Above: ``adapter`` and ``device_token``. Names are the wire's; the SDK takes them too.
"""

from __future__ import annotations

from typing import Any

from pipelines.realtime.base import AdvertisedTool, SessionSetup, TurnDetection
from pipelines.realtime.gemini.families import Family
from pipelines.realtime.gemini.options import UNSET, ActivityDetection, Compression, GeminiOptions, Unset
from pipelines.realtime.gemini.schema import project
from pipelines.realtime.wording import snapshot_text

__all__ = ["setup_message", "turns_are_ours"]

_COVERAGE = {
    "activity": "TURN_INCLUDES_ONLY_ACTIVITY",
    "all_input": "TURN_INCLUDES_ALL_INPUT",
    "activity_and_video": "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO",
}


def turns_are_ours(setup: SessionSetup, options: GeminiOptions) -> bool:
    """Say whether turns are ours to say, and not the provider's."""
    return setup.turn_detection is TurnDetection.OURS or options.detection is None


def setup_message(setup: SessionSetup, options: GeminiOptions, family: Family, *, handle: str | None) -> dict[str, Any]:
    """Write a session, without its model.

    Args:
        setup: what a call says.
        options: what is chosen beside it.
        family: what the model takes.
        handle: of the session that is resumed.

    Returns:
        The fields of ``types.LiveConnectConfig``.
    """
    instructions = setup.instructions
    if setup.snapshot is not None:
        instructions = f"{instructions}\n\n{snapshot_text(setup.snapshot)}".lstrip()
    made: dict[str, Any] = {
        "responseModalities": ["AUDIO"],
        "outputAudioTranscription": {},
        # Without a handle it is there, too: only then handles are told.
        "sessionResumption": {} if handle is None else {"handle": handle},
    }
    if instructions:
        made["systemInstruction"] = {"role": "user", "parts": [{"text": instructions}]}
    if setup.voice is not None:
        made["speechConfig"] = {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": setup.voice}}}
    if setup.tools:
        made["tools"] = [{"functionDeclarations": [_declared(tool, family) for tool in setup.tools]}]
    if options.transcribes:
        made["inputAudioTranscription"] = {}
    if options.compression is not None:
        made["contextWindowCompression"] = _compression(options.compression)
    if realtime := _realtime(setup, options):
        made["realtimeInputConfig"] = realtime
    if not family.takes_content and setup.past and handle is None:
        made["historyConfig"] = {"initialHistoryInClientContent": True}
    numbers = {"temperature": options.temperature, "maxOutputTokens": options.max_output_tokens}
    return made | {name: value for name, value in numbers.items() if value is not UNSET}


def _declared(tool: AdvertisedTool, family: Family) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": tool.name, "description": tool.description}
    parameters = project(tool.parameters)
    if parameters["properties"]:
        # A function without parameters has none: an object without properties was refused in places.
        declared["parameters"] = parameters
    if family.tool_behavior is not None:
        declared["behavior"] = family.tool_behavior
    return declared


def _compression(compression: Compression) -> dict[str, Any]:
    window = {} if compression.target_tokens is None else {"targetTokens": compression.target_tokens}
    trigger = {} if compression.trigger_tokens is None else {"triggerTokens": compression.trigger_tokens}
    return {"slidingWindow": window, **trigger}


def _realtime(setup: SessionSetup, options: GeminiOptions) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if turns_are_ours(setup, options):
        made["automaticActivityDetection"] = {"disabled": True}
    elif isinstance(options.detection, ActivityDetection):
        made["automaticActivityDetection"] = _detection(options.detection)
    if not isinstance(options.interrupts, Unset):
        made["activityHandling"] = "START_OF_ACTIVITY_INTERRUPTS" if options.interrupts else "NO_INTERRUPTION"
    if not isinstance(options.turn_covers, Unset):
        made["turnCoverage"] = _COVERAGE[options.turn_covers]
    return made


def _detection(detection: ActivityDetection) -> dict[str, Any]:
    start, end = detection.start_sensitivity, detection.end_sensitivity
    fields = {
        "startOfSpeechSensitivity": None if start is None else f"START_SENSITIVITY_{start.upper()}",
        "endOfSpeechSensitivity": None if end is None else f"END_SENSITIVITY_{end.upper()}",
        "prefixPaddingMs": detection.prefix_padding_ms,
        "silenceDurationMs": detection.silence_duration_ms,
    }
    return {name: value for name, value in fields.items() if value is not None}
