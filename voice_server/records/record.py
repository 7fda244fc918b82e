"""A call's record, as the call sees it: what happens is handed over at once and written by a thread.

Above: whoever holds the call. Below: ``scribe`` writes. It stops no call: one that cannot be written says so and ends.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from agents.core.progress import ProgressKind
from pipelines.audio.frame import Frame
from pipelines.clock import Clock, Lease, Timer, held
from pipelines.events import CallEvent
from voice_server.records.journal import Entry, Heading, Noted, stands
from voice_server.records.minutes import Minutes
from voice_server.records.scribe import Batch, Scribe
from voice_server.report import TurnReport

__all__ = ["CallRecord"]

EVERY_S = 1.0
"""Seconds between two batches: what a killed process loses at most, beside what the disk still has to do."""

MOST_WAITING_S = 30.0
"""Seconds of audio that wait for a slow disk; beyond them audio is lost and said to be. Some 2.5 MB a call."""

MOST_ENTRIES = 10_000
"""Events and probabilities that wait for a slow disk; beyond them the record ends."""

HOLDER = "record"
"""By this name its leases are held: on virtual time, time stands still while a batch is written."""

_logger = logging.getLogger(__name__)


class CallRecord:
    """Records one call; close it when the call is over. Its methods return at once, except ``aclose``.

    Args:
        clock: the call's; the call begins now.
        folder: where to; it is there already. What an earlier record left in it is deleted.
        heading: what is known of the call.
    """

    def __init__(self, clock: Clock, folder: Path, heading: Heading) -> None:
        self.folder = folder
        self.failure: str | None = None
        """Why it cannot be written, or not all of it; ``None``: all is well."""
        self._clock = clock
        self._heading = heading
        self._began = clock.now()
        self._played_at: float | None = None
        self._batch = Batch()
        self._gathered_at = self._began
        """When the oldest of the batch was handed over."""
        self._scribe: Scribe | None = None
        self._broken = False
        """Whether nothing more is taken: it cannot be written."""
        self._complete = False
        """Whether it has been written to the end of the call."""
        self._writing: asyncio.Future[None] | None = None
        self._closing: asyncio.Future[TurnReport] | None = None
        self._timer: Timer = clock.call_at(self._began, self._tick)

    def hear(self, frame: Frame) -> None:
        """Take the next audio of the caller's line, at any rate; kept, not copied."""
        if self._takes_audio():
            self._batch.caller.append((self._clock.now() - self._began, frame))

    def played(self, frame: Frame, late_s: float = 0.0) -> None:
        """Take what the output played; kept, not copied.

        Args:
            frame: the audio.
            late_s: how long ago its last sample was played, seconds.
        """
        self._played_at = self._clock.now() - late_s
        if self._takes_audio():
            self._batch.agent.append((self._played_at - self._began, frame))

    def judge(self, ends_at: float, probability: float) -> None:
        """Take a speech probability: a ``Probe``."""
        if self._takes():
            self._batch.speech.append((ends_at - self._began, probability))

    def tell(self, event: CallEvent) -> None:
        """Take an event: a ``Tell``."""
        self._note(event)

    def take(self, kind: ProgressKind, read: Any) -> None:
        """Take how far the agent is: a ``Take``."""
        self._note(stands(kind, read))

    async def aclose(self) -> TurnReport:
        """Write the rest. Idempotent; it never raises for the disk. Cancelling is safe: the thread goes on.

        Both sides are laid over each other afterwards: nobody has to wait for that, but the process when it exits.

        Returns:
            The report, as it is in the folder, or as far as it goes when there is a ``failure``.
        """
        if self._closing is None:
            self._timer.cancel()
            batch, self._batch = self._batch, Batch()
            ended_s = self._clock.now() - self._began
            loop = asyncio.get_running_loop()
            self._closing = loop.run_in_executor(_thread(), self._finish, batch, ended_s)
            _thread().submit(self._mix)
        async with held(self._clock, HOLDER):
            return await asyncio.shield(self._closing)

    # ------------------------------------------------------------------------------------------------ on the loop

    def _note(self, event: Noted) -> None:
        if self._takes():
            now = self._clock.now()
            self._batch.entries.append(Entry.of(event, now=now, began=self._began, played_at=self._played_at))

    def _takes(self) -> bool:
        if self._broken or self._closing is not None:
            return False
        if not self._batch:
            self._gathered_at = self._clock.now()
        if len(self._batch.entries) + len(self._batch.speech) >= MOST_ENTRIES:
            self._break("the disk is too slow, too much waits for it")
        return not self._broken

    def _takes_audio(self) -> bool:
        if not self._takes():
            return False
        if self._clock.now() - self._gathered_at <= MOST_WAITING_S:
            return True
        self._fail("the disk is too slow, audio was lost")
        return False

    def _tick(self) -> None:
        self._timer = self._clock.call_at(self._clock.now() + EVERY_S, self._tick)
        if self._writing is None and not self._broken:
            batch, self._batch = self._batch, Batch()
            lease = self._clock.lease(HOLDER)
            self._writing = asyncio.get_running_loop().run_in_executor(_thread(), self._write, batch)
            self._writing.add_done_callback(lambda written: self._written(written, lease))

    def _written(self, written: asyncio.Future[None], lease: Lease) -> None:
        lease.release()
        self._writing = None
        if not written.cancelled() and (error := written.exception()) is not None:
            self._break(_reason(error), error)

    def _break(self, why: str, error: BaseException | None = None) -> None:
        self._broken = True
        self._batch = Batch()
        self._fail(why, error)

    def _fail(self, why: str, error: BaseException | None = None) -> None:
        if self.failure is None:
            self.failure = why
            ours = None if isinstance(error, OSError) else error
            _logger.error("a call's record is not complete: %s; the call goes on", why, exc_info=ours)

    # ---------------------------------------------------------------------------------------------- in the thread

    def _write(self, batch: Batch) -> None:
        if self._scribe is None:
            self._scribe = Scribe(self.folder, self._heading)
        self._scribe.write(batch)

    def _finish(self, batch: Batch, ended_s: float) -> TurnReport:
        try:
            if not self._broken:
                self._write(batch)
            if self._scribe is not None:
                report = self._scribe.finish(ended_s)
                self._complete = True
                return report
        except Exception as error:  # noqa: BLE001 - a record's boundary: whatever is wrong with it, the call is over
            self._fail(_reason(error), error)
        if self._scribe is None:
            return Minutes(self._heading).report()
        self._scribe.close()
        return self._scribe.report()

    def _mix(self) -> None:
        if self._scribe is None or not self._complete:
            return
        try:
            self._scribe.mix()
        except Exception as error:  # noqa: BLE001 - as above
            self._fail(_reason(error), error)


def _reason(error: BaseException) -> str:
    """Say what is wrong without saying where: a folder's name may be a person's."""
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else type(error).__name__


@cache
def _thread() -> ThreadPoolExecutor:
    """The process's one thread for records; it writes batch after batch, in the order they were handed over."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="records")
