"""Telling: what happens in a call becomes what its clients are told.

Pure: it is fed a call's events with their times. Above: ``live`` sends what comes out. Below: ``pipelines.events`` are
read, ``events`` are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from agents.display import Slot
from pipelines.events import (
    CallerMuted,
    CallEvent,
    CompactionBegan,
    CompactionEnded,
    EngineTrouble,
    ReplyWorded,
    SoundIgnored,
    SpeechBegan,
    SpeechOver,
    ToolCalled,
    ToolReturned,
    TranscriptHeard,
    TurnCommitted,
    TurnWorded,
    UtteranceEnded,
    UtteranceHeard,
    UtteranceStarted,
)
from voice_server.clients import events
from voice_server.clients.events import AgentState, AgentStateChanged, ClientEvent, ScreenShown, SlotShown, TurnTimed

__all__ = ["Telling", "screen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Committed:
    """A turn whose answer has not sounded yet."""

    turn: TurnCommitted
    committed: float
    first_text: float | None = None


class Telling:
    """One call's translator.

    Args:
        t_ms: turns seconds of the call's clock into milliseconds since the call began.
    """

    def __init__(self, t_ms: Callable[[float], int]) -> None:
        self.state = AgentState.INITIALIZING
        """What the agent is at."""
        self._t_ms = t_ms
        self._awaited: dict[int, _Committed] = {}
        """By utterance."""
        self._sounding: set[int] = set()

    def begin(self) -> list[ClientEvent]:
        """The call listens from now on."""
        return self._change(AgentState.LISTENING)

    def feed(self, event: CallEvent, now: float) -> list[ClientEvent]:
        """Say what clients are told of an event; most are told as they are, some are of no interest to them."""
        match event:
            case TurnCommitted():
                self._awaited[event.utterance] = _Committed(turn=event, committed=now)
                return [events.CallerTurn(turn=event.turn, text=event.text), *self._state()]
            case ReplyWorded():
                if (awaited := self._awaited.get(event.utterance)) is not None:
                    self._awaited[event.utterance] = replace(awaited, first_text=now)
                return []
            case UtteranceStarted():
                self._sounding.add(event.utterance)
                begun = events.UtteranceBegun(utterance=event.utterance, kind=event.kind, turn=event.turn)
                return [begun, *self._timed(event.utterance, now), *self._state()]
            case UtteranceEnded():
                self._sounding.discard(event.utterance)
                return [_closed(event), *self._timed(event.utterance, None), *self._state()]
            case _:
                return [] if (told := _plain(event)) is None else [told]

    def _state(self) -> list[ClientEvent]:
        if self._sounding:
            return self._change(AgentState.SPEAKING)
        return self._change(AgentState.THINKING if self._awaited else AgentState.LISTENING)

    def _change(self, state: AgentState) -> list[ClientEvent]:
        if state is self.state:
            return []
        self.state = state
        return [AgentStateChanged(state=state)]

    def _timed(self, utterance: int, first_sound: float | None) -> list[ClientEvent]:
        """Give the times of the turn an utterance answers, once."""
        if (awaited := self._awaited.pop(utterance, None)) is None:
            return []
        return [
            TurnTimed(
                turn=awaited.turn.turn,
                speech_ended=self._t_ms(awaited.turn.ended_at),
                text_final=self._t_ms(awaited.turn.heard_at),
                committed=self._t_ms(awaited.committed),
                first_text=None if awaited.first_text is None else self._t_ms(awaited.first_text),
                first_sound=None if first_sound is None else self._t_ms(first_sound),
                reason=awaited.turn.reason,
            )
        ]


def screen(slots: Iterable[Slot]) -> ScreenShown:
    """Say what is shown."""
    return ScreenShown(
        slots=tuple(
            SlotShown(
                id=slot.id, renderer=slot.renderer, input=dict(slot.input), owner=slot.owner, state=slot.state.value
            )
            for slot in slots
        )
    )


def _plain(event: CallEvent) -> ClientEvent | None:
    """Translate what depends on nothing before it; ``None``: clients are not told."""
    match event:
        case CallerMuted():
            return events.CallerMuted(muted=event.muted)
        case SpeechBegan():
            return events.CallerSpeech(speaking=True, segment=event.segment)
        case SpeechOver():
            return events.CallerSpeech(speaking=False, segment=event.segment)
        case TranscriptHeard():
            return events.CallerWords(segment=event.segment, text=event.text, final=event.final)
        case TurnWorded():
            return events.CallerTurn(turn=event.turn, text=event.text)
        case SoundIgnored():
            return events.IgnoredSound(kind=event.kind, text=event.text)
        case UtteranceHeard():
            return events.UtteranceHeard(utterance=event.utterance, text=event.heard)
        case CompactionBegan() | CompactionEnded():
            return events.ContextCompacted(turn=event.turn, running=isinstance(event, CompactionBegan))
        case ToolCalled():
            return events.ToolChanged(
                call_id=event.call_id, name=event.name, turn=event.turn, status="running", input=event.input
            )
        case ToolReturned():
            return events.ToolChanged(
                call_id=event.call_id,
                name=event.name,
                turn=event.turn,
                status=event.status,
                duration_ms=event.duration_ms,
            )
        case EngineTrouble():
            return events.Failure(code="engine", message=f"{event.engine}: {event.reason}")
        case _:
            return None


def _closed(event: UtteranceEnded) -> ClientEvent:
    return events.UtteranceClosed(
        utterance=event.utterance,
        kind=event.kind,
        turn=event.turn,
        text=event.text,
        heard=event.heard,
        interrupted=event.interrupted,
    )
