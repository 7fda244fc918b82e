"""What a synthesiser is to a call: a sentence in, audio out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from pipelines.audio.frame import Samples
from pipelines.clock import Clock

__all__ = ["SpeechAudio", "SynthesisError", "Synthesizer", "WordTime"]


class SynthesisError(Exception):
    """The engine could not speak a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTime:
    """When a word of the spoken text ends in the sentence's audio."""

    end_char: int
    """Offset into the text given to ``synthesize``, exclusive."""
    end_s: float
    """Seconds from the first sample of the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechAudio:
    """Some of a sentence's audio."""

    samples: Samples
    """int16 mono at the synthesiser's rate."""
    words: tuple[WordTime, ...] = ()
    """Word times known so far, ascending; empty for engines that give none."""


class Synthesizer(Protocol):
    """A voice, loaded once per process and shared by its calls; not bound to an event loop."""

    name: str
    rate: int
    """Hertz of the audio it gives."""

    def warm(self) -> None:
        """Load what is needed. Blocking; call it from a thread or before the loop. Idempotent, thread-safe."""
        ...

    def synthesize(self, text: str, clock: Clock) -> AsyncIterator[SpeechAudio]:
        """Speak one sentence or clause.

        Raises:
            SynthesisError: the engine failed.
        """
        ...
