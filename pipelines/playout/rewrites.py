"""Rewrites: what written things sound like in English, each a pattern and the words for its match.

Above: ``speakable`` replaces the matches and remembers where they stood. Below: ``measures``, ``numerals``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from pipelines.playout.measures import CODES, SIGNS, UNITS, counted, measure, price
from pipelines.playout.numerals import amount, cardinal, digit_by_digit, ordinal, plural, year

__all__ = ["ENGLISH", "MARKUP", "say"]

_INT = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)"
_NUM = rf"(?:{_INT}(?:\.[0-9]+)?|\.[0-9]+)"
_URL_CHAR = r"[^\s<>\[\]{}|\\^`\"“”]"
_URL_LAST = r"[^\s<>\[\]{}|\\^`\"“”.,;:!?')*_]"
_DOMAIN = "com|org|net|edu|gov|io|ai|dev|app|info|biz|co|uk|de|fr|eu|at|ch"

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_ABBREVIATIONS = {
    "Mr": "Mister",
    "Mrs": "Missus",
    "Prof": "Professor",
    "e.g": "for example",
    "i.e": "that is",
    "etc": "et cetera",
    "vs": "versus",
    "approx": "approximately",
    "Ave": "Avenue",
    "Blvd": "Boulevard",
    "Rd": "Road",
    "Apt": "Apartment",
    "Jr": "Junior",
    "Sr": "Senior",
    "dept": "department",
    "Dept": "Department",
}
_FRACTIONS = {"1/2": "one half", "1/3": "one third", "2/3": "two thirds", "1/4": "one quarter", "3/4": "three quarters"}
_FRACTIONS |= {"½": "one half", "⅓": "one third", "⅔": "two thirds", "¼": "one quarter", "¾": "three quarters"}
_ADDRESS_SIGNS = {".": "dot", "/": "slash", "-": "dash", "_": "underscore", "@": "at", "+": "plus", ":": "colon"}
_ADDRESS_SIGNS |= {"?": "question mark", "=": "equals", "&": "and", "#": "hash", "%": "percent", "~": "tilde"}
_LONGEST_ADDRESS = 60
"""Characters; of a longer address only the host is said, since nobody can follow the rest."""

_MARKUP_RULES = {
    "fence": r"```[\s\S]*?(?:```|\Z)",
    "dropped": (
        r"^[ \t]*+(?:[-*_=][ \t]*+){3,}$|^\|?(?=[ \t:|-]*-)(?=[ \t:|-]*\|)[ \t:|-]++$"  # rules, also those of tables
        r"|^[ \t]{0,3}\#{1,6}(?:[ \t]++|$)|^[ \t]*+>[ \t>]*+|^[ \t]*+[-*+•‣◦][ \t]++(?:\[[ xX]\][ \t]++)?"
        r"|^[ \t]*+\|[ \t]*+|[ \t]{0,4}\|[ \t]*+$"
        r"|!\[(?=[^\]\n]{0,100}\]\()|\]\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?"
        r"(?:[ \t]+\"[^\"\n]{0,200}\")?\)"
        r"|</?[A-Za-z][^<>\n]{0,200}>"
        # Pictures, with the space before them; then what no voice can say.
        r"|\s{0,4}(?:[\u20e3\u2190-\u2191\u2193-\u21ff\u2300-\u23ff\u2460-\u24ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297"
        r"\u3299©®™\U0001f000-\U0001faff][\u200d\ufe0f\u20e3\U000e0020-\U000e007f]*)+"
        r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufe0f\ufeff\ud800-\udfff"
        r"\ufff9-\uffff\U000e0000-\U000e007f]+"
    ),
    "cell": r"[ \t]{0,4}\|[ \t]*",
    "joined": r"(?<=\w)_+(?=\w)",
}
_LETTER_RULES = {
    "url": rf"(?<!\w)(?:https?://|www\.){_URL_CHAR}*{_URL_LAST}",
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}(?![\w-])",
    "domain": rf"(?<![\w@.-])(?:[A-Za-z0-9-]{{2,63}}\.){{1,4}}(?:{_DOMAIN})(?![\w-])(?:/{_URL_CHAR}*{_URL_LAST})?",
    "monthday": (
        rf"(?<!\w)(?P<month>Sept|{_MONTH})\.?[ ](?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?"
        r"(?:,?[ ](?P<in_year>[12][0-9]{3}))?(?![\w:.,]?[\w%])"
    ),
    "doctor": r"(?<!\w)Dr\.?(?=[ ][A-Z])",
    "saint": r"(?<![\w.])(?<![A-Za-z][ ])St\.(?=[ ][A-Z])|(?<=in[ ])St\.(?=[ ][A-Z])",
    "street": r"(?<=[a-z][ ])St\.(?![ ][A-Z])",
    "short": rf"(?<![\w.])(?P<abbreviation>{'|'.join(map(re.escape, _ABBREVIATIONS))})\.",
    "with": r"(?<!\w)w/o?(?!\w)",
}
_FIGURE_RULES = {
    "isodate": r"(?<![\w-])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![\w-])",
    "slashdate": r"(?<![\w/])[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}(?![\w/])",
    "phone": (
        r"(?<!\w)(?:\+[0-9]{1,3}(?:[ .-]?\(?[0-9]{1,5}\)?){1,6}|\([0-9]{2,4}\)[ -]?[0-9]{3,4}[ -]?[0-9]{3,4}"
        r"|[0-9]{2,5}(?:-[0-9]{2,5}){2,5}|[0-9]{3}-[0-9]{4})(?!\w|-[0-9])"
    ),
    "time": (
        r"(?<![\w:.])(?:(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9]))?(?![\w:])"
        r"|(?P<clock>1[0-2]|0?[1-9])(?=[ ]?[AaPp]\.?[Mm]\b)"
        r"|(?P<hour12>1[0-2]|0?[1-9]):(?P<minute12>[0-5][0-9])(?=[AaPp][Mm]\b))"
        r"(?:[ ]?(?P<half>[AaPp])(?:\.[Mm]\.?|[Mm])(?!\w))?"
    ),
    "money": (
        rf"(?P<currency>[{SIGNS}])[ ]?(?P<price>{_NUM})"
        r"(?:[ ]?(?P<scale>k|K|m|M|bn|B|thousand|million|billion|trillion)(?!\w))?"
    ),
    "moneyafter": rf"(?<![\w.,])(?P<priceafter>{_NUM})[ ]?(?P<currencyafter>[{SIGNS}]|(?:{CODES})(?!\w))",
    "decade": r"(?<!\w)(?:[12][0-9])?[0-9]0s(?!\w)",
    "measure": (
        rf"(?<![\w.,])(?P<minus>[-−])?(?P<low>{_NUM})(?:[ ]?[-–][ ]?(?P<high>{_NUM}))?"
        rf"[ ]?(?P<unit>%|(?:{UNITS})(?![\w/]))"
    ),
    "place": r"(?<!\w)[0-9]{1,15}(?:st|nd|rd|th)(?!\w)",
    "fraction": r"(?<![\w/])(?:1/[234]|2/3|3/4)(?![\w/])|[½⅓⅔¼¾]",
    "version": r"(?<![\w.])(?:[0-9]{1,9}(?:\.[0-9]{1,9}){2,9}|[vV][0-9]{1,9}(?:\.[0-9]{1,9}){1,9})(?!\w)",
    "range": rf"(?<![\w.,-])(?P<first>{_NUM})[ ]?[-–—][ ]?(?P<last>{_NUM})(?![\w-])",
    "number": rf"(?<![\w.])(?P<sign>[-−](?=[0-9.]))?(?P<figures>{_NUM})(?!\w)",
    "mixed": r"[0-9]+",
}
_SIGN_RULES = {
    "hashnumber": r"(?:\#|\b[Nn]o\.[ ]?|№[ ]?)(?=[0-9])",
    "about": r"(?<!\S)[~≈][ ]?(?=[0-9$€£])",
    "times": r"(?<=[0-9])[ ]?[x×*][ ]?(?=[0-9])",
    "over": r"(?<=[0-9])[ ]?÷[ ]?(?=[0-9])",
    "less": r"[ ]?<[ ]?(?=[0-9])",
    "more": r"[ ]?>[ ]?(?=[0-9])",
    "and": r"[ ]?&(?:amp;)?[ ]?",
    "space": r"&nbsp;",
    "at": r"[ ]?@[ ]?",
    "to": r"[ ]?(?:[-=]+>|→)[ ]?|(?<=:[0-9]{2})[ ]?[-–][ ]?(?=[0-9]{1,2}:)",
    "plus": r"[ ]\+[ ]|\+[ ]?",
    "equals": r"[ ]?=+[ ]?",
    "either": r"(?<=\w)/(?=\w)",
    "pause": r"[ ]{0,4}(?:—|–|-{2,}|(?<=[ ])-(?=[ ])|(?<=[ ])/(?=[ ]))[ ]*",
}


def _any(rules: dict[str, str], first: str) -> str:
    """Join rules whose matches begin with certain characters: elsewhere none of them need be tried."""
    return f"(?={first})(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in rules.items()) + ")"


def _compiled(*groups: str) -> re.Pattern[str]:
    # Nothing begins inside a word or in the middle of a gap, which is most of a text.
    return re.compile(rf"(?!(?<=[A-Za-z])[A-Za-z]|(?<=[ \t])[ \t]{{2}})(?:{'|'.join(groups)})", re.MULTILINE)


_MARKUP = _any(_MARKUP_RULES, "[^A-Za-z0-9]")
_LEFTOVERS = r"(?P<mark>[*_`~^\\{}\[\]<>|#]+)"
MARKUP = _compiled(_MARKUP, _LEFTOVERS)
"""What is not said in any language."""
ENGLISH = _compiled(
    _MARKUP,
    _any(_LETTER_RULES, r"[\w.+-]"),
    _any(_FIGURE_RULES, f"[0-9.+({SIGNS}½⅓⅔¼¾vV−-]"),
    _any(_SIGN_RULES, r"[\W_Nnx]"),
    _LEFTOVERS,
)
"""The same, and what English says in words of its own."""


def say(match: re.Match[str]) -> str:
    """Give the words for a match of :data:`MARKUP` or :data:`ENGLISH`; may be empty."""
    rule = match.lastgroup or ""
    if rule in _FIXED:
        return _FIXED[rule]
    return _SPOKEN[rule](match)


def _address(text: str) -> str:
    said: list[str] = []
    for part in re.findall(r"[0-9]+|[^\W\d_]+|.", text):
        if part[0] in "0123456789":
            said.append(digit_by_digit(part))
        else:
            said.append(_ADDRESS_SIGNS.get(part, part if part.isalnum() else ""))
    return " ".join(filter(None, said))


def _url(match: re.Match[str]) -> str:
    bare = re.sub(r"^(?:https?://)?(?:www\.)?", "", match[0]).rstrip("/")
    return _address(
        bare if len(bare) <= _LONGEST_ADDRESS else re.split(r"[/?#]", bare, maxsplit=1)[0][:_LONGEST_ADDRESS]
    )


def _isodate(match: re.Match[str]) -> str:
    try:
        day = date.fromisoformat(match[0])
    except ValueError:
        return ", ".join(digit_by_digit(group) for group in match[0].split("-"))
    return f"{_MONTHS[day.month - 1]} {ordinal(day.day)}, {_year(day.year)}"


def _slashdate(match: re.Match[str]) -> str:
    first, second, in_year = map(int, match[0].split("/"))
    month, day = (first, second) if second > 12 else (second, first)
    ambiguous = first != second and max(first, second) <= 12
    if ambiguous or not (1 <= month <= 12 and 1 <= day <= 31):
        # Both orders make sense, or none does: saying the figures is never wrong.
        return f"{cardinal(first)}, {cardinal(second)}, {_year(in_year)}"
    return f"{_MONTHS[month - 1]} {ordinal(day)}, {_year(in_year)}"


def _year(number: int) -> str:
    return year(number) if number >= 1000 else cardinal(number)


def _monthday(match: re.Match[str]) -> str:
    month = next(name for name in _MONTHS if name.startswith(match["month"][:3]))
    in_year = f", {year(int(match['in_year']))}" if match["in_year"] else ""
    return f"{month} {ordinal(int(match['day']))}{in_year}"


def _phone(match: re.Match[str]) -> str:
    groups = ", ".join(digit_by_digit(group) for group in re.findall(r"[0-9]+", match[0]))
    return f"plus {groups}" if match[0].startswith("+") else groups


def _time(match: re.Match[str]) -> str:
    hour = int(match["hour"] or match["hour12"] or match["clock"])
    minute = int(match["minute"] or match["minute12"] or 0)
    half = f" {match['half'].lower()} m" if match["half"] else ""
    said = cardinal(hour)
    if minute:
        said += f" {'oh ' if minute < 10 else ''}{cardinal(minute)}"
    elif not half:
        said += " o'clock" if 1 <= hour <= 12 else " hundred"
    if match["second"]:
        said += f" and {counted(match['second'], 'second', 'seconds')}"
    return said + half + _final_stop(match)


def _final_stop(match: re.Match[str]) -> str:
    """Keep the stop of an abbreviation that also ends the text."""
    ends = match[0].endswith(".") and match.end() + 1 >= len(match.string)
    return "." if ends else ""


def _money(match: re.Match[str]) -> str:
    return price(match["price"], match["currency"], match["scale"])


def _moneyafter(match: re.Match[str]) -> str:
    return price(match["priceafter"], match["currencyafter"])


def _measure(match: re.Match[str]) -> str:
    said = measure(match["low"], match["unit"], to=match["high"])
    return f"minus {said}" if match["minus"] else said


def _decade(match: re.Match[str]) -> str:
    number = int(match[0][:-1])
    if number < 10:
        return digit_by_digit(match[0]) + "s"
    return plural(year(number) if number >= 1000 else cardinal(number))


def _range(match: re.Match[str]) -> str:
    return f"{_number_words(match['first'])} to {_number_words(match['last'])}"


def _number(match: re.Match[str]) -> str:
    return ("minus " if match["sign"] else "") + _number_words(match["figures"])


def _number_words(figures: str) -> str:
    if len(figures) >= 5 and figures.isdigit():
        return digit_by_digit(figures)
    if len(figures) == 4 and figures.isdigit() and 1100 <= int(figures) < 2100:
        return year(int(figures))
    return amount(figures)


def _version(match: re.Match[str]) -> str:
    figures = match[0].lstrip("vV")
    said = " point ".join(amount(part) for part in figures.split("."))
    return said if figures == match[0] else f"version {said}"


def _mixed(match: re.Match[str]) -> str:
    """Say figures that stand against letters, as in "A380" or "mp3"."""
    said = cardinal(int(match[0])) if len(match[0]) <= 2 and match[0][0] != "0" else digit_by_digit(match[0])
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    return f"{' ' if before.isalpha() else ''}{said}{' ' if after.isalpha() else ''}"


def _short(match: re.Match[str]) -> str:
    return _ABBREVIATIONS[match["abbreviation"]] + _final_stop(match)


_FIXED = {
    "dropped": "",
    "mark": "",
    "cell": ", ",
    "joined": " ",
    "hashnumber": "number ",
    "about": "about ",
    "times": " times ",
    "over": " divided by ",
    "less": " less than ",
    "more": " more than ",
    "doctor": "Doctor",
    "saint": "Saint",
    "street": "Street",
    "and": " and ",
    "space": " ",
    "at": " at ",
    "to": " to ",
    "plus": " plus ",
    "equals": " equals ",
    "either": " ",
    "pause": ", ",
}
_SPOKEN: dict[str, Callable[[re.Match[str]], str]] = {
    "fence": lambda match: "code omitted" if match[0].strip("`\n ") else "",
    "url": _url,
    "domain": _url,
    "email": lambda match: _address(match[0]),
    "isodate": _isodate,
    "slashdate": _slashdate,
    "monthday": _monthday,
    "phone": _phone,
    "time": _time,
    "money": _money,
    "moneyafter": _moneyafter,
    "measure": _measure,
    "place": lambda match: ordinal(int(match[0][:-2])),
    "decade": _decade,
    "fraction": lambda match: _FRACTIONS[match[0]],
    "version": _version,
    "range": _range,
    "number": _number,
    "mixed": _mixed,
    "short": _short,
    "with": lambda match: "without" if match[0] == "w/o" else "with",
}
