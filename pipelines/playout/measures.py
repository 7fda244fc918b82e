"""Measures: money and units in English words.

Above: ``rewrites``. Below: ``numerals``.
"""

from __future__ import annotations

import re

from pipelines.playout.numerals import amount

__all__ = ["CODES", "SIGNS", "UNITS", "counted", "measure", "price"]

_UNITS: dict[str, tuple[str, str]] = {
    "km/h": ("kilometre per hour", "kilometres per hour"),
    "kph": ("kilometre per hour", "kilometres per hour"),
    "mph": ("mile per hour", "miles per hour"),
    "km": ("kilometre", "kilometres"),
    "cm": ("centimetre", "centimetres"),
    "mm": ("millimetre", "millimetres"),
    "m": ("metre", "metres"),
    "mi": ("mile", "miles"),
    "ft": ("foot", "feet"),
    "kg": ("kilogram", "kilograms"),
    "mg": ("milligram", "milligrams"),
    "g": ("gram", "grams"),
    "lbs": ("pound", "pounds"),
    "lb": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "ml": ("millilitre", "millilitres"),
    "l": ("litre", "litres"),
    "L": ("litre", "litres"),
    "ms": ("millisecond", "milliseconds"),
    "s": ("second", "seconds"),
    "sec": ("second", "seconds"),
    "min": ("minute", "minutes"),
    "mins": ("minute", "minutes"),
    "h": ("hour", "hours"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
    "kHz": ("kilohertz", "kilohertz"),
    "MHz": ("megahertz", "megahertz"),
    "GHz": ("gigahertz", "gigahertz"),
    "Hz": ("hertz", "hertz"),
    "kWh": ("kilowatt hour", "kilowatt hours"),
    "kW": ("kilowatt", "kilowatts"),
    "W": ("watt", "watts"),
    "KB": ("kilobyte", "kilobytes"),
    "kB": ("kilobyte", "kilobytes"),
    "MB": ("megabyte", "megabytes"),
    "GB": ("gigabyte", "gigabytes"),
    "TB": ("terabyte", "terabytes"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": ("degree", "degrees"),
}
_CURRENCIES: dict[str, tuple[str, str, str, str]] = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
}
_CODES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}
_SCALES = {"k": "thousand", "m": "million", "bn": "billion", "b": "billion"}

SIGNS = "".join(_CURRENCIES)
"""The signs of the currencies :func:`price` knows, for a character class."""
CODES = "|".join(_CODES)
"""Their codes, for an alternation."""
UNITS = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
"""The units :func:`measure` knows, for an alternation."""


def counted(figures: str, one: str, many: str) -> str:
    """Say how many there are of a thing, leading zeros aside: "05" seconds are "five seconds"."""
    plain = figures.lstrip("0") or "0"
    return f"{amount(plain)} {one if plain == '1' else many}"


def price(figures: str, currency: str, scale: str | None = None) -> str:
    """Say a price: "9.99" and "$" are "nine dollars and ninety-nine cents".

    Args:
        figures: as :func:`amount` takes them.
        currency: a sign or a code.
        scale: what multiplies the figures: a word, or k, m, bn or b.
    """
    one, many, one_part, parts = _CURRENCIES[_CODES.get(currency, currency)]
    if scale:
        return f"{amount(figures)} {_SCALES.get(scale.lower(), scale)} {many}"
    whole, _, part = figures.replace(",", "").partition(".")
    if len(part) != 2:
        return f"{amount(figures)} {one if figures == '1' else many}"
    said = [counted(whole, one, many)] if whole.strip("0") else []
    said += [counted(part, one_part, parts)] if part != "00" or not said else []
    return " and ".join(said)


def measure(figures: str, unit: str, *, to: str | None = None) -> str:
    """Say an amount of a unit, or a range of amounts: "5" and "km" are "five kilometres".

    Args:
        figures: as :func:`amount` takes them.
        unit: as it is written, or "%".
        to: the range's other end.
    """
    said = f"{amount(figures)} to {amount(to)}" if to else amount(figures)
    one, many = ("percent", "percent") if unit == "%" else _UNITS[unit]
    return f"{said} {one if figures == '1' and not to else many}"
