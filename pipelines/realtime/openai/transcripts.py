"""What the caller said, put together from what the provider writes down, late and out of order as it may come."""

from __future__ import annotations

from collections import OrderedDict

from pipelines.realtime.events import CallerWords

__all__ = ["Transcripts"]

KEPT = 256
"""Utterances that are remembered: a transcript comes seconds late, not hundreds of turns."""


class Transcripts:
    """Accumulates fragments; final words come once."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str | None] = OrderedDict()

    def begin(self, item: str) -> CallerWords | None:
        """Note that an utterance is a turn; ``None`` when that was known."""
        if not item or item in self._texts:
            return None
        self._keep(item, "")
        return CallerWords(item=item, text="", final=False)

    def add(self, item: str, fragment: str) -> CallerWords | None:
        """Add a fragment; ``None`` when there is nothing to tell."""
        written = self._texts.get(item, "")
        if not item or not fragment or written is None:
            return None
        self._keep(item, written + fragment)
        return CallerWords(item=item, text=written + fragment, final=False)

    def end(self, item: str, text: str | None) -> CallerWords | None:
        """Note the final words; ``None`` when they were told before.

        Args:
            item: the utterance.
            text: all of it; ``None`` when it could not be written down, and what there is has to do.
        """
        written = self._texts.get(item, "")
        if not item or written is None:
            return None
        self._keep(item, None)
        return CallerWords(item=item, text=written if text is None else text, final=True)

    def _keep(self, item: str, text: str | None) -> None:
        if item not in self._texts and len(self._texts) >= KEPT:
            self._texts.popitem(last=False)
        self._texts[item] = text
