"""Guards: whose words a transcript holds, and whether anybody said them.

Above: the turn machine asks before it lets a final become a turn; whatever is dropped is reported with these figures.
Below: ``words``. Fed with levels and times; behind the hard gate a recogniser hears gated audio only.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from enum import StrEnum

from pipelines.turns.words import Phrase, phrases, words

__all__ = ["NearField", "Nearness", "Phantom", "PhantomRule", "VoiceEvidence"]


class Nearness(StrEnum):
    """Where a voice comes from."""

    NEAR = "near"
    FAR = "far"


class NearField:
    """Tells the caller from the people around them by level.

    The reference is the loudest accepted speech, decaying slowly, so that a caller who turns away is still heard and a
    neighbour in their pause is not.
    """

    RATIO = 0.25
    """Far is what is below this part of the reference: 12 dB (voice.md 1.15)."""
    HALF_LIFE_S = 20.0
    """Seconds in which the reference halves, whatever the size of the frames."""
    MIN_REFERENCE = 0.01
    """RMS of full scale: with less there is nothing to compare with, and everybody is near."""
    REJECTIONS = 3
    """Consecutive rejections after which the rejected level becomes the reference: the caller moved, or changed."""

    def __init__(self, ratio: float = RATIO) -> None:
        """Begin with no reference.

        Args:
            ratio: part of the reference below which speech is far, 0 to 1; 0 takes everybody.
        """
        if not 0.0 <= ratio <= 1.0:
            raise ValueError(f"a far-field ratio is between 0 (off) and 1, got {ratio}")
        self._ratio = ratio
        self._reference = 0.0
        self._referred_at = 0.0
        self._rejections = 0

    def reference(self, now: float) -> float:
        """Give the level accepted speech is compared with.

        Args:
            now: seconds; not before the last call's.

        Returns:
            RMS of full scale; 0 before any speech was accepted.
        """
        half_lives = max(now - self._referred_at, 0.0) / self.HALF_LIFE_S
        return self._reference * math.exp2(-half_lives)

    def observe(self, level: float, now: float) -> None:
        """Take a level of accepted speech.

        Args:
            level: RMS of full scale, 0 to 1.
            now: seconds.
        """
        self._rejections = 0
        if level >= self.reference(now):
            self._anchor(level, now)

    def is_far(self, peak: float, now: float) -> bool:
        """Tell whether speech of this level would be judged far, without judging it."""
        reference = self.reference(now)
        return reference >= self.MIN_REFERENCE and peak < self._ratio * reference

    def judge(self, peak: float, now: float) -> Nearness:
        """Judge a stretch of speech; when it is taken, ``observe`` its peak.

        The third rejection in a row is still one, and makes its level the reference for the next.

        Args:
            peak: the loudest RMS of the stretch, without decay, 0 to 1 of full scale.
            now: seconds.
        """
        if not self.is_far(peak, now):
            self._rejections = 0
            return Nearness.NEAR
        self._rejections += 1
        if self._rejections >= self.REJECTIONS:
            self._rejections = 0
            self._anchor(peak, now)
        return Nearness.FAR

    def _anchor(self, level: float, now: float) -> None:
        self._reference = level
        self._referred_at = now


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceEvidence:
    """What the detector measured of the segment a text was recognised in."""

    voiced_s: float
    """Seconds of frames taken for speech."""
    peak_probability: float
    """Highest speech probability of a frame, 0 to 1."""


class Phantom(StrEnum):
    """Why a text was said by nobody."""

    WORDLESS = "wordless"
    """No words: a mark, a note, a description of a sound."""
    CANNED = "canned"
    """What recognisers write into noise, on weak evidence of a voice."""
    CREDITS = "credits"
    """What recognisers learned from subtitles and callers do not say."""
    CROWDED = "crowded"
    """More words than so much voice can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhantomRule:
    """Decides whether a final was said by anybody. The rule is these lists and thresholds.

    A text is believed unless it is of a kind recognisers invent *and* the voice behind it is weak: a recogniser hears
    quiet callers better than the detector does, so a weak voice alone proves nothing.
    """

    canned: frozenset[Phrase] = field(
        default_factory=lambda: phrases("""
            thank you, thank you so much, thank you very much, thanks, you, bye, bye bye, goodbye, the end, so, oh,
            yes, yeah, okay, i'm sorry, hmm, mm, huh, uh, um, the, i, a, what, hello, hey, no, go, be
        """)
    )
    """Whole texts recognisers write into noise; callers say them too."""
    credits: frozenset[Phrase] = field(
        default_factory=lambda: phrases("""
            thanks for watching, thank you for watching, thanks for listening, please subscribe, subscribe to my
            channel, like and subscribe, see you in the next video, subtitles by the amara org community, i'll see you
            next time, see you next time, we'll be right back
        """)
    )
    """Whole texts from the subtitles recognisers were trained on."""
    canned_voiced_s: float = 0.2
    """A canned text needs this much voice: the shortest "yes" has more, a click has less."""
    canned_probability: float = 0.6
    """A canned text needs one frame as sure as this."""
    credits_voiced_s: float = 1.5
    """A text of the credits needs this much voice."""
    words_per_s: float = 8.0
    """Nobody speaks faster, counted over voice only; recognisers that loop do."""
    spare_words: int = 4
    """Words allowed beyond that, since the detector misses soft beginnings and ends."""

    def judge(self, text: str, evidence: VoiceEvidence) -> Phantom | None:
        """Judge a final text; ``None`` when somebody said it.

        Args:
            text: raw, as the recogniser wrote it; not empty.
            evidence: of its segment.
        """
        heard = words(_SOUND_NOTES.sub(" ", text))
        said = tuple(heard)
        weak = evidence.voiced_s < self.canned_voiced_s or evidence.peak_probability < self.canned_probability
        if not said:
            return Phantom.WORDLESS
        if said in self.credits and evidence.voiced_s < self.credits_voiced_s:
            return Phantom.CREDITS
        if weak and said in self.canned:
            return Phantom.CANNED
        spaced = [word for word in heard if len(word) > 1 or word.isascii()]
        if len(spaced) > self.spare_words + self.words_per_s * evidence.voiced_s:
            return Phantom.CROWDED
        return None


_SOUND_NOTES = re.compile(r"\[[^\]]{0,80}\]|\([^)]{0,80}\)|\*[^*]{0,80}\*|♪[^♪]{0,200}♪?")
"""Descriptions recognisers give of sounds: "[BLANK_AUDIO]", "(coughs)", "*music*"."""
