"""Endpointing: how long to wait after speech ended before the words count as the caller's turn.

Above: the turn machine counts the hold from when speech ended. Below: ``answers`` reads the words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pipelines.responder import OPEN_QUESTION, Expectation, ExpectationKind
from pipelines.turns.answers import read_answer
from pipelines.turns.reading import FILLERS, Reading
from pipelines.turns.words import phrases, vocabulary, words

__all__ = ["Endpointing", "FinishScorer", "Hold", "Pace"]


@dataclass(frozen=True, slots=True)
class Hold:
    """How long to wait, and why."""

    seconds: float
    """From the moment speech ended; 0 means now."""
    reason: str
    """A tier ("question"), an answer reading ("answer:complete") or a score ("score:0.95"): for log and picture."""


class FinishScorer(Protocol):
    """A model that judges whether a caller is done; whoever drives it passes its figure to ``Endpointing.hold``."""

    async def finished(self, text: str, history: Sequence[str]) -> float | None:
        """Give the probability, 0 to 1, that the caller is done; ``None`` when the model cannot say in time.

        Args:
            text: the caller's words so far, raw.
            history: the last utterances before them, oldest first, alternating as they were said.
        """
        ...


class Pace:
    """How long this caller pauses inside what they say.

    Keeps a moving average of the caller's own pauses; slow talkers get longer holds.
    """

    SEED_S = 0.7
    """The pause of a caller of whom nothing is known yet, which scales nothing (voice.md 1.15)."""
    LONGEST_GAP_S = 5.0
    """A longer silence is no pause inside a thought."""

    def __init__(self) -> None:
        self._average_s = self.SEED_S

    def observe(self, gap_s: float) -> None:
        """Take the silence between two stretches of the caller's speech.

        Args:
            gap_s: seconds from the end of speech to its resumption; what is outside 0 to 5 s says nothing.
        """
        if 0.0 <= gap_s <= self.LONGEST_GAP_S:
            self._average_s = 0.7 * self._average_s + 0.3 * gap_s

    @property
    def scale(self) -> float:
        """Factor for the longer holds, 1 to 3."""
        return min(max(self._average_s / self.SEED_S, 1.0), 3.0)


_DANGLING = FILLERS | vocabulary("""
    and or but because cause if when while than although though unless until since plus the a an to of for with at
    from into onto between about as per by via my your his our their its i i'm i'll i'd i've we're we'll they're it's
    there's is are was were am be been will would could should can which whose every very also basically wanna gonna
    under during except
""")
"""Words no sentence ends on: a recogniser's full stop behind them is not the caller's."""

_DANGLING_ANYWAY = (vocabulary("and or but because the a an my your our their every if i'm i'll") | FILLERS) - {"like"}
"""Of these, the ones a question does not end on either ("where are you from?" is whole)."""

_DANGLING_PHRASES = phrases("""
    i would like, i'd like, i want, i need, i have, i was like, it was like, i think, i guess, i mean, you know, can
    you, could you, would you, will you, can i, could i, may i, do you, do you have, is there, are there, let me,
    let's, how about, what about, i was wondering, i'm looking, there are, they have, we need, we want, so what, my
    name, my number, the number, such as, kind of, sort of, instead, i'm calling, i want you
""")
_FRAGMENTS = phrases("""
    so, now, also, well, and then, but then, actually, anyway, okay so, yeah so, well so, and so, look, listen, hey, see
""")
"""Whole utterances that only open something."""

_SHORT_WORDS = vocabulary("""
    ah am an as at be by do eh go ha he hi ho id if in is it me my no of oh ok on or ox pa pm so tv to up us we ya
    yo ma ad hm mm um uh er a i
