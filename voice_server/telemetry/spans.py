"""Spans: every turn of a call as a trace, its stages as spans with the times they really had.

Above: the server gives every call a :class:`CallSpans`. Below: OpenTelemetry's API; whether anybody takes the spans is
decided elsewhere (``export``). Names and attributes are stable; those that begin with ``gen_ai.`` are OpenTelemetry's.
There are sizes, durations, names of engines and outcomes in them, and not a word that anybody said.

=========================  =====================================================================================
span                       from, to
=========================  =====================================================================================
``voice.turn``             the caller's first speech sample, the end of the answer; the root, unless otherwise said
``voice.utterance``        the root instead for what answers nothing: a greeting, a narration, a tool's late result
``voice.speech``           the caller's first speech sample, their last
``voice.endpoint``         the caller's last speech sample, the words are a turn
``voice.stt``              the caller's last speech sample, the recogniser's final text
``invoke_agent {agent}``   the words are a turn, the first text of the answer
``execute_tool {tool}``    a tool is called, it returns, however late
``voice.tts``              a sentence is given to the synthesiser, all of its audio is there
``voice.playout``          the first sample of the answer is at the output, the answer is over
=========================  =====================================================================================

Roots have ``voice.call.id``, ``voice.pipeline``, ``voice.utterance.number``, ``voice.utterance.kind``,
``voice.outcome`` (``spoken``, ``interrupted`` or ``nothing_said``) and, where there is one, ``voice.turn.number``,
``voice.interrupted.cause`` and ``voice.voice_to_voice.seconds``; engines that failed meanwhile are events
``voice.engine_trouble`` with ``voice.engine.kind``. Stages have what applies of ``voice.engine``,
``voice.endpoint.reason``, ``voice.text.characters``, ``voice.heard.characters``, ``voice.heard.estimated``,
``voice.held.seconds``, ``voice.audio.seconds``, ``voice.tool.status``, ``error.type``, ``gen_ai.operation.name``,
``gen_ai.agent.name``, ``gen_ai.provider.name``, ``gen_ai.request.model``, ``gen_ai.tool.name`` and
``gen_ai.tool.type``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode, Tracer
from opentelemetry.util.types import AttributeValue

from pipelines.events import (
    CallEvent,
    EngineTrouble,
    OutputHeld,
    OutputResumed,
    ReplyWorded,
    SentenceRendered,
    SoundIgnored,
    SpeechOver,
    ToolCalled,
    ToolReturned,
    TurnCommitted,
    UtteranceCancelled,
    UtteranceEnded,
    UtteranceStarted,
)
from voice_server.records.journal import Heading
from voice_server.telemetry.metrics import OTHER

__all__ = ["CallSpans"]

Attributes = Mapping[str, AttributeValue]

_MOST_OPEN = 64
"""Utterances, tools and sentences that are followed at once: a call that has more is broken."""

_ROOT = Context()
"""The parent of what has none."""


@dataclass(frozen=True, slots=True)
class _Stage:
    """A span to be."""

    name: str
    start: float
    end: float
    attributes: Attributes
    failed: bool = False


@dataclass(slots=True, eq=False)
class _Utterance:
    """Something that is answered, made or played; its spans are made when it is over."""

    turn: int | None = None
    began_at: float | None = None
    """When the turn it answers began to be said."""
    speech_ended_at: float | None = None
    committed_at: float | None = None
    started_at: float | None = None
    held_s: float = 0.0
    held_at: float | None = None
    cause: str | None = None
    """Why it was given up."""
    troubles: list[tuple[float, str]] = field(default_factory=list)
    stages: list[_Stage] = field(default_factory=list)


def _today() -> datetime:
    return datetime.now(UTC)


class CallSpans:
    """Follows one call.

    Args:
        tracer: makes the spans.
        now: seconds of the call's clock.
        heading: what is known of the call; the conversation's name is not told.
        call: an id of the call that the server made up.
        tools: names of the agent's own tools; another is called ``other``, for a model may say anything.
        today: the date and time, by which spans of other programs are dated too; asked once.
    """

    def __init__(
        self,
        tracer: Tracer,
        now: Callable[[], float],
        heading: Heading,
        call: str,
        tools: Collection[str],
        today: Callable[[], datetime] = _today,
    ) -> None:
        self._tracer = tracer
        self._now = now
        self._heading = heading
        self._call: Attributes = {"voice.call.id": call, "voice.pipeline": heading.pipeline}
        self._tools = frozenset(tools)
        self._epoch_ns = round((today().timestamp() - now()) * 1e9)
        self._speech_at: float | None = None
        """When the speech that is no turn yet began."""
        self._open: dict[int, _Utterance] = {}
        """By number."""
        self._running: dict[str, tuple[int | None, float]] = {}
        """Tools that run: the turn each was called in, and since when."""
        self._over: dict[int, Context] = {}
        """Turns that are over, but whose tools run."""

    def tell(self, event: CallEvent) -> None:
        """Take an event: a ``Tell``."""
        now = self._now()
        match event:
            case SpeechOver():
                if event.confirmed and self._speech_at is None:
                    self._speech_at = event.started_at
            case SoundIgnored():
                self._speech_at = None
            case TurnCommitted():
                self._committed(event, now)
            case ReplyWorded():
                self._worded(event, now)
            case ToolCalled():
                if len(self._running) < _MOST_OPEN:
                    self._running[event.call_id] = (event.turn, now)
            case ToolReturned():
                self._returned(event, now)
            case SentenceRendered():
                self._rendered(event, now)
            case UtteranceStarted():
                if (utterance := self._utterance(event.utterance)) is not None and utterance.started_at is None:
                    utterance.started_at = now
            case OutputHeld() | OutputResumed():
                self._held(now, held=isinstance(event, OutputHeld))
            case UtteranceCancelled():
                if (utterance := self._open.get(event.utterance)) is not None:
                    utterance.cause = event.cause.value
            case UtteranceEnded():
                self._ended(event, now)
            case EngineTrouble():
                for utterance in self._open.values():
                    if len(utterance.troubles) < _MOST_OPEN:
                        utterance.troubles.append((now, event.engine))
            case _:
                pass

    def _committed(self, event: TurnCommitted, now: float) -> None:
        speech_at, self._speech_at = self._speech_at, None
        if (utterance := self._utterance(event.utterance)) is None:
            return
        ended_at = event.ended_at
        utterance.turn, utterance.committed_at, utterance.speech_ended_at = event.turn, now, ended_at
        utterance.began_at = ended_at if speech_at is None else min(speech_at, ended_at)
        size: Attributes = {"voice.text.characters": len(event.text)}
        utterance.stages += [
            _Stage("voice.speech", utterance.began_at, ended_at, size),
            _Stage("voice.endpoint", ended_at, now, {"voice.endpoint.reason": event.reason}),
            _Stage("voice.stt", ended_at, event.heard_at, {"voice.engine": self._heading.stt}),
        ]

    def _worded(self, event: ReplyWorded, now: float) -> None:
        utterance = self._open.get(event.utterance)
        if utterance is None or utterance.committed_at is None:
            return
        provider, _, model = self._heading.model.partition(":")
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self._heading.agent,
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model or provider,
        }
        utterance.stages.append(_Stage(f"invoke_agent {self._heading.agent}", utterance.committed_at, now, attributes))

    def _returned(self, event: ToolReturned, now: float) -> None:
        if (running := self._running.pop(event.call_id, None)) is None:
            return
        turn, called_at = running
        name = event.name if event.name in self._tools else OTHER
        attributes: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            "voice.tool.status": event.status,
        }
        failed = event.status == "error"
        if failed:
            attributes["error.type"] = "tool_error"
        stage = _Stage(f"execute_tool {name}", called_at, now, attributes, failed)
        utterance = None if turn is None else next((one for one in self._open.values() if one.turn == turn), None)
        if utterance is not None:
            utterance.stages.append(stage)
        else:
            self._make(stage, _ROOT if turn is None else self._over.get(turn, _ROOT), self._call)
        if turn is not None and not self._runs_in(turn):
            self._over.pop(turn, None)

    def _rendered(self, event: SentenceRendered, now: float) -> None:
        utterance = self._utterance(event.utterance)
        if utterance is not None and len(utterance.stages) < _MOST_OPEN:
            attributes: Attributes = {
                "voice.engine": self._heading.tts,
                "voice.text.characters": len(event.text),
                "voice.audio.seconds": round(event.seconds, 3),
            }
            utterance.stages.append(_Stage("voice.tts", event.asked_at, now, attributes))

    def _held(self, now: float, *, held: bool) -> None:
        for utterance in self._open.values():
            if held and utterance.held_at is None and utterance.started_at is not None:
                utterance.held_at = now
            elif not held and utterance.held_at is not None:
                utterance.held_s += now - utterance.held_at
                utterance.held_at = None

    def _ended(self, event: UtteranceEnded, now: float) -> None:
        if (utterance := self._open.pop(event.utterance, None)) is None:
            return
        if utterance.started_at is not None:
            held_s = utterance.held_s + (0.0 if utterance.held_at is None else now - utterance.held_at)
            sizes: Attributes = {
                "voice.text.characters": len(event.text),
                "voice.heard.characters": len(event.heard),
                "voice.held.seconds": round(held_s, 6),
                "voice.heard.estimated": event.estimated,
            }
            utterance.stages.append(_Stage("voice.playout", utterance.started_at, now, sizes))
        outcome = "interrupted" if event.interrupted else "spoken" if event.text else "nothing_said"
        attributes: dict[str, AttributeValue] = {"voice.outcome": outcome, "voice.utterance.kind": event.kind}
        if utterance.cause is not None:
            attributes["voice.interrupted.cause"] = utterance.cause
        context = self._emit(utterance, event.utterance, now, attributes)
        if utterance.turn is not None and self._runs_in(utterance.turn):
            self._over[utterance.turn] = context

    def _runs_in(self, turn: int) -> bool:
        return any(of == turn for of, _ in self._running.values())

    def _utterance(self, number: int) -> _Utterance | None:
        if number not in self._open and len(self._open) < _MOST_OPEN:
            self._open[number] = _Utterance()
        return self._open.get(number)

    # -------------------------------------------------------------------------------------------------------- spans

    def _emit(self, utterance: _Utterance, number: int, now: float, attributes: dict[str, AttributeValue]) -> Context:
        """Make the spans of what is over."""
        attributes["voice.utterance.number"] = number
        if utterance.turn is not None:
            attributes["voice.turn.number"] = utterance.turn
        if utterance.started_at is not None and utterance.speech_ended_at is not None:
            waited_s = utterance.started_at - utterance.speech_ended_at
            attributes["voice.voice_to_voice.seconds"] = round(waited_s, 6)
        starts = [stage.start for stage in utterance.stages]
        began_at = min(starts, default=now) if utterance.began_at is None else utterance.began_at
        root = self._tracer.start_span(
            "voice.utterance" if utterance.turn is None else "voice.turn",
            context=_ROOT,
            attributes={**self._call, **attributes},
            start_time=self._ns(began_at),
        )
        context = trace.set_span_in_context(root, _ROOT)
        if root.is_recording():
            for at, engine in utterance.troubles:
                root.add_event("voice.engine_trouble", {"voice.engine.kind": engine}, self._ns(at))
                root.set_status(Status(StatusCode.ERROR))
            for stage in utterance.stages:
                self._make(stage, context, {})
        root.end(self._ns(now))
        return context

    def _make(self, stage: _Stage, context: Context, more: Attributes) -> None:
        span = self._tracer.start_span(
            stage.name,
            context=context,
            attributes={**more, **stage.attributes},
            start_time=self._ns(stage.start),
        )
        if stage.failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(self._ns(max(stage.start, stage.end)))

    def _ns(self, at: float) -> int:
        return round(at * 1e9) + self._epoch_ns
