"""A record, opened: what a folder says of a call that is over, was killed, or still goes on.

Above: the command ``picture``. Below: the journal, the tapes and the probabilities. Whoever gives us a folder may have
made it: nothing in it is believed to be ours.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.trace import Trace
from voice_server.errors import UsageError
from voice_server.records import folder
from voice_server.records.journal import JournalError, read_journal
from voice_server.records.minutes import Minutes
from voice_server.records.tape import read_tape
from voice_server.records.tracing import Tracing
from voice_server.report import TurnReport

__all__ = ["OpenedRecord", "open_record"]

_LARGEST_JOURNAL = 256 << 20
"""Bytes: a day of talk has a fifth of it."""

_MOST_WINDOWS = 4_000_000
"""Speech probabilities that are read, 32 ms each: more than a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRecord:
    """What a record says."""

    trace: Trace
    """Its audio stays on the disk until it is looked at."""
    report: TurnReport
    complete: bool
    """Whether the call was recorded to its end."""


def open_record(place: Path) -> OpenedRecord:
    """Open a record.

    Raises:
        UsageError: it is no record, or it cannot be read.
    """
    path = place / folder.JOURNAL
    try:
        if path.stat().st_size > _LARGEST_JOURNAL:
            raise UsageError(f"{str(path)!r} is larger than {_LARGEST_JOURNAL >> 20} MB: this is no record of a call")
        with path.open(encoding="utf-8", errors="replace") as lines:
            journal = read_journal(lines)
        trace = Trace(
            caller=_track(place / folder.CALLER),
            agent=_track(place / folder.AGENT),
            probabilities=list(itertools.islice(_probabilities(place / folder.SPEECH), _MOST_WINDOWS)),
        )
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(
            f"{str(place)!r} is no record of a call: it has no {folder.JOURNAL}; name its folder"
        ) from None
    except JournalError as error:
        raise UsageError(f"{str(path)!r} cannot be used: {error}") from None
    except OSError as error:
        raise UsageError(f"{str(place)!r} cannot be read: {error.strerror}") from error
    minutes, tracing = Minutes(journal.heading), Tracing(trace)
    for entry in journal.entries:
        minutes.notice(entry)
        tracing.notice(entry)
    return OpenedRecord(trace=trace, report=minutes.report(), complete=journal.ended_s is not None)


def _track(path: Path) -> Samples:
    """Open a side of the call; one that is not there was never heard."""
    try:
        return read_tape(path)
    except FileNotFoundError:
        return np.zeros(0, np.int16)


def _probabilities(path: Path) -> Iterator[tuple[float, float]]:
    """Read what can be read of the speech probabilities: the picture is worth drawing without some of them."""
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for text in lines:
                t_ms, _, probability = text.partition(",")
                try:
                    window = float(t_ms), float(probability)
                except ValueError:
                    continue  # the heading, or half a line
                if text.endswith("\n") and window[0] >= 0 and math.isfinite(window[0]) and 0 <= window[1] <= 1:
                    yield window
    except FileNotFoundError:
        return
