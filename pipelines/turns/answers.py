"""Answers: how far an utterance goes toward what was asked, read from its words alone.

Above: ``endpointing`` waits for beginnings and not for complete answers. Below: ``words``, ``responder``. It judges
completeness only; the agent reads the values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from pipelines.responder import Expectation, ExpectationKind
from pipelines.turns.words import Phrase, phrases, vocabulary, words

__all__ = ["FILLERS", "Reading", "read_answer", "read_digits"]


class Reading(StrEnum):
    """How far the words go."""

    OTHER = "other"
    """No answer of the expected kind."""
    BEGUN = "begun"
    """The beginning of one: more is sure to come."""
    OPEN_ENDED = "open_ended"
    """A part whose whole length nobody knows: more may come."""
    EXTENDABLE = "extendable"
    """A whole answer that a longer one begins with ("dot co")."""
    COMPLETE = "complete"
    """A whole answer."""


FILLERS = vocabulary("um umm uh uhm er erm hm hmm mm ah like")
"""Sounds of somebody who has the floor and is still thinking."""

_DECIDING = phrases("""
    yes, yeah, yea, yep, yup, ya, no, nope, nah, sure, okay, ok, correct, right, wrong, true, false, that's right,
    that is right, that's correct, that is correct, that's wrong, that is wrong, it is, it's not, it isn't, it is not,
    i do, i don't, i do not, i am, i'm not, of course, absolutely, definitely, certainly, not really, of course not,
    go ahead, please do, sounds good, sounds right, mm hm, mm hmm, mhm, mmhmm, uh huh, exactly, not yet, i think so, i
    don't think so, it does, it doesn't, that's fine, that's it, all right, alright, incorrect, that's not right, that
    is not right, perfect, indeed, never, we do, we don't, you can, please don't
""")
_POLITE = phrases("please, thanks, thank you, sir, madam, ma'am, very much, oh, well")
_CLOSERS = phrases("please, thanks, thank you, that's it, that's all, that is it, that is all, okay, ok, done")

_LEAD_INS = FILLERS | vocabulary("""
    the a an my it it's its is i i'd i'll would like want take have go with for think that that's one please oh well
    so okay ok yes yeah sure number phone account code area name last first email e mail address reference this and
    be will to let's prefer choose option make say spelled spelt of
""")
"""Words that lead to an answer and are none."""

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}

_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DIGIT = {name: str(value) for value, name in enumerate(_UNITS)} | {"oh": "0", "o": "0", "nought": "0"}
_TEEN = {name: str(value) for value, name in enumerate(_TEENS, start=10)}
_TEN = {name: str(value) for value, name in enumerate(_TENS, start=2)}
_REPEATS = {"double": 2, "triple": 3}
_BETWEEN_DIGITS = vocabulary("dash hyphen space and then plus point slash pause area code") | FILLERS

_TOP_DOMAINS = vocabulary("""
    com org net edu gov io ai co uk de fr es it nl at ch eu us ca au nz ie jp cn in br mx se no dk fi pl be pt info
    biz me app dev tv mil int