""")
"""Words of one or two letters that are words; anything else so short is being spelled or counted."""

_MARKED_FIGURE = re.compile(r"[0-9][:.][0-9]+\W*$")
_STOPS = ".。．।॥۔։።…‥"
_QUESTIONS = "?!？！؟‼⁇⁈⁉\u037e"
_CLOSING = "\"'”’»)]}）」』】"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpointing:
    """How long to hold for whom: the settings, and the decision made from them. All in seconds."""

    floor: float = 0.3
    """The shortest hold: a complete answer. Longer than the ~250 ms in which resumed speech is noticed."""
    ceiling: float = 2.8
    """The longest hold, after scaling too."""
    question: float = 0.4
    """Words that end in a question or exclamation mark."""
    statement: float = 0.6
    """Words that end in a full stop, which recognisers write after everything."""
    unfinished: float = 1.2
    """Words that stop in the middle, or carry no final mark."""
    dictation: float = 2.0
    """Words that end in letters or figures given one by one."""
    extendable: float = 0.6
    """A complete answer with which a longer one begins."""
    open_ended: float = 1.6
    """Part of an answer of unknown length: outlasts a pause of 1.2 s and the 0.15 s until the next group is noticed."""
    together: float = 0.6
    """Silence over which the parts of a number, a spelled word or a message are heard as one sound."""
    together_open_ended: float = 1.3
    """The same for a number of unknown length: more than the 1.2 s a caller leaves between its groups."""
    curve: float = 1.5
    """Exponent of the curve from a finish score to a hold; above 1 it stays short longer."""
    scaled_above: float = 0.5
    """Only longer holds follow the caller's pace: scaling slowed questions down."""
    trusted_question: float = 0.2
    """The finish score from which a question mark is believed at once."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.floor <= self.ceiling:
            raise ValueError(
                f"endpointing needs 0 <= floor <= ceiling in seconds, got floor {self.floor}, ceiling {self.ceiling}"
            )

    def hold(
        self,
        text: str,
        expectation: Expectation = OPEN_QUESTION,
        pace: Pace | None = None,
        *,
        probability: float | None = None,
    ) -> Hold:
        """Decide how long to wait after these words.

        Args:
            text: all the words of the turn so far; empty holds for nothing.
            expectation: what was asked.
            pace: the caller's; none scales nothing.
            probability: a finish scorer's figure, 0 to 1; none, or not a number, leaves it to the heuristic.
        """
        tail = text.rstrip().rstrip(_CLOSING).rstrip()
        heard = words(tail)
        if not heard:
            return Hold(0.0, "empty")
        hold = self._by_answer(read_answer(text, expectation)) or self._by_words(heard, tail, probability)
        if pace is not None and hold.seconds > self.scaled_above:
            return Hold(min(hold.seconds * pace.scale, self.ceiling), hold.reason)
        return Hold(min(hold.seconds, self.ceiling), hold.reason)

    def patience_s(self, expectation: Expectation) -> float:
        """Seconds of silence inside an answer over which it is still heard as one sound; 0 leaves it to the detector.

        A recogniser that hears a lone "five" writes "Bye!", and "five" when it hears the whole number.
        """
        match expectation.kind:
            case ExpectationKind.DIGITS if expectation.length is None:
                return self.together_open_ended
            case ExpectationKind.DIGITS | ExpectationKind.SPELLING | ExpectationKind.DICTATION:
                return self.together
            case _:
                return 0.0

    def shaped(self, probability: float) -> float:
        """Turn a finish score into a hold: the floor when sure, the ceiling when sure of the opposite."""
        unsure = 1.0 - min(max(probability, 0.0), 1.0)
        return self.floor + (self.ceiling - self.floor) * float(unsure**self.curve)

    def _by_answer(self, reading: Reading) -> Hold | None:
        seconds = {
            Reading.COMPLETE: self.floor,
            Reading.EXTENDABLE: self.extendable,
            Reading.OPEN_ENDED: self.open_ended,
            Reading.BEGUN: self.ceiling,
        }.get(reading)
        return None if seconds is None else Hold(seconds, f"answer:{reading}")

    def _by_words(self, heard: Sequence[str], tail: str, probability: float | None) -> Hold:
        tier = self._tier(heard, tail)
        if probability is None or math.isnan(probability):
            return tier
        if tier.reason == "question" and probability >= self.trusted_question:
            return Hold(self.floor, f"question:{probability:.2f}")
        shaped = self.shaped(probability)
        if tier.reason == "dictation":
            shaped = max(shaped, tier.seconds)
        return Hold(shaped, f"score:{probability:.2f}")

    def _tier(self, heard: Sequence[str], tail: str) -> Hold:
        asks = tail.endswith(tuple(_QUESTIONS))
        if _spells(heard, tail, asks=asks):
            return Hold(self.dictation, "dictation")
        if asks and heard[-1] not in _DANGLING_ANYWAY:
            return Hold(self.question, "question")
        if _dangles(heard):
            return Hold(self.unfinished, "unfinished")
        if tail.endswith(tuple(_STOPS)) and not tail.endswith(("...", "…", "‥")):
            return Hold(self.statement, "statement")
        return Hold(self.unfinished, "unfinished")


def _spells(heard: Sequence[str], tail: str, *, asks: bool) -> bool:
    """Tell whether the words end in the middle of letters or figures being given one by one.

    A lone figure behind words is an amount ("for 2", "12 times 12?"), and so is one with a mark inside ("7:30").
    """
    if not _is_sign(heard[-1]) or _MARKED_FIGURE.search(tail):
        return False
    one_of_many = len(heard) == 1 or _is_sign(heard[-2])
    return one_of_many or (heard[-1].isalpha() and not asks)


def _is_sign(word: str) -> bool:
    # Only where words are spelled with letters this is a sign: "да" and "네" are whole words.
    return len(word) <= 2 and word.isascii() and word not in _SHORT_WORDS


def _dangles(heard: Sequence[str]) -> bool:
    if tuple(heard) in _FRAGMENTS or heard[-1] in _DANGLING:
        return True
    return any(tuple(heard[-size:]) in _DANGLING_PHRASES for size in (1, 2, 3) if size <= len(heard) <= size + 2)
