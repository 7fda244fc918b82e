"""Words: a transcript reduced to what two transcripts can be compared by, in any script.

Above: the turn machine asks whether words interrupt, acknowledge, echo the agent or are new. Below: nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = [
    "ECHO_RUN",
    "ENGLISH",
    "Lexicon",
    "Word",
    "interrupts",
    "is_backchannel",
    "is_unspaced",
    "located_words",
    "new_words",
    "phrases",
    "vocabulary",
    "without_echo",
    "words",
]

ECHO_RUN = 3
"""Consecutive words shared with what the agent is saying that make them its echo (DESIGN 3)."""

_APOSTROPHES = "'’ʼ＇"
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, kana and Han: written without spaces, so a character is the unit that can be compared."""

_LONG_RUN = re.compile(r"(.)\1{2,}")


@dataclass(frozen=True, slots=True)
class Word:
    """A normalised word and where it stands in the raw text."""

    text: str
    start: int
    """Offset into the raw text."""
    end: int
    """Offset into the raw text, exclusive."""


def located_words(text: str) -> list[Word]:
    """List the words of a transcript with their places in it.

    A word is a run of letters and digits of any script with their combining marks, and apostrophes between letters,
    after compatibility normalisation and case folding. Scripts written without spaces give one word per character.
    """
    return [Word(part, start, end) for start, end in _runs(text) for part in _fold(text[start:end])]


def is_unspaced(char: str) -> bool:
    """Tell whether a character's script is written without spaces, so that it counts as a word."""
    return _UNSPACED.match(char) is not None


def words(text: str) -> list[str]:
    """List the normalised words of a transcript."""
    return [word.text for word in located_words(text)]


def _runs(text: str) -> Iterable[tuple[int, int]]:
    start: int | None = None
    for index, char in enumerate(text):
        if char.isalnum() and char not in _APOSTROPHES:
            alone = is_unspaced(char)
            if start is not None and (alone or is_unspaced(text[start])):
                yield start, index
                start = index
            elif start is None:
                start = index
        elif start is not None and not _continues(text, index, char):
            yield start, index
            start = None
    if start is not None:
        yield start, len(text)


def _continues(text: str, index: int, char: str) -> bool:
    category = unicodedata.category(char)
    if category[0] == "M" or category == "Cf":
        return True
    return char in _APOSTROPHES and index + 1 < len(text) and text[index + 1].isalpha()


def _fold(run: str) -> list[str]:
    if run.isascii():
        return [run.lower()]
    folded = run
    for _ in range(2):  # Folding can undo composition and composition can bring back a capital: twice settles both.
        folded = unicodedata.normalize("NFKC", folded).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    kept = "".join("'" if c in _APOSTROPHES else c for c in folded if not _ignorable(c))
    return [part.strip("'") for part in kept.split() if part.strip("'")]


def _ignorable(char: str) -> bool:
    return not (char.isalnum() or char.isspace() or char in _APOSTROPHES or unicodedata.category(char)[0] == "M")


Phrase = tuple[str, ...]


def vocabulary(listed: str) -> frozenset[str]:
    """Read normalised words, separated by white space."""
    return frozenset(listed.split())


def phrases(listed: str) -> frozenset[Phrase]:
    """Read phrases, separated by commas, into what a :class:`Lexicon` holds."""
    return frozenset(tuple(words(text)) for text in listed.split(","))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """What words mean in an exchange of turns; data, so that a host can bring another language."""

    backchannels: frozenset[Phrase]
    """Sounds and words that acknowledge and ask for nothing."""
    openers: frozenset[Phrase]
    """What may stand before an interrupting phrase and changes nothing ("okay, stop")."""
    interruptions: frozenset[Phrase]
    """Phrases that interrupt when the words begin with them."""
    interruptions_alone: frozenset[Phrase]
    """Phrases that interrupt only when they are all that was said."""
    harmless: frozenset[Phrase]
    """Phrases that begin like an interruption and are none ("no problem")."""


