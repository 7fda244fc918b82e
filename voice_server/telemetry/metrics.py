"""Metrics: what a server counts and times, for Prometheus. No text and no name of a person ever becomes a label.

Above: the server makes one, gives every call its own :class:`CallMetrics`, and mounts ``render``. Below: a registry of
its own, so that two servers in a process, or two tests, do not meet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import get_args

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector

from pipelines.events import (
    CallEvent,
    Engine,
    EngineTrouble,
    ReplyWorded,
    SoundIgnored,
    ToolReturned,
    TurnCommitted,
    UtteranceCancelled,
    UtteranceEnded,
    UtteranceStarted,
)
from pipelines.turns.events import Cause, NoteKind

__all__ = ["CONTENT_TYPE", "OTHER", "CallMetrics", "Metrics"]

CONTENT_TYPE = CONTENT_TYPE_LATEST
"""Of what ``render`` gives."""

OTHER = "other"
"""Stands for a tool that is none of the agent's: a model made its name up, and it may say anything."""

_ENDPOINT = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0)
_ENGINE = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0)
_ANSWER = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)
"""Seconds. Below 0.5 s an answer feels immediate, above 1.2 s people ask whether anybody is there."""
_LATE = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Seconds: 0.02 is a frame."""
_CALL = (5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 3_600.0)


class Metrics:
    """A server's metrics."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=self.registry)
        self.active = self._gauge("voice_calls_active", "Calls going on")
        self.started = self._counter("voice_calls_started", "Calls that began")
        self.refused = self._counter("voice_calls_refused", "Calls that were not taken", "reason")
        self.ended = self._counter("voice_calls_ended", "Calls that are over", "reason")
        self.call_seconds = self._histogram("voice_call_seconds", "How long calls last", _CALL)
        self.records_failed = self._counter("voice_records_failed", "Calls whose record is not complete")
        self.turns = self._counter("voice_turns", "Turns of callers")
        self.interruptions = self._counter("voice_interruptions", "Utterances given up", "cause", list(Cause))
        self.ignored = self._counter("voice_sounds_ignored", "Sounds that were no turn", "kind", list(NoteKind))
        self.troubles = self._counter(
            "voice_engine_troubles", "Engines that failed in a call", "engine", get_args(Engine)
        )
        self.tools = self._counter("voice_tool_calls", "Tool calls that ended", ("tool", "status"))
        self.tool_seconds = self._histogram("voice_tool_seconds", "How long tool calls take", _ENGINE)
        self.endpoint = self._histogram("voice_endpoint_seconds", "Last speech sample to turn", _ENDPOINT)
        self.stt = self._histogram("voice_stt_seconds", "Last speech sample to final text", _ENGINE)
        self.model = self._histogram("voice_model_seconds", "Turn to first text of the answer", _ENGINE)
        self.tts = self._histogram("voice_tts_seconds", "First text of the answer to its first sound", _ENGINE)
        self.answer = self._histogram("voice_to_voice_seconds", "Last speech sample to first sound", _ANSWER)
        self.frame_lateness = self._histogram("voice_frame_lateness_seconds", "How late audio is sent", _LATE)
        self.loop_lag = self._histogram("voice_event_loop_lag_seconds", "How late the event loop is", _LATE)

    def render(self) -> bytes:
        """Give everything in Prometheus' text format; its type is ``CONTENT_TYPE``."""
        return generate_latest(self.registry)

    def _gauge(self, name: str, help_: str) -> Gauge:
        return Gauge(name, help_, registry=self.registry)

    def _histogram(self, name: str, help_: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, help_, buckets=buckets, registry=self.registry)

    def _counter(
        self, name: str, help_: str, labels: str | tuple[str, ...] = (), values: Collection[str] = ()
    ) -> Counter:
        """Make a counter; where all values of its label are known they begin at zero, so that a first one shows."""
        labels = (labels,) if isinstance(labels, str) else labels
        counter = Counter(name, help_, labels, registry=self.registry)
        for value in values:
            counter.labels(value)
        return counter


@dataclass(slots=True)
class _Turn:
    ended_at: float
    committed_at: float
    worded_at: float | None = None


class CallMetrics:
    """Counts one call; it begins when this is made.

    Args:
        metrics: of the server.
        now: seconds of the call's clock.
        tools: names of the agent's own tools.
    """

    def __init__(self, metrics: Metrics, now: Callable[[], float], tools: Collection[str]) -> None:
        self._metrics = metrics
        self._now = now
        self._tools = frozenset(tools)
        self._began = now()
        self._turns: dict[int, _Turn] = {}
        """Those whose answer does not sound yet."""
        self._over = False
        metrics.started.inc()
        metrics.active.inc()

    def end(self, reason: StrEnum) -> None:
        """The call is over. Idempotent.

        Args:
            reason: of a closed set, for it becomes a label.
        """
        if not self._over:
            self._over = True
            self._metrics.active.dec()
            self._metrics.ended.labels(reason.value).inc()
            self._metrics.call_seconds.observe(self._now() - self._began)

    def tell(self, event: CallEvent) -> None:
        """Take an event: a ``Tell``."""
        metrics = self._metrics
        match event:
            case TurnCommitted():
                self._committed(event, self._now())
            case ReplyWorded():
                if (turn := self._turns.get(event.turn)) is not None:
                    turn.worded_at = self._now()
                    metrics.model.observe(turn.worded_at - turn.committed_at)
            case UtteranceStarted():
                if event.turn is not None and (turn := self._turns.pop(event.turn, None)) is not None:
                    self._sounded(turn, self._now())
            case UtteranceEnded():
                if event.turn is not None:
                    self._turns.pop(event.turn, None)  # never sounded
            case UtteranceCancelled():
                metrics.interruptions.labels(event.cause.value).inc()
            case SoundIgnored():
                metrics.ignored.labels(event.kind.value).inc()
            case ToolReturned():
                name = event.name if event.name in self._tools else OTHER
                metrics.tools.labels(name, event.status).inc()
                metrics.tool_seconds.observe(event.duration_ms / 1000)
            case EngineTrouble():
                metrics.troubles.labels(event.engine).inc()
            case _:
                pass

    def _committed(self, event: TurnCommitted, now: float) -> None:
        self._turns[event.turn] = _Turn(ended_at=event.ended_at, committed_at=now)
        self._metrics.turns.inc()
        self._metrics.endpoint.observe(now - event.ended_at)
        self._metrics.stt.observe(event.heard_at - event.ended_at)

    def _sounded(self, turn: _Turn, now: float) -> None:
        if turn.worded_at is not None:
            self._metrics.tts.observe(now - turn.worded_at)
        self._metrics.answer.observe(now - turn.ended_at)
