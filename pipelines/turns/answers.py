"""Answers: how far an utterance goes toward what was asked, read from its words alone.

Above: ``endpointing`` waits for beginnings and not for complete answers. Below: ``words``, ``responder``. It judges
completeness only; the agent reads the values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.responder import Expectation, ExpectationKind
from pipelines.turns.digits import DIGIT, one_digit, read_digits
from pipelines.turns.quantities import read_date, read_number, read_time
from pipelines.turns.reading import FILLERS, LEAD_INS, Reading, without_closer
from pipelines.turns.words import Phrase, phrases, vocabulary, words

__all__ = ["read_answer"]

_DECIDING = phrases("""
    yes, yeah, yea, yep, yup, ya, no, nope, nah, sure, okay, ok, correct, right, wrong, true, false, that's right,
    that is right, that's correct, that is correct, that's wrong, that is wrong, it is, it's not, it isn't, it is not,
    i do, i don't, i do not, i am, i'm not, of course, absolutely, definitely, certainly, not really, of course not,
    go ahead, please do, sounds good, sounds right, mm hm, mm hmm, mhm, mmhmm, uh huh, exactly, not yet, i think so, i
    don't think so, it does, it doesn't, that's fine, that's it, all right, alright, incorrect, that's not right, that
    is not right, perfect, indeed, never, we do, we don't, you can, please don't
""")
_POLITE = phrases("please, thanks, thank you, sir, madam, ma'am, very much, oh, well")

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}

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
        case ExpectationKind.DATE:
            return read_date(heard)
        case ExpectationKind.TIME:
            return read_time(heard)
        case ExpectationKind.NUMBER:
            return read_number(heard)
        case ExpectationKind.DICTATION:
            return Reading.COMPLETE if without_closer(heard)[1] else Reading.OPEN_ENDED
        case ExpectationKind.OPEN:
            return Reading.OTHER


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
    said = _content(without_closer(heard)[0])
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
    places += [int(digit) - 1 for word in heard[1:] if heard[0] in {"option", "number"} and (digit := one_digit(word))]
    others = [word for word in heard if word not in _ORDINALS and word not in LEAD_INS and not one_digit(word)]
    if len(places) == 1 and not others and places[0] < count:
        return Reading.COMPLETE
    return Reading.BEGUN if all(word in LEAD_INS for word in heard) else Reading.OTHER


def _read_digits(heard: Sequence[str], length: int | None) -> Reading:
    number, closed = without_closer(heard)
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
    spelled, closed = without_closer(_without_examples(heard))
    if "at" in spelled[1:] or (spelled and spelled[-1] == "dot"):
        reading = _read_domain(spelled)
    elif all(
        len(word) == 1 or word.isdigit() or word in _JOINERS or word in LEAD_INS or word in DIGIT for word in spelled
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


def _content(heard: Sequence[str]) -> list[str]:
    """Keep what distinguishes, without a plural's ending."""
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in heard if word not in LEAD_INS]


def _after(heard: Sequence[str], skipped: frozenset[str]) -> Sequence[str]:
    first = next((at for at, word in enumerate(heard) if word not in skipped), len(heard))
    return heard[first:]


def _phrase_at(heard: Sequence[str], at: int, known: frozenset[Phrase]) -> int:
    return next((size for size in (4, 3, 2, 1) if tuple(heard[at : at + size]) in known), 0)
