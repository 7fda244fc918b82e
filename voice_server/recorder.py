"""The recorder: makes a report and a trace of a call's events.

Above: ``turn`` runs the call. Below: nothing; it only listens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from pipelines.clock import Clock
from pipelines.events import (
    CallerMuted,
    CallEvent,
    EngineTrouble,
    OutputHeld,
    OutputResumed,
    ReplyWorded,
    SentenceRendered,
    SoundIgnored,
    SpeechBegan,
    SpeechOver,
    ToolCalled,
    ToolReturned,
    TranscriptHeard,
    TurnCommitted,
    UtteranceCancelled,
    UtteranceEnded,
    UtteranceHeard,
    UtteranceStarted,
)
from pipelines.trace import MarkKind, Sentence, SpanKind, Trace, Wait
from voice_server import report

__all__ = ["Recorder"]


@dataclass(slots=True)
class _Turn:
    committed: TurnCommitted
    committed_at: float
    worded_at: float | None = None
    sounded_at: float | None = None
    agent: str = ""
    heard: str = ""
    interrupted: bool = False
    tools: dict[str, report.ToolUse] = field(default_factory=dict)


class Recorder:
    """Listens to one call.

    Args:
        clock: the call's.
        trace: is filled as things happen.
        last_played_at: when the output last played a sample, seconds of the call's clock.
    """

    def __init__(self, clock: Clock, trace: Trace, last_played_at: Callable[[], float]) -> None:
        self._clock = clock
        self._trace = trace
        self._last_played_at = last_played_at
        self._began = clock.now()
        self._turns: dict[int, _Turn] = {}
        self._started: dict[int, float] = {}
        self._utterances: list[report.Utterance] = []
        self._events: list[report.CallEvent] = []
        self._held_at: float | None = None
        self._tool_at: dict[str, float] = {}

    def probe(self, ends_at: float, probability: float) -> None:
        """Take a speech probability."""
        self._trace.probabilities.append((self._ms(ends_at), probability))

    def notice(self, event: CallEvent) -> None:
        """Take an event."""
        now = self._clock.now()
        match event:
            case CallerMuted():
                self._happened("muted" if event.muted else "unmuted", {})
            case SpeechBegan() | UtteranceHeard():
                pass
            case SpeechOver():
                if event.confirmed:
                    self._trace.span(SpanKind.SPEECH, self._ms(event.started_at), self._ms(event.ended_at))
            case TranscriptHeard():
                self._trace.mark(MarkKind.FINAL if event.final else MarkKind.PARTIAL, self._ms(now), event.text)
            case SoundIgnored():
                self._happened(event.kind.value, {"text": event.text, **event.measures})
            case OutputHeld():
                self._held_at = now
                self._happened("held", {}, marked=False)
            case OutputResumed():
                self._resumed(now)
            case TurnCommitted():
                self._committed(event, now)
            case ReplyWorded():
                self._turns[event.turn].worded_at = now
            case ToolCalled():
                if event.turn is not None:
                    self._turns[event.turn].tools[event.call_id] = report.ToolUse(name=event.name, input=event.input)
                self._tool_at[event.call_id] = now
            case ToolReturned():
                self._returned(event, now)
            case SentenceRendered():
                self._trace.span(SpanKind.TTS, self._ms(event.asked_at), self._ms(now), event.text.strip())
            case UtteranceStarted():
                self._started[event.utterance] = now
                if event.turn is not None:
                    self._sounded(self._turns[event.turn], now)
            case UtteranceCancelled():
                self._trace.mark(MarkKind.CANCEL, self._ms(now), event.cause.value)
                data = {"utterance": event.utterance, "cause": event.cause.value}
                self._happened("cancelled", data, marked=False)
            case UtteranceEnded():
                self._ended(event, now)
            case EngineTrouble():
                self._happened("engine_trouble", {"engine": event.engine, "reason": event.reason})
            case _:
                assert_never(event)

    def turns(self) -> tuple[report.CallerTurn, ...]:
        """The caller's committed turns, in order."""
        return tuple(self._report(turn) for _, turn in sorted(self._turns.items()))

    def utterances(self) -> tuple[report.Utterance, ...]:
        """What the agent said, in the order of its numbers."""
        return tuple(sorted(self._utterances, key=lambda utterance: utterance.id))

    def events(self) -> tuple[report.CallEvent, ...]:
        """What was neither, in order."""
        return tuple(self._events)

    def _ms(self, at: float) -> float:
        return (at - self._began) * 1000

    def _happened(self, type_: str, data: dict[str, Any], *, marked: bool = True) -> None:
        now = self._ms(self._clock.now())
        self._events.append(report.CallEvent(t_ms=round(now), type=type_, data=data))
        if marked:
            label = f"{type_}: {data['text']}" if data.get("text") else type_
            self._trace.mark(MarkKind.EVENT, now, label)

    def _resumed(self, now: float) -> None:
        if self._held_at is not None:
            self._trace.span(SpanKind.HOLD, self._ms(self._held_at), self._ms(now))
        self._held_at = None
        self._happened("resumed", {}, marked=False)

    def _committed(self, event: TurnCommitted, now: float) -> None:
        self._turns[event.turn] = _Turn(event, now)
        self._trace.mark(MarkKind.COMMIT, self._ms(now), event.text)
        self._trace.span(SpanKind.STT, self._ms(event.ended_at), self._ms(event.heard_at))

    def _returned(self, event: ToolReturned, now: float) -> None:
        if event.turn is not None:
            tools = self._turns[event.turn].tools
            tools[event.call_id] = replace(tools[event.call_id], status=event.status)
        self._trace.span(SpanKind.TOOL, self._ms(self._tool_at.pop(event.call_id)), self._ms(now), event.name)

    def _sounded(self, turn: _Turn, now: float) -> None:
        turn.sounded_at = now
        worded_at = turn.committed_at if turn.worded_at is None else turn.worded_at
        self._trace.span(SpanKind.MODEL, self._ms(turn.committed_at), self._ms(worded_at))
        self._trace.waits.append(
            Wait(
                speech_end_ms=self._ms(turn.committed.ended_at),
                commit_ms=self._ms(turn.committed_at),
                first_text_ms=self._ms(worded_at),
                first_sound_ms=self._ms(now),
            )
        )

    def _ended(self, event: UtteranceEnded, now: float) -> None:
        start = self._started.get(event.utterance, now)
        end = max(start, min(now, self._last_played_at()))
        if event.turn is not None:
            turn = self._turns[event.turn]
            turn.agent, turn.heard, turn.interrupted = event.text, event.heard, event.interrupted
        if not event.text:
            return
        if end > start:
            sentence = Sentence(start_ms=self._ms(start), end_ms=self._ms(end), text=event.text, heard=event.heard)
            self._trace.sentences.append(sentence)
        self._utterances.append(
            report.Utterance(
                id=event.utterance,
                kind=event.kind,
                turn=event.turn,
                text=event.text,
                heard=event.heard,
                interrupted=event.interrupted,
                start_s=round(start - self._began, 3),
                end_s=round(end - self._began, 3),
            )
        )

    def _report(self, turn: _Turn) -> report.CallerTurn:
        committed = turn.committed
        return report.CallerTurn(
            caller=committed.text,
            agent=turn.agent,
            heard=turn.heard,
            interrupted=turn.interrupted,
            tools=tuple(turn.tools.values()),
            latency_ms=report.Latency(
                endpoint=_between(committed.ended_at, turn.committed_at),
                stt=_between(committed.ended_at, committed.heard_at),
                model=_between(turn.committed_at, turn.worded_at),
                tts=_between(turn.worded_at, turn.sounded_at),
                voice_to_voice=_between(committed.ended_at, turn.sounded_at),
            ),
        )


def _between(start: float | None, end: float | None) -> int | None:
    return None if start is None or end is None else round((end - start) * 1000)
