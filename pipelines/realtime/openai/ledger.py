"""What the conversation holds that we have to know of: the length of each answer's voice, and the one live snapshot."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from pipelines.realtime.base import Snapshot

__all__ = ["ItemLedger"]

RATE = 24_000
"""Hertz: the format of the audio that we ask for."""

KEPT = 256
"""Spoken items that are remembered: what is truncated is among the last few."""


@dataclass(slots=True)
class _Spoken:
    samples: int = 0
    finished: bool = False


class ItemLedger:
    """Keeps account of items."""

    def __init__(self) -> None:
        self.context: str | None = None
        """The id of the item that is the live snapshot."""
        self._version = 0
        self._text: str | None = None
        self._spoken: OrderedDict[str, _Spoken] = OrderedDict()

    def supersedes(self, snapshot: Snapshot) -> bool:
        """Say whether a snapshot is later than the live one."""
        return snapshot.version > self._version

    def says(self, text: str) -> bool:
        """Say whether the live snapshot has this text already."""
        return self._text == text

    def replace(self, snapshot: Snapshot, item: str | None) -> str | None:
        """Take a snapshot for the live one.

        Args:
            snapshot: the new one.
            item: its item's id; ``None`` when it needs none.

        Returns:
            The item that must go, if there is one.
        """
        gone, self.context = self.context, item
        self._version, self._text = snapshot.version, snapshot.text
        return gone

    def speak(self, item: str, samples: int) -> None:
        """Add to an item's voice, heard by us or not: the provider counts all of it."""
        if item not in self._spoken and len(self._spoken) >= KEPT:
            self._spoken.popitem(last=False)
        self._spoken.setdefault(item, _Spoken()).samples += samples

    def finish(self, item: str) -> None:
        """Note that an item's voice is complete."""
        if item in self._spoken:
            self._spoken[item].finished = True

    def cut(self, item: str, heard_s: float) -> int | None:
        """Cut an item behind what was heard.

        Args:
            item: its id.
            heard_s: seconds; clamped to what there is.

        Returns:
            Milliseconds to truncate at; ``None`` where there is nothing to cut off, or no such item.
        """
        if (spoken := self._spoken.get(item)) is None:
            return None
        heard = round(max(heard_s, 0.0) * RATE)
        if heard >= spoken.samples and spoken.finished:
            return None
        spoken.samples, spoken.finished = min(heard, spoken.samples), True
        return spoken.samples * 1000 // RATE
