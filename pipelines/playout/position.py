"""Position: from how much of a sentence's audio was played to how much of its source was heard, and back.

Above: an utterance's ledger. Below: ``speakable``. With an engine that gives no word times the position is
interpolated over the spoken text; everything is rounded so that less is claimed than was heard.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from pipelines.playout.speakable import Speakable
from pipelines.turns.words import is_unspaced

if TYPE_CHECKING:
    from pipelines.tts.base import WordTime

__all__ = ["heard_end", "offset_start_s", "word_start_s"]

_SHORT_PAUSE = frozenset(",;:—–،、，；：")
_LONG_PAUSE = frozenset(".!?…。！？؟।")
_STEP_S = 0.001
"""Seconds are given down to whole steps, so that a time and its place never disagree by a rounding error."""


def heard_end(spoken: Speakable, played_s: float, total_s: float, words: Sequence[WordTime] = ()) -> int:
    """Place the end of the last word wholly heard.

    Args:
        spoken: what was synthesised.
        played_s: seconds of its audio proven played.
        total_s: seconds of all of its audio.
        words: word times of the engine, ascending; without any the place is interpolated.

    Returns:
        An offset into ``spoken.source``; all of it once all was played, 0 when no word was.
    """
    if played_s >= total_s:
        return len(spoken.source)
    if words:
        ended = bisect_right(words, played_s, key=lambda word: word.end_s)
        return spoken.source_word_end(words[ended - 1].end_char) if ended else 0
    weights = _weights(spoken.text)
    reached = weights[-1] * max(played_s, 0.0) / total_s
    return spoken.source_word_end(bisect_right(weights, reached) - 1)


def word_start_s(spoken: Speakable, played_s: float, total_s: float, words: Sequence[WordTime] = ()) -> float:
    """Time the start of the first word not wholly heard: where to resume.

    Takes what :func:`heard_end` takes.

    Returns:
        Seconds from the first sample, never after ``played_s``: the end of the word before, with the pause between.
    """
    if played_s >= total_s:
        return total_s
    begins_s = offset_start_s(spoken, heard_end(spoken, played_s, total_s, words), total_s, words)
    return max(min(begins_s, played_s), 0.0)


def offset_start_s(spoken: Speakable, source_offset: int, total_s: float, words: Sequence[WordTime] = ()) -> float:
    """Time a place in the source.

    Args:
        spoken: what was synthesised.
        source_offset: the end of a word, as from :func:`heard_end`.
        total_s: seconds of all of its audio.
        words: word times of the engine, ascending; without any the time is interpolated.

    Returns:
        Seconds from the first sample, down to a millisecond.
    """
    chars = spoken.spoken_start(source_offset)
    if words:
        ended = bisect_right(words, chars, key=lambda word: word.end_char)
        seconds = words[ended - 1].end_s if ended else 0.0
    else:
        weights = _weights(spoken.text)
        seconds = total_s * weights[min(chars, len(spoken.text))] / weights[-1] if weights[-1] else 0.0
    return math.floor(seconds / _STEP_S) * _STEP_S


@lru_cache(maxsize=256)
def _weights(text: str) -> tuple[float, ...]:
    """Weigh every prefix of a text by how long it takes to say, a letter being 1.

    Kept for the sentences being played: where playout is in one is asked dozens of times a second.

    At some fifteen letters a second a comma is a pause of 0.2 s, a stop one of 0.4 s, and a character that is a
    syllable takes as long as three letters. The last stop is followed by nothing, so it makes no pause.
    """
    inner = len(text.rstrip().rstrip("".join(_SHORT_PAUSE | _LONG_PAUSE) + "\"'”’»)]"))
    each = (_weight(char) if at < inner else 0.0 for at, char in enumerate(text))
    return tuple(accumulate(each, initial=0.0))


def _weight(char: str) -> float:
    if char in _SHORT_PAUSE:
        return 3.0
    if char in _LONG_PAUSE:
        return 6.0
    return 3.0 if is_unspaced(char) else 1.0
