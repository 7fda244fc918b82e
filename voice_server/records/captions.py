"""Captions: who said what when, of a call, as WebVTT and as JSON. Of the agent only what was heard.

Above: ``scribe`` writes them. Below: the trace, whose times are the ledger's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum

from pipelines.trace import Trace
from voice_server.records.journal import Heading

__all__ = ["Caption", "Speaker", "captions", "to_json", "to_vtt"]

_SHORTEST_S = 0.001
"""A caption has to end after it begins."""


class Speaker(StrEnum):
    """Whose words they are."""

    CALLER = "caller"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """A turn of the caller's, or as much of a sentence of the agent's as was heard."""

    start_s: float
    """Seconds since the call began; so is the next."""
    end_s: float
    speaker: Speaker
    text: str
    """Without line breaks; never empty."""
    interrupted: bool = False
    """Whether more would have followed: the agent was cut here."""


def captions(trace: Trace) -> list[Caption]:
    """Caption a call, by the time each caption begins."""
    spoken = sorted(trace.sentences, key=lambda sentence: sentence.start_ms)
    found = [
        _caption(one.start_ms, one.end_ms, Speaker.AGENT, one.heard, interrupted=one.heard != one.text)
        for one in spoken
        if one.heard.strip()
    ]
    found += [_caption(one.start_ms, one.end_ms, Speaker.CALLER, one.text) for one in trace.said if one.text.strip()]
    return sorted(found, key=lambda caption: caption.start_s)


def to_json(heading: Heading, found: Iterable[Caption]) -> str:
    """Write them as one JSON object; fields may be added within ``v``."""
    content = {
        "v": 1,
        "conversation": heading.conversation,
        "began_at": heading.began_at.isoformat(),
        "captions": [asdict(caption) for caption in found],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def to_vtt(found: Iterable[Caption]) -> str:
    """Write them as WebVTT with a voice span each."""
    parts = ["WEBVTT\n"]
    for caption in found:
        voice = caption.speaker.capitalize()
        dash = "—" if caption.interrupted else ""
        times = f"{_time(caption.start_s)} --> {_time(caption.end_s)}"
        parts.append(f"{times}\n<v {voice}>{_escaped(caption.text)}{dash}\n")
    return "\n".join(parts)


def _caption(start_ms: float, end_ms: float, speaker: Speaker, text: str, *, interrupted: bool = False) -> Caption:
    start_s = round(start_ms / 1000, 3)
    return Caption(
        start_s=start_s,
        end_s=round(max(end_ms / 1000, start_s + _SHORTEST_S), 3),
        speaker=speaker,
        text=" ".join(text.split()),
        interrupted=interrupted,
    )


def _time(seconds: float) -> str:
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}.{ms % 1000:03}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