""")
_JOINERS = vocabulary("at dot dash hyphen underscore plus point period capital double as and")


def read_answer(text: str, expectation: Expectation) -> Reading:
    """Judge how far an utterance goes toward what was asked.

    Args:
        text: a transcript, with or without punctuation.
        expectation: what was asked; an open question has no complete answer, so it always reads ``OTHER``.
    """
    heard = words(text)
    if not heard:
        return Reading.OTHER
    match expectation.kind:
        case ExpectationKind.YES_NO:
            return _read_yes_no(heard)
        case ExpectationKind.CHOICE:
            return _read_choice(heard, [words(choice) for choice in expectation.choices])
        case ExpectationKind.DIGITS:
            return _read_digits(heard, expectation.length)
        case ExpectationKind.SPELLING:
            return _read_spelling(_spelled_words(text))
        case ExpectationKind.DICTATION:
            return Reading.COMPLETE if _without_closer(heard)[1] else Reading.OPEN_ENDED
        case ExpectationKind.OPEN:
            return Reading.OTHER


def read_digits(heard: Sequence[str]) -> str | None:
    """Read a number said digit by digit, in groups, or written.

    "2, 7 nine", "double five", "oh", "twenty one" and "eight hundred" give 279, 55, 0, 21 and 800. Words that lead to
    the number, and separators inside it, are passed over.

    Returns:
        The digits so far; ``""`` when only words leading to a number were said; ``None`` for anything else.
    """
    digits, at = "", 0
    while at < len(heard):
        said, size = _digits_at(heard, at)
        if not size:
            if heard[at] not in (_BETWEEN_DIGITS if digits else _LEAD_INS | _BETWEEN_DIGITS):
                return None
            said, size = "", 1
        digits += said
        at += size
    return digits


def _digits_at(heard: Sequence[str], at: int) -> tuple[str, int]:
    """Read the digits said at a place, and over how many words."""
    word = heard[at]
    following = heard[at + 1] if at + 1 < len(heard) else ""
    if word.isdigit():
        return word, 1
    if word in _REPEATS and (digit := _one_digit(following)):
        return digit * _REPEATS[word], 2
    if word in _DIGIT:
        return (_DIGIT[word] + "00", 2) if following == "hundred" else (_DIGIT[word], 1)
    if word in _TEN:
        return (_TEN[word] + _DIGIT[following], 2) if following in _UNITS[1:] else (_TEN[word] + "0", 1)
    return (_TEEN[word], 1) if word in _TEEN else ("", 0)


def _one_digit(word: str) -> str:
    return word if len(word) == 1 and word.isdigit() else _DIGIT.get(word, "")


def _read_yes_no(heard: Sequence[str]) -> Reading:
    heard = _after(heard, FILLERS - {"mm"})
    at, decided = 0, False
    while at < len(heard):
        deciding = _phrase_at(heard, at, _DECIDING)
        size = deciding or _phrase_at(heard, at, _POLITE)
        if not size:
            return Reading.OTHER
        decided = decided or deciding > 0
        at += size
    return Reading.COMPLETE if decided else Reading.OTHER


def _read_choice(heard: Sequence[str], choices: Sequence[Sequence[str]]) -> Reading:
    said = _content(_without_closer(heard)[0])
    if not said:
        return _read_place(heard, len(choices))
    wanted = [_content(choice) or list(choice) for choice in choices]
    whole = [choice for choice in wanted if choice == said]
    longer = [choice for choice in wanted if len(choice) > len(said) and choice[: len(said)] == said]
    if whole:
        return Reading.EXTENDABLE if longer else Reading.COMPLETE
    naming = [choice for choice in wanted if set(said) <= set(choice)]
    if len(naming) == 1:
        return Reading.COMPLETE
    return Reading.BEGUN if longer or naming else _read_place(heard, len(choices))


def _read_place(heard: Sequence[str], count: int) -> Reading:
    """Read "the second one" or "option two"."""
    places = [_ORDINALS[word] for word in heard if word in _ORDINALS]
    places += [int(digit) - 1 for word in heard[1:] if heard[0] in {"option", "number"} and (digit := _one_digit(word))]
    others = [word for word in heard if word not in _ORDINALS and word not in _LEAD_INS and not _one_digit(word)]
    if len(places) == 1 and not others and places[0] < count:
        return Reading.COMPLETE
    return Reading.BEGUN if all(word in _LEAD_INS for word in heard) else Reading.OTHER


def _read_digits(heard: Sequence[str], length: int | None) -> Reading:
    number, closed = _without_closer(heard)
    digits = read_digits(number)
    if digits is None:
        return Reading.OTHER
    if not digits:
        return Reading.OTHER if closed else Reading.BEGUN
    if closed or (length is not None and len(digits) >= length):
        return Reading.COMPLETE
    return Reading.OPEN_ENDED if length is None else Reading.BEGUN


def _spelled_words(text: str) -> list[str]:
    """Split a spelled text, with the signs of a written address said as words."""
    spelled = text.strip().rstrip(".,;!?")
    for sign, name in (("@", " at "), ("_", " underscore "), ("+", " plus ")):
        spelled = spelled.replace(sign, name)
    return words(_dots_said(spelled))


def _dots_said(text: str) -> str:
    """Say the dots inside a written address ("mail.com"), not the stops of a recogniser ("J.O.E. Next")."""
    return re.sub(r"(?<=\w)\.(?=\w\w)", " dot ", text)


def _without_examples(heard: Sequence[str]) -> list[str]:
    """Drop the example after a letter: "B as in bravo", "B for bravo"."""
    kept: list[str] = []
    at = 0
    while at < len(heard):
        after_letter = bool(kept) and len(kept[-1]) == 1
        if after_letter and tuple(heard[at : at + 2]) in {("as", "in"), ("like", "in")}:
            at += 3
        elif after_letter and heard[at] == "for" and at + 1 < len(heard) and len(heard[at + 1]) > 1:
            at += 2
        else:
            kept.append(heard[at])
            at += 1
    return kept


def _read_spelling(heard: Sequence[str]) -> Reading:
    spelled, closed = _without_closer(_without_examples(heard))
    if "at" in spelled[1:] or (spelled and spelled[-1] == "dot"):
        reading = _read_domain(spelled)
    elif all(
        len(word) == 1 or word.isdigit() or word in _JOINERS or word in _LEAD_INS or word in _DIGIT for word in spelled
    ):
        has_letters = any(len(word) == 1 for word in spelled)
        reading = Reading.OPEN_ENDED if has_letters and spelled[-1] not in _JOINERS else Reading.BEGUN
    else:
        return Reading.OTHER
    return Reading.COMPLETE if closed and reading is not Reading.BEGUN else reading


def _read_domain(spelled: Sequence[str]) -> Reading:
    if "dot" not in spelled:
        return Reading.BEGUN
    last_dot = len(spelled) - 1 - list(reversed(spelled)).index("dot")
    label = "".join(spelled[last_dot + 1 :])
    if label not in _TOP_DOMAINS or "at" not in spelled[:last_dot]:
        return Reading.BEGUN
    grows = any(domain != label and domain.startswith(label) for domain in _TOP_DOMAINS)
    return Reading.OPEN_ENDED if grows else Reading.EXTENDABLE


def _without_closer(heard: Sequence[str]) -> tuple[Sequence[str], bool]:
    """Take "that's it" or "please" off the end; whether there was one and something before it."""
    for size in (3, 2, 1):
        if len(heard) > size and tuple(heard[-size:]) in _CLOSERS:
            return heard[:-size], True
    return heard, False


def _content(heard: Sequence[str]) -> list[str]:
    """Keep what distinguishes, without a plural's ending."""
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in heard if word not in _LEAD_INS]


def _after(heard: Sequence[str], skipped: frozenset[str]) -> Sequence[str]:
    first = next((at for at, word in enumerate(heard) if word not in skipped), len(heard))
    return heard[first:]


def _phrase_at(heard: Sequence[str], at: int, known: frozenset[Phrase]) -> int:
    return next((size for size in (4, 3, 2, 1) if tuple(heard[at : at + size]) in known), 0)
