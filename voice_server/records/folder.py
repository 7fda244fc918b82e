"""Where a record is: the names of its files, and of its folder among others."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from pathlib import Path

from voice_server.errors import UsageError

__all__ = [
    "AGENT",
    "BOTH",
    "CALLER",
    "CAPTIONS",
    "FILES",
    "JOURNAL",
    "REPORT",
    "SPEECH",
    "TEXT",
    "TRANSCRIPT",
    "make_folder",
    "new_folder",
]

CALLER = "caller.wav"
"""What the caller's line carried, 16 kHz."""

AGENT = "agent.wav"
"""What the output played, 24 kHz, with its silences."""

BOTH = "call.wav"
"""Both sides as somebody listening in would hear them, 24 kHz; written when the call is over."""

JOURNAL = "events.jsonl"
"""Everything the call told."""

SPEECH = "speech.csv"
"""Every speech probability: ``t_ms`` of its window's end and ``probability``."""

TRANSCRIPT, CAPTIONS, TEXT, REPORT = "transcript.json", "transcript.vtt", "transcript.txt", "report.json"
"""Made of the journal: while the call goes on every few seconds, and in the end."""

FILES = (CALLER, AGENT, BOTH, JOURNAL, SPEECH, TRANSCRIPT, CAPTIONS, TEXT, REPORT)

_LONGEST_NAME = 64
"""Characters of a conversation's id that are kept in a name."""

_MOST_ALIKE = 1_000
"""Calls of one conversation that may begin in one second."""


def new_folder(root: Path, conversation: str, began_at: datetime) -> Path:
    """Make the folder for a call's record, for its owner's eyes only. Blocking.

    Whatever the conversation is called, the folder lies directly in ``root``: its name is the time in UTC and of the id
    the letters, digits and dashes, with a piece of its hash when that leaves anything out.

    Args:
        root: where records are kept; made when it is not there.
        conversation: its id, as somebody outside may have chosen it.
        began_at: with its time zone.

    Raises:
        OSError: it cannot be made.
    """
    root.mkdir(parents=True, exist_ok=True)
    name = f"{began_at.astimezone(UTC):%Y-%m-%dT%H-%M-%SZ}_{_safe(conversation)}"
    for number in range(1, _MOST_ALIKE):
        folder = root / (name if number == 1 else f"{name}_{number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{_MOST_ALIKE} records of one conversation and second are there already")


def make_folder(folder: Path, option: str) -> None:
    """Make a folder that a person named, and find out whether it can be written to.

    Args:
        folder: which.
        option: of the command line, for the message.

    Raises:
        UsageError: it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError as error:
        raise UsageError(
            f"{option} {str(folder)!r}: cannot write there ({error.strerror}); name another folder"
        ) from error


def _safe(conversation: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9-]", "", conversation)[:_LONGEST_NAME]
    if kept == conversation:
        return kept
    digest = hashlib.sha256(conversation.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{kept}-{digest}" if kept else digest
