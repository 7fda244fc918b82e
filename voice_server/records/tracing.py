"""Tracing: a call's trace, made of what it tells, for the turn picture and the captions.

Above: ``scribe``, ``opened`` and ``turn`` feed it entries. Below: ``pipelines.trace`` says what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from pipelines.events import (
    CallerMuted,
    CompactionBegan,
    CompactionEnded,
    EngineTrouble,
    OutputHeld,
    OutputResumed,
    ReplyWorded,
    SentenceRendered,
    SoundIgnored,
    SpeechBegan,
    SpeechOver,
    TokensSpent,
    ToolCalled,
    ToolReturned,
    TranscriptHeard,
    TurnCommitted,
    TurnWorded,
    UtteranceCancelled,
    UtteranceEnded,
    UtteranceHeard,
    UtteranceStarted,
)
from pipelines.playout.sentences import SentenceSplitter
from pipelines.trace import MarkKind, Said, Sentence, SpanKind, Trace, Wait
from pipelines.turns.events import NoteKind
from voice_server.records.journal import Entry, FormsStand, GoalsStand

__all__ = ["Tracing"]

_SAID = frozenset({NoteKind.BACKCHANNEL, NoteKind.ASIDE})
"""Sounds that are words of the caller's, though no turn."""


class _Turn:
    """What is still to be known of a committed turn."""

    def __init__(self, event: TurnCommitted, at: float) -> None:
        self.ended_at = min(event.ended_at, at)
        self.committed_at = at
        self.worded_at: float | None = None


