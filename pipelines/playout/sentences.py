"""Sentences: cuts an agent's text, while it is still being written, into pieces a synthesiser can speak one by one.

Above: the cascade feeds the deltas of a reply. Below: nothing. A decision needs only the text around a mark, so it
comes out the same however the text was split into deltas.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from pipelines.turns.words import vocabulary

__all__ = ["Sentence", "SentenceSplitter"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of the source, with the white space behind it."""

    text: str
    start: int
    """Offset into the joined source."""
    end: int
    """Offset into the joined source, exclusive."""


_TITLES = vocabulary(
    "mr mrs ms mx dr prof rev hon gen sen rep gov capt cmdr lt col sgt messrs mt e.g i.e eg ie vs cf approx viz"
)
"""Abbreviations no sentence ends on."""

_NUMBERED = vocabulary("no nos fig figs vol pp p ch sec art ext apt jan feb apr jun jul aug sep sept oct nov dec")
"""Abbreviations that go on when a number follows."""

_MAYBE_LAST = vocabulary("st ave rd blvd inc ltd co corp etc jr sr dept est al")
"""Abbreviations a sentence may end on: it does when what follows begins like one."""

_STARTERS = vocabulary("""
    the a an i you he she it we they this that these those there here what when where who why how which do does did is
    are was were can could will would shall should have has had please if in on at as for and but or so yes no not now
    then let my your his her our their its okay ok thanks thank sorry well also however after before i'm i'll i've it's
    that's there's we're we'll you're they're don't let's what's next first finally
""")
"""Words that, capitalised, begin a sentence more often than they carry on a name."""

_STOP = ".!?…‥؟۔։‼⁇⁈⁉"
_STOP_UNSPACED = "。！？｡．।॥။።។"
"""Stops behind which no space is written."""
_CLOSING = "\"'”’»)]}*_`」』）】》〉"
_CLAUSE = ",;:—–،؛，、；："
_CLAUSE_UNSPACED = "—，、；："
_MARK = re.compile(
    "(?P<fence>```)|(?P<line>\n)"
    f"|(?P<stop>[{re.escape(_STOP + _STOP_UNSPACED)}]+)(?P<closing>[{re.escape(_CLOSING)}]*)"
    f"|(?P<clause>[{re.escape(_CLAUSE)}])[{re.escape(_CLOSING)}]*"
)
_SPACES = re.compile(r"\s*")
_GLYPHS = re.compile("[\\s\u200d\ufe0f\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]*")
"""White space and pictures behind a stop: a smile belongs to the sentence it follows."""
_TOKEN = re.compile(r"[\w.'’&-]*$")
_WORD = re.compile(r"[\w'’]*")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_LIST_NUMBER = re.compile(r"(?:^|\n)\s*(?:\d{1,3}|[^\W\d_])$")
_CLAUSE_END = re.compile(f"[{re.escape(_CLAUSE)}]\\s+(?=\\S)|[{re.escape(_CLAUSE_UNSPACED)}](?=\\S)")
_WORD_END = re.compile(r"\s(?=\S)")
_LOOKBEHIND = 40
"""Characters read before a stop; no abbreviation is longer."""


