"""What to believe of a Whisper decode: where its text ends, when it loops, when it makes words out of noise.

Whisper always writes something. Above: ``whisper_model`` asks here whether a text may be kept. Pure; the figures were
measured on 158 human prompts and single words in two bands, and on coughs, slams, fans and hums, with tiny.en.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "Attempt",
    "Part",
    "cut",
    "has_end",
    "is_noise",
    "is_suspicious",
    "text_of",
    "unlooped",
    "words_of",
]

END_SLACK_S = 0.15
"""A stamp this close to the real end, or later, is the end: stamps come in steps of 0.02 s, often of a whole second."""

NO_SPEECH = 0.6
"""The model's own probability that nobody speaks. Noises: 0.53 to 0.95. Words: 0.59 at most, 0.49 for 99 in 100."""

DOUBT = -1.0
"""Mean log probability of a token. Below it the model guesses; single words of people go down to -2.3, so it decides
only together with ``NO_SPEECH``. Noises that are not looped: -0.94 to -3.3."""

NO_SPEECH_LOOPED = 0.5
"""The same as ``NO_SPEECH`` for a text that loops: a loop makes the model sure of itself (a cough: "Ooh, ooh, ooh")."""

_WORD = r"[^\W_]+(?:['’][^\W_]+)*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A run of text between two time stamps."""

    text: str
    end_s: float | None
    """Seconds from the start of the audio; ``None`` when the model did not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What one decode gave."""

    parts: tuple[Part, ...]
    seconds: float
    """Length of the real audio."""
    no_speech: float
    """Probability, 0 to 1."""
    logprob: float
    """Mean over the tokens, natural logarithm."""
    ended: bool
    """Whether the model brought the text to an end; a loop breaks off."""


def words_of(text: str) -> list[str]:
    """Split into lower-case words without punctuation, in any script."""
    return re.findall(_WORD, text.lower())


def text_of(parts: tuple[Part, ...]) -> str:
    """Join parts into a text."""
    return " ".join(part.text.strip() for part in parts if part.text.strip())


def cut(attempt: Attempt) -> tuple[Part, ...]:
    """Drop what follows the first end stamp at or past the real end: it was said to the padding.

    A last part that says again what the part before it said, and ends past the real end, is dropped too.
    """
    kept: list[Part] = []
    for part in attempt.parts:
        ends = _ends(part, attempt.seconds)
        if ends and kept and words_of(part.text) == words_of(kept[-1].text):
            break
        kept.append(part)
        if ends:
            break
    return tuple(kept)


def has_end(attempt: Attempt) -> bool:
    """Whether the text comes to an end, by itself or at the end of the real audio."""
    return attempt.ended or any(_ends(part, attempt.seconds) for part in attempt.parts)


def is_suspicious(attempt: Attempt) -> bool:
    """Whether a second opinion is due: the text has no end, or is one phrase over and over."""
    words = words_of(text_of(cut(attempt)))
    return bool(words) and (not has_end(attempt) or _period(words) < len(words))


def is_noise(attempt: Attempt) -> bool:
    """Whether the words were made out of something that is no speech."""
    words = words_of(text_of(cut(attempt)))
    if not words:
        return True
    if is_suspicious(attempt) and attempt.no_speech > NO_SPEECH_LOOPED:
        return True
    return attempt.no_speech > NO_SPEECH and attempt.logprob < DOUBT


def unlooped(text: str) -> str:
    """Keep the first of a phrase that a text ends with over and over: twice if it is all of it, else three times."""
    kept = len(_once(words_of(text)))
    ends = [match.end() for match in re.finditer(rf"{_WORD}[^\w\s]*", text)]
    return text if kept == len(ends) else text[: ends[kept - 1]].rstrip(",")


def is_spelled(attempt: Attempt, prompt: str) -> bool:
    """Whether a decode that was prompted may be kept: surely speech, no loop, and more than an echo of the prompt.

    A prompt makes letters of noise, and the model's doubt that anybody speaks vanishes with it; but its letters loop or
    are unlikely. Letters and digits of people: -0.1 to -0.5, once -1.1.
    """
    said, given = words_of(text_of(cut(attempt))), words_of(prompt)
    echoed = any(said == given[at : at + len(said)] for at in range(len(given) - len(said) + 1))
    sure = attempt.logprob >= DOUBT and attempt.no_speech <= NO_SPEECH
    return sure and not is_suspicious(attempt) and not echoed


def _ends(part: Part, seconds: float) -> bool:
    return part.end_s is not None and part.end_s >= seconds - END_SLACK_S


def _once(words: list[str]) -> list[str]:
    """The words up to the first of a phrase that the rest repeats; what is left may have looped before."""
    if (period := _period(words)) < len(words):
        return words[:period]
    for length in range(1, len(words) // 3 + 1):
        start = len(words) - 1 - length
        if not words[start].startswith(words[-1]):
            continue
        while start > 0 and words[start - 1] == words[start - 1 + length]:
            start -= 1
        if len(words) - start >= 3 * length:
            return _once(words[: start + length])
    return words


def _period(words: list[str]) -> int:
    """Length of the shortest phrase that fills the words by being repeated; all of them when none does.

    The last time may be broken off, even inside a word.
    """
    for length in range(1, len(words) // 2 + 1):
        if words[-1 - length].startswith(words[-1]) and words[length:-1] == words[: -1 - length]:
            return length
    return len(words)
