"""Witnesses: whoever looks at a live call besides its client. Metrics count it, traces time it, a record keeps it.

Above: ``live`` tells them. Below: ``telemetry`` and ``records``. None of them can end a call.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from pathlib import Path
from typing import Any, Self

from agents.core.progress import ProgressKind
from pipelines.call import CallInput
from pipelines.clock import Clock
from pipelines.events import Tell, tell_all
from pipelines.listener import Probe
from pipelines.playout.output import AudioOutput
from voice_server.ending import Ending
from voice_server.records.folder import new_folder
from voice_server.records.journal import Heading
from voice_server.records.record import CallRecord
from voice_server.records.taps import TappedCaller, TappedOutput
from voice_server.telemetry.export import current_tracer
from voice_server.telemetry.metrics import CallMetrics, Metrics
from voice_server.telemetry.spans import CallSpans

__all__ = ["Witnesses"]

_log = logging.getLogger(__name__)


class Witnesses:
    """Those of one call. Make them with :meth:`gather`; close them in the end.

    Args:
        metrics: of the server.
        counting: of the call.
        record: of the call; ``None``: it is not recorded.
        tells: take the call's events.
    """

    def __init__(
        self, metrics: Metrics, counting: CallMetrics, record: CallRecord | None, tells: Collection[Tell]
    ) -> None:
        self._metrics = metrics
        self._counting = counting
        self._record = record
        self.tell = tell_all(*tells)
        """Takes an event: a ``Tell``. A witness that fails keeps it from no other."""

    @classmethod
    async def gather(
        cls,
        *,
        call: str,
        heading: Heading,
        clock: Clock,
        metrics: Metrics,
        tools: Collection[str],
        records: Path | None,
    ) -> Self:
        """Gather them; the call begins now.

        Args:
            call: an id that the server made up.
            heading: what is known of the call.
            clock: the call's.
            metrics: of the server.
            tools: names of the agent's own tools.
            records: where records are kept; ``None``: the call is not recorded.
        """
        counting = CallMetrics(metrics, clock.now, tools)
        tells: list[Tell] = [counting.tell]
        if (tracer := current_tracer()) is not None:
            tells.append(CallSpans(tracer, clock.now, heading, call, tools).tell)
        record = None
        if records is not None:
            try:
                folder = await asyncio.to_thread(new_folder, records, heading.conversation, heading.began_at)
            except OSError as error:
                _log.error("a call is not recorded: %s", error.strerror)
                metrics.records_failed.inc()
            else:
                record = CallRecord(clock, folder, heading)
                tells.append(record.tell)
        return cls(metrics, counting, record, tells)

    def caller(self, caller: CallInput) -> CallInput:
        """Stand between the line and the call."""
        return caller if self._record is None else TappedCaller(caller, self._record)

    def output(self, output: AudioOutput) -> AudioOutput:
        """Stand between the call and its output."""
        return output if self._record is None else TappedOutput(output, self._record)

    def probe(self, probe: Probe) -> Probe:
        """Stand between the detector and whoever draws what it says."""
        if (record := self._record) is None:
            return probe

        def both(ends_at: float, probability: float) -> None:
            record.judge(ends_at, probability)
            probe(ends_at, probability)

        return both

    def take(self, kind: ProgressKind, stands: Any) -> None:
        """Take how far the agent is: a ``Take``."""
        if self._record is not None:
            self._record.take(kind, stands)

    async def aclose(self, ending: Ending) -> None:
        """Write what is to be written: the call is over."""
        self._counting.end(ending)
        if self._record is not None:
            await self._record.aclose()
            if self._record.failure is not None:
                self._metrics.records_failed.inc()
