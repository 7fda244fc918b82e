"""Sums as people say them: "what is twelve times seven", "how many ounces are in two pounds"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from agents.desk.units import Unit, find_unit
from agents.reading.numbers import NUMERAL, with_numerals
from agents.reading.vocabulary import vocabulary

__all__ = ["Quantity", "SumError", "work_out"]

QUESTION_LIMIT = 500
"""Characters of a question that are looked at: a longer one is no sum."""

LARGEST = Fraction(10) ** 15
"""Beyond this a number is no longer said in a way anybody can follow."""

_OPERATORS = {"plus": "+", "+": "+", "and": "+", "minus": "-", "-": "-", "less": "-", "times": "*", "x": "*", "*": "*"}
_OPERATORS |= {"×": "*", "multiplied": "*", "of": "*", "divided": "/", "over": "/", "/": "/", "÷": "/"}
_SAID = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2}
_SILENT = vocabulary(
    "a an answer are be by calculate can could do does equal equals give how i is it know like many me much of sum",
    "tell than the there to total uh um want what which with work out would you your degree degrees and . = hello",
    "hi hey okay ok so now then well stop wait hang on no just convert in into",
)
"""Words around a sum that carry none of it."""

_TURNED = (
    (r"add (.+?) (?:and|to) (.+)", r"\1 plus \2"),
    (r"sum of (.+?) and (.+)", r"\1 plus \2"),
    (r"subtract (.+?) from (.+)", r"\2 minus \1"),
    (r"take (.+?) (?:away )?from (.+)", r"\2 minus \1"),
    (r"multiply (.+?) (?:by|and|with) (.+)", r"\1 times \2"),
    (r"divide (.+?) by (.+)", r"\1 divided \2"),
    (r"double (.+)", r"2 times \1"),
    (r"(\S+) squared", r"\1 times \1"),
    (r"(\S+) (?:percent|per cent|%) of", r"\1 divided 100 times"),
)


class SumError(Exception):
    """The question is no sum, or one without an answer; the message is a sentence for the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number, perhaps of something."""

    value: Fraction
    unit: Unit | None = None

    def say(self) -> str:
        """Say it: at most two decimals, "about" before what had to be rounded."""
        rounded = Fraction(round(self.value * 100), 100)
        if rounded == 0 and self.value != 0:
            rounded = Fraction(f"{float(self.value):.2g}")
        about = "" if rounded == self.value else "about "
        number = str(rounded.numerator) if rounded.denominator == 1 else f"{float(rounded):.10f}".rstrip("0")
        sign = "minus " if rounded < 0 else ""
        unit = "" if self.unit is None else " " + (self.unit.singular if rounded == 1 else self.unit.plural)
        return f"{about}{sign}{number.lstrip('-')}{unit}"


def work_out(question: str) -> str:
    """Work out a sum.

    Args:
        question: as it was said, or written with signs.

    Returns:
        The sum and its answer, as a sentence.

    Raises:
        SumError: there is no sum in it, it has no answer, or its units do not go together.
    """
    wanted, text = _wanted_unit(_tidy(question[:QUESTION_LIMIT]))
    for said, turned in _TURNED:
        text = re.sub(said, turned, text)
    terms, operators = _parse(text)
    if not terms or (wanted is None and not operators):
        raise SumError("I found no sum in that. You could ask: what is twelve times seven?")
    said = terms[0].say() + "".join(
        f" {_SAID[operator]} {term.say()}" for operator, term in zip(operators, terms[1:], strict=True)
    )
    answer = _evaluate(terms, operators)
    if wanted is not None:
        answer = _converted(answer, wanted)
    if abs(answer.value) > LARGEST:
        raise SumError("That is a larger number than I can say.")
    several = wanted is not None and not operators and terms[0].value != 1
    return (
        f"{said.strip()} {'are' if several else 'is'} {answer.say()}.".capitalize()
        .replace("celsius", "Celsius")
        .replace("fahrenheit", "Fahrenheit")
    )


def _tidy(question: str) -> str:
    """Numbers in numerals, no politeness, and "an hour" as "1 hour"."""
    text = re.sub(r"['’](?:s|re|d|ll|m)\b|[?!,]|\bplease\b", " ", with_numerals(question))
    text = re.sub(r"(?<=\d) +of +(?:a|an|1)(?= )", "", text)
    return re.sub(r"\ban? +([a-z]+)", lambda match: f"1 {match[1]}" if find_unit(match[1]) else match[0], text)


def _wanted_unit(text: str) -> tuple[Unit | None, str]:
    """Find the unit the answer is to be in.

    Returns:
        The unit, or ``None``, and the rest of the text.
    """
    for pattern in (r"\bhow (?:many|much) (?:degrees )?([a-z]+)\b", r"\b(?:in|into|to|as) (?:degrees )?([a-z]+)\W*$"):
        match = re.search(pattern, text)
        unit = find_unit(match[1]) if match else None
        if match and unit is not None:
            return unit, f"{text[: match.start()]} {text[match.end() :]}"
    return None, text


def _parse(text: str) -> tuple[list[Quantity], list[str]]:
    """Take terms and the operators between them out of a text."""
    terms: list[Quantity] = []
    operators: list[str] = []
    pending: str | None = None
    negative = False
    for token in text.split():
        if NUMERAL.fullmatch(token):
            if len(terms) > len(operators):
                if pending is None:
                    raise SumError("I heard two numbers and nothing to do with them. Is it plus, minus or times?")
                operators.append(pending)
            terms.append(Quantity(value=Fraction(token) * (-1 if negative else 1)))
            pending, negative = None, False
        elif token in _OPERATORS and terms:
            # After an operator only a sign may follow: "three times minus two".
            negative = pending is not None and _OPERATORS[token] == "-"
            pending = pending if pending is not None and token in ("and", "of", "-", "minus") else _OPERATORS[token]
        elif token in ("minus", "-") and not terms:
            negative = True
        elif (unit := find_unit(token)) is not None and terms and terms[-1].unit is None and pending is None:
            terms[-1] = Quantity(value=terms[-1].value, unit=unit)
        elif token not in _SILENT and token not in ("add", "from"):
            raise SumError(f"I do not know what to do with the word {token[:30]!r} in a sum.")
    return terms, operators


def _evaluate(terms: list[Quantity], operators: list[str]) -> Quantity:
    """Work out a row of terms, multiplication and division first, from the left."""
    values, waiting = [terms[0]], list[str]()
    for operator, term in zip(operators, terms[1:], strict=True):
        while waiting and _BINDS[waiting[-1]] >= _BINDS[operator]:
            _reduce(values, waiting)
        waiting.append(operator)
        values.append(term)
    while waiting:
        _reduce(values, waiting)
    return values[0]


def _reduce(values: list[Quantity], waiting: list[str]) -> None:
    right, left, operator = values.pop(), values.pop(), waiting.pop()
    values.append(_APPLY[operator](left, right))


def _add(left: Quantity, right: Quantity, sign: int = 1) -> Quantity:
    if (left.unit is None) != (right.unit is None):
        raise SumError("One of the numbers has a unit and the other has none, so I cannot put them together.")
    if left.unit is not None and right.unit is not None:
        right = _converted(right, left.unit)
    return Quantity(value=left.value + sign * right.value, unit=left.unit)


def _subtract(left: Quantity, right: Quantity) -> Quantity:
    return _add(left, right, sign=-1)


def _multiply(left: Quantity, right: Quantity) -> Quantity:
    if left.unit is not None and right.unit is not None:
        raise SumError("I can only multiply a measure by a plain number.")
    return Quantity(value=left.value * right.value, unit=left.unit or right.unit)


def _divide(left: Quantity, right: Quantity) -> Quantity:
    if right.value == 0:
        raise SumError("Nothing can be divided by zero.")
    if right.unit is None:
        return Quantity(value=left.value / right.value, unit=left.unit)
    if left.unit is None:
        raise SumError("I can only divide a measure by a number or by another measure.")
    return Quantity(value=_converted(left, right.unit).value / right.value)


_APPLY: dict[str, Callable[[Quantity, Quantity], Quantity]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
}


def _converted(quantity: Quantity, wanted: Unit) -> Quantity:
    unit = quantity.unit
    if unit is None:
        raise SumError(f"I heard how many, but not of what, so I cannot say it in {wanted.plural}.")
    if unit.dimension != wanted.dimension:
        raise SumError(f"{unit.plural.capitalize()} measure {unit.dimension}, and {wanted.plural} {wanted.dimension}.")
    base = quantity.value * unit.factor + unit.offset
    return Quantity(value=(base - wanted.offset) / wanted.factor, unit=wanted)
