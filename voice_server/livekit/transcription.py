"""Transcription: what both sides say, as LiveKit's components show it.

Pure: client events become pieces of text streams. A version of the caller's words is a stream of its own that replaces
the one before, by its segment; the agent's words are one stream that grows as they are heard. Above: ``leg`` sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from voice_server.clients.events import CallerWords, ClientEvent, UtteranceClosed, UtteranceHeard

__all__ = ["FINAL", "SEGMENT", "TOPIC", "TRACK", "Grow", "Piece", "Replace", "Transcription"]

TOPIC = "lk.transcription"
SEGMENT = "lk.segment_id"
TRACK = "lk.transcribed_track_id"
FINAL = "lk.transcription_final"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """All the caller's words of a segment, in a stream of their own."""

    segment: str
    text: str
    final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Grow:
    """More words of the agent's, in their utterance's stream."""

    segment: str
    text: str
    """May be empty when it is the last."""
    final: bool


Piece: TypeAlias = Replace | Grow


class Transcription:
    """One call's.

    Args:
        call: its id: segments of calls in the same room are told apart by it.
    """

    def __init__(self, call: str) -> None:
        self._call = call
        self._grown: dict[int, int] = {}
        """Of each utterance that is being heard, characters sent."""

    def feed(self, event: ClientEvent) -> Piece | None:
        """Say what is to be sent of an event; ``None``: nothing."""
        match event:
            case CallerWords():
                return Replace(segment=f"{self._call}-caller-{event.segment}", text=event.text, final=event.final)
            case UtteranceHeard():
                return self._grow(event.utterance, event.text, final=False)
            case UtteranceClosed():
                return self._grow(event.utterance, event.heard, final=True)
            case _:
                return None

    def _grow(self, utterance: int, heard: str, *, final: bool) -> Grow | None:
        sent = self._grown.get(utterance)
        more = heard[sent or 0 :]
        if final:
            self._grown.pop(utterance, None)
        if sent is None and not more:
            return None
        if not final:
            if not more:
                return None
            self._grown[utterance] = len(heard)
        return Grow(segment=f"{self._call}-agent-{utterance}", text=more, final=final)
