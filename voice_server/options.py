"""What `voice-server turn` was asked to do, parsed and typed.

Above: ``cli`` makes it. Below: ``turn`` carries it out.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pipelines.responder import Expectation, ExpectationKind
from voice_server.errors import UsageError
from voice_server.settings import Settings

__all__ = ["LONGEST_OFFSET_S", "OutputKind", "RecordedTurn", "TurnOptions", "parse_expectation", "parse_recording"]

LONGEST_OFFSET_S = 600.0
"""Seconds: an offset beyond the longest thing an agent says is a slip of the finger."""

_LONGEST_DIGITS = 64
_OFFSET = re.compile(r"^(?P<path>.+)@\+(?P<seconds>[^/@]*)$", re.DOTALL)
_FORGOTTEN_PLUS = re.compile(r"^(?P<path>.+)@(?P<seconds>\d+(\.\d+)?)$", re.DOTALL)


class OutputKind(StrEnum):
    """What the recorded call plays through; each stands for a family of real ones."""

    PAUSING = "pausing"
    """Stops at the sample and goes on there, like a room's audio source."""
    CLEARING = "clearing"
    """Can only drop what is queued, and says at once what it played, like a browser."""
    LATE = "late"
    """Can only drop what is queued, and says some time later what it played, like a phone bridge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """One recording and when it starts."""

    path: Path
    after_s: float | None = None
    """Seconds after the first sound of the agent's next utterance; ``None``: when the agent is idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    """One run of recorded caller turns through a call."""

    recordings: tuple[RecordedTurn, ...]
    """At least one, in the order they are spoken."""
    settings: Settings
    """The environment's settings with the command line's on top: agent, engines, model, database, endpointing."""
    output: OutputKind = OutputKind.PAUSING
    realtime: bool = False
    """Run on the wall clock instead of charged time."""
    conversation: str | None = None
    """The conversation to go on with, which is begun when the database has none of this name; ``None``: a new one."""
    out: Path | None = None
    """Where the call's record is written to, a folder that is there; ``None``: nowhere."""
    expects: Expectation | None = None
    """What the first recording answers, when the agent has not asked for it itself."""


def parse_recording(argument: str) -> RecordedTurn:
    """Read ``FILE`` or ``FILE@+SECONDS``.

    Whether the file can be used is found out when it is opened. A file whose whole name exists is taken as named.

    Raises:
        UsageError: the offset is no number of seconds from 0 to 600, or its ``+`` was forgotten.
    """
    if os.path.exists(argument):  # A path's own method raises for a name that is too long to be one.
        return RecordedTurn(path=Path(argument))
    if match := _FORGOTTEN_PLUS.match(argument):
        raise UsageError(f"no file {argument!r}: to start it after the agent does, write {_plus(match)!r}")
    match = _OFFSET.match(argument)
    if match is None:
        return RecordedTurn(path=Path(argument))
    try:
        seconds = float(match["seconds"])
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= LONGEST_OFFSET_S:
        raise UsageError(
            f"{argument!r}: after '@+' stand seconds from 0 to {LONGEST_OFFSET_S:.0f}, not {match['seconds']!r}; "
            f"write for example {match['path'] + '@+1.2'!r}"
        )
    return RecordedTurn(path=Path(match["path"]), after_s=seconds)


def parse_expectation(argument: str) -> Expectation:
    """Read ``KIND``, ``digits:LENGTH`` or ``choice:NAME,NAME``.

    Raises:
        UsageError: no such kind, or what follows the colon does not belong to it.
    """
    name, _, detail = argument.partition(":")
    try:
        kind = ExpectationKind(name.strip().replace("-", "_"))
    except ValueError:
        known = ", ".join(kind.value for kind in ExpectationKind)
        raise UsageError(f"--expect {argument!r}: not a kind of answer; use one of {known}") from None
    if kind is ExpectationKind.CHOICE:
        choices = tuple(choice.strip() for choice in detail.split(",") if choice.strip())
        if len(choices) < 2:
            raise UsageError(f"--expect {argument!r}: name what can be chosen, for example 'choice:red,green'")
        return Expectation(kind=kind, choices=choices)
    if kind is ExpectationKind.DIGITS and detail:
        if not detail.isascii() or not detail.isdecimal() or not 1 <= int(detail) <= _LONGEST_DIGITS:
            raise UsageError(f"--expect {argument!r}: say how many digits, 1 to {_LONGEST_DIGITS}, as in 'digits:9'")
        return Expectation(kind=kind, length=int(detail))
    if detail:
        raise UsageError(f"--expect {argument!r}: nothing follows {kind.value!r}; write '--expect {kind.value}'")
    return Expectation(kind=kind)


def _plus(match: re.Match[str]) -> str:
    return f"{match['path']}@+{match['seconds']}"
