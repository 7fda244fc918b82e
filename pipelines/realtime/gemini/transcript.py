"""What the caller said, put together from fragments that bear no name: they come early, late, or not at all."""

from __future__ import annotations

from pipelines.realtime.events import CallerWords

__all__ = ["CallerTranscript"]


class CallerTranscript:
    """Numbers utterances and accumulates their words; final words come once for each."""

    def __init__(self) -> None:
        self._count = 0
        self._text: str | None = None

    @property
    def open(self) -> bool:
        """Whether more of an utterance is expected."""
        return self._text is not None

    def place(self) -> list[CallerWords]:
        """Note that the caller has spoken, though nothing of it may be written yet."""
        return [] if self._text is not None else [self._begin()]

    def add(self, fragment: str, *, finished: bool) -> list[CallerWords]:
        """Add a fragment of the utterance that is written just now, or of a new one.

        Args:
            fragment: more of the words.
            finished: whether they are complete.
        """
        if self._text is None:
            if not fragment.strip():
                return []
            self._begin()
        self._text = f"{self._text}{fragment}".lstrip()
        return self.end() if finished else [self._words(final=False)]

    def settle(self) -> list[CallerWords]:
        """Take what there is of an utterance for all of it, if there is something."""
        return self.end() if self._text else []

    def end(self) -> list[CallerWords]:
        """Note that nothing more of an utterance comes, if one is open."""
        if self._text is None:
            return []
        final = self._words(final=True)
        self._text = None
        return [final]

    def _begin(self) -> CallerWords:
        self._count += 1
        self._text = ""
        return self._words(final=False)

    def _words(self, *, final: bool) -> CallerWords:
        return CallerWords(item=f"caller-{self._count}", text=self._text or "", final=final)