ENGLISH = Lexicon(
    backchannels=phrases("""
        mm, mhm, mm hm, mm hmm, mmhm, mmhmm, mm mm, m hm, hm, hmm, hmhm, uh huh, uhhuh, uh, um, umm, er, erm, ah, ahh,
        aha, ah ha, oh, ohh, ooh, yeah, yea, yep, yup, ya, yes, okay, ok, okey, okie, dokie, dokey, k, right, all
        right, alright, sure, sure thing, i see, got it, gotcha, i got it, got you, great, good, cool, nice, fine,
        perfect, wonderful, awesome, lovely, excellent, wow, huh, really, true, exactly, of course, absolutely,
        definitely, indeed, i know, i understand, understood, makes sense, that makes sense, sounds good, fair enough,
        go on, interesting, no problem, no worries, that's right, that's true, that's good, that's great, that's fine,
        thanks, thank you, very, so
    """),
    openers=phrases("""
        um, uh, er, oh, ah, hey, okay, ok, yeah, yes, well, but, and, so, right, please, sorry, all right, alright,
        excuse me, hello, hmm, hm, thanks, thank you
    """),
    interruptions=phrases("""
        stop, wait, no, nope, hang on, hold on, hold up, excuse me, pardon, sorry, one moment, one second, one sec,
        just a moment, just a minute, just a second, just a sec, a moment please, actually, shut up, be quiet, quiet
        please, that's enough, enough already, cancel, never mind, nevermind, forget it, forget that, let me, can i
        just, can you stop, could you stop, would you stop, will you stop, you can stop, i said stop, don't, not that,
        listen, pause, say that again, come again, can you repeat, could you repeat, what did you say
    """),
    interruptions_alone=phrases("""
        enough, quiet, silence, what, hush, again, repeat, slower, repeat that, hello, help, time out
    """),
    harmless=phrases("""
        no problem, no worries, no rush, no doubt, no kidding, no way, no hurry, no trouble, no big deal, no matter,
        sorry to hear, sorry about that, not that i, stop sign, stop light, wait time, wait list
    """),
)
"""English, with the spellings recognisers use ("mhm", "Mm-hmm.", "Mm hmm")."""


def _squeeze(word: str) -> str:
    """Bring a drawn-out sound to the two letters the lexicon has it with ("hmmmm")."""
    return _LONG_RUN.sub(r"\1\1", word)


def _longest(heard: Sequence[str], at: int, known: frozenset[Phrase]) -> int:
    """Count the words of the longest known phrase at a place; 0 for none."""
    reach = min(len(heard) - at, max(map(len, known), default=0))
    return next((size for size in range(reach, 0, -1) if tuple(heard[at : at + size]) in known), 0)


def is_backchannel(heard: Sequence[str], lexicon: Lexicon = ENGLISH) -> bool:
    """Tell whether every word only acknowledges ("mm-hm", "yeah, I see").

    Args:
        heard: normalised words; none at all is no backchannel.
        lexicon: the language's phrases.
    """
    squeezed = [_squeeze(word) for word in heard]
    at = 0
    while at < len(squeezed):
        size = _longest(squeezed, at, lexicon.backchannels)
        if not size:
            return False
        at += size
    return at > 0


def interrupts(heard: Sequence[str], lexicon: Lexicon = ENGLISH) -> bool:
    """Tell whether the words ask the agent to stop.

    Only how the words begin counts, behind openers and harmless phrases: "stop" inside "the bus stop" is no command.

    Args:
        heard: normalised words.
        lexicon: the language's phrases.
    """
    at = 0
    while at < len(heard):
        if tuple(heard[at:]) in lexicon.interruptions_alone:
            return True
        harmless = _longest(heard, at, lexicon.harmless)
        command = _longest(heard, at, lexicon.interruptions)
        if command > harmless:
            return True
        size = harmless or _longest(heard, at, lexicon.openers)
        if not size:
            return False
        at += size
    return False


def without_echo(heard: Sequence[str], spoken: Sequence[str], run: int = ECHO_RUN) -> list[str]:
    """Keep the words that are not the agent's own coming back.

    Args:
        heard: normalised words of the transcript.
        spoken: normalised words the agent is saying about now; a few dozen.
        run: how many consecutive shared words make an echo, at least 1.
    """
    shingles = {tuple(spoken[at : at + run]) for at in range(len(spoken) - run + 1)}
    echoed = [False] * len(heard)
    for at in range(len(heard) - run + 1):
        if tuple(heard[at : at + run]) in shingles:
            echoed[at : at + run] = [True] * run
    return [word for word, is_echo in zip(heard, echoed, strict=True) if not is_echo]


def new_words(sent: str, live: str, *, pending: bool = False) -> str:
    """Cut from a live transcript what was already committed, comparing words and not punctuation.

    Args:
        sent: what was committed.
        live: the recogniser's transcript now.
        pending: whether the recogniser still owes its confirmation of what was sent.

    Returns:
        The raw text of the new words; empty when the live transcript only confirms or lags behind. A live transcript
        that says the same words with no confirmation outstanding was said again, and one that shares no beginning
        comes from a fresh buffer: both are new as they stand.
    """
    committed, heard = words(sent), located_words(live)
    texts = [word.text for word in heard]
    if not committed or not texts:
        return live.strip()
    if texts == committed:
        return "" if pending else live.strip()
    if texts[: len(committed)] == committed:
        return live[heard[len(committed)].start :].strip()
    if committed[: len(texts)] == texts:
        return ""
    return live.strip()
