"""Amounts of money as they are said: "twenty dollars and fifty cents", "$1,200", "about 80 euros"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from agents.reading.numbers import with_numerals

__all__ = ["Money", "read_money"]

_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}
_NAMES = {
    **dict.fromkeys(("dollar", "dollars", "bucks", "usd"), "USD"),
    **dict.fromkeys(("euro", "euros", "eur"), "EUR"),
    **dict.fromkeys(("pound", "pounds", "quid", "gbp"), "GBP"),
}
_SMALL = {"cent": "", "cents": "", "pence": "GBP", "penny": "GBP", "p": "GBP"}
_SIGNED = re.compile(r"([$€£])\s*([\d,]*\.?\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """An amount."""

    amount: Decimal
    currency: str | None
    """ISO 4217; ``None``: it was not said."""


def read_money(text: str) -> Money | None:
    """Read the one amount of an utterance.

    Returns:
        It; ``None`` when there is none, or more than one.
    """
    named = _SIGNED.sub(lambda match: f" {match[2]} {_SIGNS[match[1]]} ", text)
    tokens = with_numerals(named).split()
    whole = [place for place, token in enumerate(tokens) if re.fullmatch(r"\d+(?:\.\d+)?", token)]
    if not whole or len(whole) > 2:
        return None
    amount = Decimal(tokens[whole[0]])
    unit = tokens[whole[0] + 1] if whole[0] + 1 < len(tokens) else ""
    if len(whole) == 1:
        if unit in _SMALL:
            return Money(amount=amount / 100, currency=_SMALL[unit] or None)
        return Money(amount=amount, currency=_NAMES.get(unit))
    # "Twenty dollars fifty", "twenty dollars and fifty cents": the second number counts hundredths.
    between = tokens[whole[0] + 1 : whole[1]]
    cents = tokens[whole[1]]
    if between[:1] and between[0] in _NAMES and between[1:] in ([], ["and"]) and cents.isdecimal() and int(cents) < 100:
        return Money(amount=amount + Decimal(cents) / 100, currency=_NAMES[between[0]])
    return None
