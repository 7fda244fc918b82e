"""A voice that is not installed. Calls that need none are held all the same; what would be said by it is not."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pipelines.audio.frame import SPEAKING_RATE
from pipelines.clock import Clock
from pipelines.tts.base import SpeechAudio, SynthesisError

__all__ = ["Absent"]


class Absent:
    """A ``Synthesizer`` that fails at every text.

    Args:
        reason: why there is none, and what to do; told whenever something was to be said.
    """

    name = "none"
    rate = SPEAKING_RATE

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def warm(self) -> None:
        """Do nothing: there is nothing to load."""

    async def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        """Fail.

        Raises:
            SynthesisError: always.
        """
        nothing: tuple[SpeechAudio, ...] = ()
        for audio in nothing:  # This is a stream like every voice's; it only never gives anything.
            yield audio
        raise SynthesisError(self._reason)
