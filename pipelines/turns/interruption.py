"""Interruption: what of a sound made over the agent is evidence that the agent should stop. Words decide, not duration.

Above: the turn machine holds the output at the first sound and asks here, again and again, whether to cancel.
Below: ``words``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.turns.events import Cause
from pipelines.turns.words import ENGLISH, Lexicon, interrupts, is_backchannel, without_echo, words

__all__ = ["ECHO_REACH", "Interruption"]

ECHO_REACH = 120
"""Characters of the agent's text before and after the heard position that an echo may stem from: eight seconds each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """How an interruption is recognised: the settings, and the decision made from them. Seconds."""

    voice_s: float = 0.6
    """Voice above which any word that acknowledges nothing interrupts."""
    wordless_s: float = 3.0
    """Voice after which even speech without text interrupts."""
    resume_s: float = 0.7
    """After a sound ended, the longest time until the output resumes when nothing interrupted. The detector dates an
    end some 50 ms late, and 0.8 s is what a listener forgives."""
    lexicon: Lexicon = field(default=ENGLISH, repr=False)

    def cause(
        self, text: str, voiced_s: float, *, audible: bool, asked: bool, spoken: str, heard_end: int
    ) -> Cause | None:
        """Judge a sound; ``None`` while it is no reason to stop.

        Args:
            text: what was recognised of it so far, raw; may be empty.
            voiced_s: seconds of voice in it so far.
            audible: whether the utterance it would stop has begun to sound.
            asked: whether a question is open.
            spoken: the utterance's text.
            heard_end: how much of that was heard, as an offset.
        """
        said = words(text)
        if not said:
            return Cause.WORDLESS_SPEECH if voiced_s >= self.wordless_s else None
        if not (said := self.without_echo(text, spoken, heard_end)):
            return None
        if asked:
            return Cause.ANSWER
        if interrupts(said, self.lexicon):
            return Cause.INTERRUPTING_WORD
        if is_backchannel(said, self.lexicon):
            return None
        if not audible:
            return Cause.WENT_ON
        return Cause.SPEECH if voiced_s > self.voice_s else None

    def without_echo(self, text: str, spoken: str, heard_end: int) -> list[str]:
        """Give the words of a text that are not what the agent is saying just then."""
        near = words(spoken[max(0, heard_end - ECHO_REACH) : heard_end + ECHO_REACH])
        return without_echo(words(text), near)

    def acknowledges(self, text: str) -> bool:
        """Whether a text is only an acknowledgement."""
        return is_backchannel(words(text), self.lexicon)