class SentenceSplitter:
    """Cuts the text of one utterance.

    Pieces joined are the source, except that a tail without letters or digits waits for more and, when none comes,
    is left out. A stop at the end of what is known waits too, since "3." may become "3.14".
    """

    def __init__(self, *, first_clause: int | None = 30, longest: int = 300) -> None:
        """Begin an utterance.

        Args:
            first_clause: columns (a wide character has two) from which the first piece may end at a comma or the like,
                to be heard sooner; ``None`` for whole sentences only.
            longest: characters after which a sentence is cut where it hurts least; at least 20.
        """
        if longest < 20:
            raise ValueError(f"the longest sentence must have at least 20 characters, got {longest}")
        self._first_clause = first_clause
        self._longest = longest
        self._rest = ""
        self._offset = 0
        self._looked_at = 0

    def feed(self, delta: str) -> list[Sentence]:
        """Take more of the text; give the pieces that are certain now."""
        self._rest += delta
        return self._cut(final=False)

    def flush(self) -> list[Sentence]:
        """Give the rest: no more text is coming soon. More may be fed afterwards."""
        pieces = self._cut(final=True)
        if _says_something(self._rest):
            pieces.append(self._take(len(self._rest)))
        return pieces

    def _cut(self, *, final: bool) -> list[Sentence]:
        pieces: list[Sentence] = []
        while (end := self._next_cut(final)) is not None:
            pieces.append(self._take(end))
        return pieces

    def _take(self, end: int) -> Sentence:
        piece = Sentence(self._rest[:end], self._offset, self._offset + end)
        self._rest = self._rest[end:]
        self._offset += end
        self._looked_at = 0
        self._first_clause = None
        return piece

    def _next_cut(self, final: bool) -> int | None:
        """Find the first cut; ``None`` while there is none. A mark judged to be no cut is not looked at again."""
        while True:
            mark = _MARK.search(self._rest, self._looked_at)
            # Without a mark, one may still be coming to light at the end: two backticks of three.
            if (mark.start() if mark else len(self._rest) - len("```")) >= self._longest:
                return self._long_cut()
            if mark is None:
                return None
            end = self._judge(mark, final)
            if end == len(self._rest):
                self._looked_at = mark.start()
                return None
            if end and _says_something(self._rest[:end]):
                return end
            self._looked_at = max(end, mark.end())

    def _judge(self, mark: re.Match[str], final: bool) -> int:
        """Place the cut a mark makes: 0 for none, the end of the text when only more text can tell."""
        match mark.lastgroup:
            case "fence":
                return self._after_fence(mark)
            case "line":
                return self._after_space(mark.start())
            case "clause":
                return self._after_clause(mark)
            case _:
                return self._after_stop(mark, final)

    def _after_space(self, at: int) -> int:
        found = _SPACES.match(self._rest, at)
        return found.end() if found else at

    def _after_fence(self, mark: re.Match[str]) -> int:
        """Keep a block of code in one piece: what is to be said of it depends on the whole."""
        line = self._rest[self._rest.rfind("\n", 0, mark.start()) + 1 : mark.start()]
        if line.strip():
            return 0
        closing = self._rest.find("```", mark.end())
        return len(self._rest) if closing < 0 else self._after_space(closing + 3)

    def _after_clause(self, mark: re.Match[str]) -> int:
        if self._first_clause is None:
            return 0
        after = self._after_space(mark.end())
        spaced = after > mark.end() or mark["clause"] in _CLAUSE_UNSPACED
        said = self._rest[: mark.end()]
        in_link = said.count("[") > said.count("]")
        if after == len(self._rest) or (spaced and not in_link and _columns(said.strip()) >= self._first_clause):
            return after
        return 0

    def _after_stop(self, mark: re.Match[str], final: bool) -> int:
        found = _GLYPHS.match(self._rest, mark.end())
        after = found.end() if found else mark.end()
        behind = self._rest[mark.end() : after]
        if after == len(self._rest):
            return after
        if "\n" in behind:
            return self._after_space(mark.end() + behind.index("\n"))
        if any(stop in _STOP_UNSPACED for stop in mark["stop"]):
            return after
        if not any(char.isspace() for char in behind):
            return 0
        return self._after_spaced_stop(mark, after, final)

    def _after_spaced_stop(self, mark: re.Match[str], after: int, final: bool) -> int:
        begins_small = self._rest[after].islower()
        trails_off = mark["stop"].endswith(("..", "…", "‥"))
        if begins_small and (trails_off or mark["closing"]):
            return 0
        if mark["stop"] != "." or mark["closing"]:
            return after
        token = self._token_before(mark.start())
        if token in _TITLES or _LIST_NUMBER.search(self._rest, *self._window(mark.start())):
            return 0
        if token in _NUMBERED and self._rest[after].isdigit():
            return 0
        if token in _MAYBE_LAST or _ACRONYM.fullmatch(token) or (len(token) == 1 and token.isalpha()):
            return self._before_starter(after, final)
        return after

    def _before_starter(self, after: int, final: bool) -> int:
        """Cut only before a word that begins sentences: "at 7 p.m. We", not "at 7 p.m. Tuesday" or "J. K. Rowling"."""
        word = _WORD.match(self._rest, after)
        if word is None or not word[0]:
            return after
        if word.end() == len(self._rest) and not final:
            return len(self._rest)
        return after if word[0][0].isupper() and word[0].replace("’", "'").lower() in _STARTERS else 0

    def _window(self, at: int) -> tuple[int, int]:
        return max(at - _LOOKBEHIND, 0), at

    def _token_before(self, at: int) -> str:
        found = _TOKEN.search(self._rest, *self._window(at))
        return found[0].strip("'’&-.").lower() if found else ""

    def _long_cut(self) -> int:
        """Cut a sentence without end behind a clause, else behind a word, else between two whole characters."""
        for pattern, earliest in ((_CLAUSE_END, self._longest // 3), (_WORD_END, 1)):
            ends = [found.end() for found in pattern.finditer(self._rest, 0, self._longest + 1)]
            if ends and ends[-1] >= earliest:
                return ends[-1]
        cut = self._longest
        while cut > 1 and _joined(self._rest[cut - 1], self._rest[cut]):
            cut -= 1
        return cut


def _says_something(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _joined(before: str, after: str) -> bool:
    """Whether two characters are parts of one as written: a letter and its marks, a joined emoji."""
    return unicodedata.category(after)[0] == "M" or "\u200d" in (before, after)
