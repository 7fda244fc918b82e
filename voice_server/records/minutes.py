"""The minutes: a call's report, kept as things happen.

Above: ``scribe``, ``opened`` and ``turn`` feed it entries. Below: nothing; ``report`` says what comes out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, assert_never

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
from voice_server.records.journal import Entry, FormsStand, GoalsStand, Heading
from voice_server.report import Audio, CallerTurn, CallEvent, Latency, ToolUse, TurnReport, Utterance

__all__ = ["Minutes"]


@dataclass(slots=True)
class _Turn:
    committed: TurnCommitted
    committed_at: float
    worded_at: float | None = None
    sounded_at: float | None = None
    agent: str = ""
    heard: str = ""
    interrupted: bool = False
    tools: dict[str, ToolUse] = field(default_factory=dict)


class Minutes:
    """Listens to one call.

    Args:
        heading: of the call.
    """

    def __init__(self, heading: Heading) -> None:
        self._heading = heading
        self._turns: dict[int, _Turn] = {}
        self._started: dict[int, float] = {}
        self._utterances: list[Utterance] = []
        self._events: list[CallEvent] = []
        self._goals: dict[str, Any] | None = None
        self._forms: tuple[dict[str, Any], ...] = ()

    def notice(self, entry: Entry) -> None:
        """Take an entry; in order. One about a turn that was never committed is left out."""
        event, at = entry.event, entry.at_s
        match event:
            case SpeechBegan() | SpeechOver() | TranscriptHeard() | SentenceRendered() | UtteranceHeard():
                pass
            case TokensSpent():
                spent = {name: value for name, value in asdict(event).items() if value}
                self._happened(at, event.type, {**spent, "turn": event.turn})
            case CallerMuted():
                self._happened(at, "muted" if event.muted else "unmuted")
            case CompactionBegan() | CompactionEnded():
                self._happened(at, event.type)
            case SoundIgnored():
                self._happened(at, event.kind.value, {"text": event.text, **event.measures})
            case OutputHeld():
                self._happened(at, "held")
            case OutputResumed():
                self._happened(at, "resumed")
            case TurnCommitted():
                self._turns[event.turn] = _Turn(event, at)
            case TurnWorded():
                if (turn := self._turns.get(event.turn)) is not None:
                    turn.committed = replace(turn.committed, text=event.text, heard_at=event.heard_at)
            case ReplyWorded():
                if (turn := self._turns.get(event.turn)) is not None:
                    turn.worded_at = at
            case ToolCalled():
                if (turn := self._turn(event.turn)) is not None:
                    turn.tools[event.call_id] = ToolUse(name=event.name, input=event.input)
            case ToolReturned():
                if (turn := self._turn(event.turn)) is not None and event.call_id in turn.tools:
                    turn.tools[event.call_id] = replace(turn.tools[event.call_id], status=event.status)
            case UtteranceStarted():
                self._started[event.utterance] = at
                if (turn := self._turn(event.turn)) is not None:
                    turn.sounded_at = at
            case UtteranceCancelled():
                self._happened(at, "cancelled", {"utterance": event.utterance, "cause": event.cause.value})
            case UtteranceEnded():
                self._ended(event, entry)
            case GoalsStand():
                self._goals = event.program
            case FormsStand():
                self._forms = event.forms
            case EngineTrouble():
                self._happened(at, "engine_trouble", {"engine": event.engine, "reason": event.reason})
            case _:
                assert_never(event)

    def report(self, audio: Audio | None = None) -> TurnReport:
        """Give what happened so far.

        Args:
            audio: where the agent's side is, if it is anywhere.
        """
        heading = self._heading
        return TurnReport(
            conversation=heading.conversation,
            pipeline=heading.pipeline,
            agent=heading.agent,
            stt=heading.stt,
            tts=heading.tts,
            model=heading.model,
            turns=tuple(_report(turn) for _, turn in sorted(self._turns.items())),
            utterances=tuple(sorted(self._utterances, key=lambda utterance: utterance.id)),
            events=tuple(self._events),
            goals=self._goals,
            forms=self._forms,
            audio=audio or Audio(),
        )

    def _turn(self, number: int | None) -> _Turn | None:
        return None if number is None else self._turns.get(number)

    def _happened(self, at: float, type_: str, data: dict[str, Any] | None = None) -> None:
        self._events.append(CallEvent(t_ms=round(at * 1000), type=type_, data=data or {}))

    def _ended(self, event: UtteranceEnded, entry: Entry) -> None:
        start = self._started.pop(event.utterance, entry.at_s)
        if (turn := self._turn(event.turn)) is not None:
            turn.agent, turn.heard, turn.interrupted = event.text, event.heard, event.interrupted
        if event.text:
            self._utterances.append(
                Utterance(
                    id=event.utterance,
                    kind=event.kind,
                    turn=event.turn,
                    text=event.text,
                    heard=event.heard,
                    interrupted=event.interrupted,
                    start_s=round(start, 3),
                    end_s=round(entry.sounded_until(start), 3),
                )
            )


def _report(turn: _Turn) -> CallerTurn:
    committed = turn.committed
    return CallerTurn(
        caller=committed.text,
        agent=turn.agent,
        heard=turn.heard,
        interrupted=turn.interrupted,
        tools=tuple(turn.tools.values()),
        latency_ms=Latency(
            endpoint=_between(committed.ended_at, turn.committed_at),
            stt=_between(committed.ended_at, committed.heard_at),
            model=_between(turn.committed_at, turn.worded_at),
            tts=_between(turn.worded_at, turn.sounded_at),
            voice_to_voice=_between(committed.ended_at, turn.sounded_at),
        ),
    )


def _between(start: float | None, end: float | None) -> int | None:
    return None if start is None or end is None else round((end - start) * 1000)