class Tracing:
    """Listens to one call.

    Args:
        trace: is filled as things happen; its audio and its probabilities are left to others.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._speech: tuple[float, float] | None = None
        """When the speech that is no turn yet began and ended."""
        self._turns: dict[int, _Turn] = {}
        """Those whose answer does not sound yet."""
        self._heard: dict[int, list[tuple[float, int]]] = {}
        """For each utterance that sounds: when how many characters of it had been heard."""
        self._wordless: dict[int, int] = {}
        """Where turns stand whose words are not there yet."""
        self._held_at: float | None = None
        self._tools: dict[str, float] = {}

    def notice(self, entry: Entry) -> None:
        """Take an entry; in order. One about a turn or a tool that never was is left out."""
        event, at = entry.event, entry.at_s
        match event:
            case SpeechBegan() | GoalsStand() | FormsStand() | TokensSpent():
                pass
            case CallerMuted():
                self._flag(at, "muted" if event.muted else "unmuted")
            case CompactionBegan() | CompactionEnded():
                self._flag(at, event.type)
            case SpeechOver():
                if event.confirmed:
                    self._spoke(event, at)
            case TranscriptHeard():
                self._trace.mark(MarkKind.FINAL if event.final else MarkKind.PARTIAL, at * 1000, event.text)
            case SoundIgnored():
                self._ignored(event, at)
            case OutputHeld():
                self._held_at = at
            case OutputResumed():
                self._released(at)
            case TurnCommitted():
                self._committed(event, at)
            case TurnWorded():
                self._worded(event)
            case ReplyWorded():
                if (turn := self._turns.get(event.turn)) is not None:
                    turn.worded_at = at
            case ToolCalled():
                self._tools[event.call_id] = at
            case ToolReturned():
                if (called_at := self._tools.pop(event.call_id, None)) is not None:
                    self._trace.span(SpanKind.TOOL, called_at * 1000, at * 1000, event.name)
            case SentenceRendered():
                self._trace.span(SpanKind.TTS, min(event.asked_at, at) * 1000, at * 1000, event.text.strip())
            case UtteranceStarted():
                self._started(event, at)
            case UtteranceHeard():
                if (points := self._heard.get(event.utterance)) is not None:
                    points.append((at, len(event.heard)))
            case UtteranceCancelled():
                self._trace.mark(MarkKind.CANCEL, at * 1000, event.cause.value)
            case UtteranceEnded():
                self._ended(event, entry)
            case EngineTrouble():
                self._flag(at, "engine_trouble")
            case _:
                assert_never(event)

    def _flag(self, at: float, label: str, text: str = "") -> None:
        self._trace.mark(MarkKind.EVENT, at * 1000, f"{label}: {text}" if text else label)

    def _spoke(self, event: SpeechOver, at: float) -> None:
        ended_at = min(event.ended_at, at)
        started_at = min(event.started_at, ended_at)
        self._trace.span(SpanKind.SPEECH, started_at * 1000, ended_at * 1000)
        self._speech = (started_at if self._speech is None else self._speech[0], ended_at)

    def _ignored(self, event: SoundIgnored, at: float) -> None:
        self._flag(at, event.kind.value, event.text)
        if event.kind in _SAID and event.text:
            self._said(event.text, at, commit_ms=None)
        self._speech = None

    def _committed(self, event: TurnCommitted, at: float) -> None:
        self._turns[event.turn] = turn = _Turn(event, at)
        if not event.text:
            self._wordless[event.turn] = len(self._trace.said)
        self._said(event.text, turn.ended_at, commit_ms=at * 1000)
        self._speech = None
        heard_at = min(event.heard_at, at)
        self._trace.span(SpanKind.STT, min(turn.ended_at, heard_at) * 1000, heard_at * 1000)

    def _worded(self, event: TurnWorded) -> None:
        """Write the words of a turn where it was said."""
        if (place := self._wordless.get(event.turn)) is not None:
            self._trace.said[place] = replace(self._trace.said[place], text=event.text)

    def _said(self, text: str, at: float, *, commit_ms: float | None) -> None:
        start, end = self._speech or (at, at)
        said = Said(start_ms=start * 1000, end_ms=max(start, end) * 1000, text=text, commit_ms=commit_ms)
        self._trace.said.append(said)

    def _released(self, at: float) -> None:
        if self._held_at is not None:
            self._trace.span(SpanKind.HOLD, self._held_at * 1000, at * 1000)
        self._held_at = None

    def _started(self, event: UtteranceStarted, at: float) -> None:
        self._heard[event.utterance] = [(at, 0)]
        turn = None if event.turn is None else self._turns.pop(event.turn, None)
        if turn is None:
            return
        worded_at = turn.committed_at if turn.worded_at is None else turn.worded_at
        self._trace.span(SpanKind.MODEL, turn.committed_at * 1000, worded_at * 1000)
        self._trace.waits.append(
            Wait(
                speech_end_ms=turn.ended_at * 1000,
                commit_ms=turn.committed_at * 1000,
                first_text_ms=worded_at * 1000,
                first_sound_ms=at * 1000,
            )
        )

    def _ended(self, event: UtteranceEnded, entry: Entry) -> None:
        points = self._heard.pop(event.utterance, None)
        if points is None or not event.text:
            return
        end = entry.sounded_until(points[0][0])
        if end > points[0][0]:
            self._trace.sentences.extend(_sentences(event.text, event.heard, [*points, (end, len(event.heard))]))


def _sentences(text: str, heard: str, points: list[tuple[float, int]]) -> Iterator[Sentence]:
    """Cut an utterance into its sentences as they were heard; what was not heard belongs to the last.

    Args:
        text: all of it.
        heard: a prefix of it.
        points: when how much of it had been heard, from nothing to all of ``heard``.
    """
    splitter = SentenceSplitter(first_clause=None)
    ends = [piece.end for piece in (*splitter.feed(heard), *splitter.flush())][:-1]
    start, began_at = 0, points[0][0]
    for end in (*ends, len(heard)):
        last = end == len(heard)
        at = points[-1][0] if last else min(max(began_at, _heard_at(end, points)), points[-1][0])
        yield Sentence(
            start_ms=began_at * 1000,
            end_ms=at * 1000,
            text=text[start:].strip() if last else text[start:end].strip(),
            heard=heard[start:end].strip(),
        )
        start, began_at = end, at


def _heard_at(end: int, points: list[tuple[float, int]]) -> float:
    """Say when a text had been heard up to an offset, the white space before it aside."""
    return next(at for at, heard in points if heard >= end - 1)
