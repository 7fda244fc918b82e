"""Units of measure: what they are called and what they are worth, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Unit", "find_unit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit: ``value * factor + offset`` is in the base unit of its dimension."""

    dimension: str
    singular: str
    plural: str
    factor: Fraction
    offset: Fraction = Fraction(0)


# Dimension; then, unit by unit: singular/plural and further names, its worth in the dimension's base unit. The worths
# are exact by definition: the international yard and pound agreement of 1959, US customary measures for volume.
_TABLE = {
    "length": (
        "millimetre/millimetres,millimeter,millimeters,mm 1/1000",
        "centimetre/centimetres,centimeter,centimeters,cm 1/100",
        "metre/metres,meter,meters,m 1",
        "kilometre/kilometres,kilometer,kilometers,km,k 1000",
        "inch/inches 254/10000",
        "foot/feet,ft 3048/10000",
        "yard/yards,yd 9144/10000",
        "mile/miles 1609344/1000",
    ),
    "weight": (
        "gram/grams,gramme,grammes,g 1/1000",
        "kilogram/kilograms,kilo,kilos,kilogramme,kilogrammes,kg 1",
        "tonne/tonnes,ton,tons 1000",
        "ounce/ounces,oz 45359237/1600000000",
        "pound/pounds,lb,lbs 45359237/100000000",
        "stone/stone,stones 635029318/100000000",
    ),
    "volume": (
        "millilitre/millilitres,milliliter,milliliters,ml 1/1000",
        "litre/litres,liter,liters,l 1",
        "teaspoon/teaspoons 492892159375/100000000000000",
        "tablespoon/tablespoons 1478676478125/100000000000000",
        "cup/cups 2365882365/10000000000",
        "pint/pints 473176473/1000000000",
        "quart/quarts 946352946/1000000000",
        "gallon/gallons 3785411784/1000000000",
    ),
    "time": (
        "second/seconds,sec,secs 1",
        "minute/minutes,min,mins 60",
        "hour/hours,hr,hrs 3600",
        "day/days 86400",
        "week/weeks 604800",
    ),
    "money": ("cent/cents 1/100", "dollar/dollars 1"),
}
_TEMPERATURES = (
    Unit(
        dimension="temperature",
        singular="degree Celsius",
        plural="degrees Celsius",
        factor=Fraction(1),
    ),
    Unit(
        dimension="temperature",
        singular="degree Fahrenheit",
        plural="degrees Fahrenheit",
        factor=Fraction(5, 9),
        offset=Fraction(-160, 9),
    ),
)


def _units() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for dimension, rows in _TABLE.items():
        for row in rows:
            names, factor = row.rsplit(" ", 1)
            singular, _, rest = names.partition("/")
            plural = rest.split(",")[0]
            unit = Unit(dimension=dimension, singular=singular, plural=plural, factor=Fraction(factor))
            units |= dict.fromkeys([singular, *rest.split(",")], unit)
    celsius, fahrenheit = _TEMPERATURES
    return units | {"celsius": celsius, "centigrade": celsius, "fahrenheit": fahrenheit}


_UNITS = _units()


def find_unit(name: str) -> Unit | None:
    """Find a unit by any of its names, in lower case."""
    return _UNITS.get(name)
