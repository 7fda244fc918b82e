"""Speakable text: what a synthesiser is given for a piece of the agent's text, and the way back to that text.

Above: the cascade speaks ``Speakable.text``; ``position`` turns heard audio into heard source. Below: ``rewrites``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from pipelines.playout.rewrites import ENGLISH, MARKUP, say
from pipelines.turns.words import is_unspaced

__all__ = ["Span", "Speakable", "speakable"]


_HYPHENS = frozenset("-\u2010\u2011")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the source and the stretch of spoken text it became."""

    source_start: int
    source_end: int
    spoken_start: int
    spoken_end: int
    copied: bool
    """Whether it is spoken as written, character for character; otherwise it is heard whole or not at all."""


@dataclass(frozen=True, slots=True)
class Speakable:
    """Text for the ear, and where each part of it stands in the source.

    The spans cover both texts without a gap, in order.
    """

    source: str
    text: str
    """What the synthesiser gets. Empty when there is nothing to say (a rule, a picture)."""
    spans: tuple[Span, ...]

    def source_end(self, spoken_chars: int) -> int:
        """Map a length of spoken text, fully heard, to the length of source that was heard.

        A rewritten stretch counts once all of it was heard; what is silent and touches a heard word counts with it.

        Args:
            spoken_chars: characters of ``text``; less than none is none, more than all is all.
        """
        if spoken_chars >= len(self.text):
            return len(self.source)
        if spoken_chars <= 0:
            return 0
        at = bisect_left(self.spans, spoken_chars, key=lambda span: span.spoken_start) - 1
        span = self.spans[at]
        if spoken_chars < span.spoken_end:
            return span.source_start + (spoken_chars - span.spoken_start if span.copied else 0)
        end = span.source_end
        for silent in self.spans[at + 1 :]:
            if silent.spoken_start < silent.spoken_end or self.source[end - 1 : end].isspace():
                break
            end = silent.source_end
        return end

    def source_word_end(self, spoken_chars: int) -> int:
        """Map like :meth:`source_end`, down to the end of a word of the source."""
        if spoken_chars >= len(self.text):
            return len(self.source)
        end = self.source_end(_word_end(self.text, max(spoken_chars, 0)))
        heard = self.source[: _word_end(self.source, end)].rstrip()
        return len(heard.rstrip("([{“‘«¿¡").rstrip())

    def spoken_start(self, source_offset: int) -> int:
        """Map a place in the source to where it is spoken; inside a rewritten stretch, to the stretch's start.

        Args:
            source_offset: 0 to the length of the source.
        """
        if source_offset >= len(self.source):
            return len(self.text)
        at = bisect_right(self.spans, max(source_offset, 0), key=lambda span: span.source_start) - 1
        span = self.spans[at]
        return span.spoken_start + (source_offset - span.source_start if span.copied else 0)


def _word_end(text: str, at: int) -> int:
    """Move a place inside a word to before that word."""
    while 0 < at < len(text) and _in_word(text, at - 1) and _in_word(text, at) and not is_unspaced(text[at]):
        at -= 1
    return at


def _in_word(text: str, at: int) -> bool:
    """Whether a character is part of a word; a hyphen is between two letters: nobody hears "e" of "e-mail"."""
    char = text[at]
    if char in _HYPHENS:
        return text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum()
    return char.isalnum() or char in "'’" or unicodedata.category(char)[0] == "M"


def speakable(text: str, *, language: str = "en") -> Speakable:
    """Rewrite a sentence so that any synthesiser reads it well.

    Markup and pictures go; in English, numbers, money, dates, times, units, addresses and abbreviations become words.

    Args:
        text: a sentence or clause, as the agent wrote it; any characters.
        language: BCP 47 tag of the agent's language. English words are used for "en" only, and not in text of another
            script.
    """
    rules = ENGLISH if language.lower().startswith("en") and _may_be_english(text) else MARKUP
    weaver = _Weaver(text)
    for match in rules.finditer(text):
        weaver.replace(match.start(), match.end(), say(match))
    return weaver.finish()


_LATIN = re.compile("[A-Za-z]")


def _may_be_english(text: str) -> bool:
    return _LATIN.search(text) is not None or not any(char.isalpha() for char in text)


class _Weaver:
    """Puts spoken text and spans together, never with two spaces in a row where something was rewritten."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._parts: list[str] = []
        self._spans: list[Span] = []
        self._read = 0
        self._spoken = 0

    def replace(self, start: int, end: int, spoken: str) -> None:
        self._copy_to(start)
        if self._after_space():
            spoken = spoken.lstrip(" ")
        if spoken.endswith(" ") and self._source[end : end + 1].isspace():
            spoken = spoken.rstrip(" ")
        self._put(end, spoken, copied=False)

    def finish(self) -> Speakable:
        self._copy_to(len(self._source))
        return Speakable(self._source, "".join(self._parts), tuple(self._spans))

    def _copy_to(self, end: int) -> None:
        if self._spans and self._after_space():
            blank = self._read
            while blank < end and self._source[blank].isspace():
                blank += 1
            self._put(blank, "", copied=False)
        self._put(end, self._source[self._read : end], copied=True)

    def _after_space(self) -> bool:
        return not self._parts or self._parts[-1][-1].isspace()

    def _put(self, end: int, spoken: str, *, copied: bool) -> None:
        if end == self._read:
            return
        spoken_end = self._spoken + len(spoken)
        self._spans.append(Span(self._read, end, self._spoken, spoken_end, copied))
        if spoken:
            self._parts.append(spoken)
        self._read, self._spoken = end, spoken_end
