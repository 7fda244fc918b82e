"""The picture of a call: who spoke, what was understood, where the time went, what was played and heard.

Above: the commands ``turn`` and ``picture``. Below: ``timeline`` says what of the call goes where, ``paper`` draws.
Time runs to the right; the caller is above, the agent below, the work that leads from one to the other between them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Samples
from pipelines.trace import Mark, MarkKind, Sentence, Span, SpanKind, Trace, Wait
from voice_server.errors import UsageError
from voice_server.overview import Overview
from voice_server.timeline import Stave, lay_out

if TYPE_CHECKING:
    from voice_server.paper import Paper

__all__ = ["SUFFIXES", "check_drawable", "draw"]

SUFFIXES = (".png", ".svg", ".pdf")
"""Formats that are drawn."""

_WIDTH = 1600
"""Pixels; so are all figures below."""

_LEFT, _RIGHT, _TOP, _BOTTOM, _BETWEEN = 104, 28, 46, 18, 30

_STAVES = 8
"""Most staves on a page, about two minutes of talk: higher pictures are shown shrunk, or not at all."""

_ROWS = {
    "time": 20,
    "turn": 28,
    "words": 20,
    "caller": 76,
    "speech": 52,
    "recogniser": 22,
    "wait": 32,
    "model": 22,
    "tools": 22,
    "synthesis": 22,
    "agent": 76,
    "says": 32,
    "events": 24,
}
"""What lies on a stave, from the top, and how high it is."""

_INK, _GREY, _FAINT, _RULE = "#1a202c", "#718096", "#a0aec0", "#e8ecf1"
_CALLER, _AGENT, _HELD, _CUT, _BOUND = "#2b6cb0", "#2f855a", "#f6ad55", "#c53030", "#cbd5e0"
_HELD_INK, _HEARD = "#9c5a10", "#e3f2e9"
_WORK = {
    SpanKind.STT: ("recogniser", "#a3bfdd"),
    SpanKind.MODEL: ("model", "#b8a5e0"),
    SpanKind.TOOL: ("tools", "#e3b283"),
    SpanKind.TTS: ("synthesis", "#93cbab"),
}
_LOUD = 2_000
"""Peak, of 32768, below which a track is drawn as quiet as it is: noise does not look like speech."""


def check_drawable(path: Path, option: str) -> None:
    """Find out, before anything that takes long, whether a picture can be drawn there.

    Args:
        path: where to.
        option: of the command line, for the message.

    Raises:
        UsageError: it cannot.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{option} {str(path)!r}: the name ends in none of {', '.join(SUFFIXES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("a picture needs 'matplotlib', which is not installed; run `pip install 'glove-voice[plot]'`")


def draw(trace: Trace, path: Path, *, title: str = "", start_s: float = 0.0, end_s: float = float("inf")) -> list[Path]:
    """Draw a call, or a stretch of it.

    Args:
        trace: of the call.
        path: where to; ``.png``, ``.svg`` or ``.pdf``.
        title: the line at the top.
        start_s: what was before is left out, seconds into the call.
        end_s: what comes after is left out.

    Returns:
        The pages: the first is ``path``; those of a long call stand beside it, with their numbers.

    Raises:
        OSError: a file cannot be written.
    """
    from voice_server.paper import Paper

    staves, length_ms = lay_out(trace, window_ms=(start_s * 1000, end_s * 1000))
    peaks = {"caller": _peak(trace.caller), "agent": _peak(trace.agent)}
    windows = np.array(sorted(trace.probabilities), dtype=np.float64).reshape(-1, 2)
    height = sum(_ROWS.values()) + _BETWEEN
    pages = [staves[first : first + _STAVES] for first in range(0, len(staves), _STAVES)]
    overview = Overview(trace, [(page[0].start_ms, page[-1].end_ms) for page in pages], peaks)
    written = []
    for number, page in enumerate(pages, 1):
        top = _TOP + (overview.height if number == 1 < len(pages) else 0)
        paper = Paper(_WIDTH, top + len(page) * height - _BETWEEN + _BOTTOM)
        heading = _heading(title, number, pages)
        paper.words(_LEFT, 24, heading, _INK, room=_WIDTH - _LEFT - _RIGHT, size=15, weight="bold")
        if top > _TOP:
            overview.draw(paper, (_LEFT, _WIDTH - _RIGHT), _TOP)
        for row, stave in enumerate(page):
            drawing = _Drawing(paper, trace, stave, top + row * height, length_ms)
            drawing.tracks(peaks)
            drawing.probability(windows)
            drawing.happenings()
        written.append(path if number == 1 else path.with_stem(f"{path.stem}-{number}"))
        paper.save(written[-1])
    return written


def _heading(title: str, number: int, pages: Sequence[Sequence[Stave]]) -> str:
    if len(pages) == 1:
        return title
    page = pages[number - 1]
    times = f"{page[0].start_ms / 1000:.0f} to {page[-1].end_ms / 1000:.0f} s"
    return f"page {number} of {len(pages)} · {times} · {title}"


def _peak(samples: Samples) -> int:
    """Give the loudest sample, looked for a stretch at a time: the track of a long call stays on the disk."""
    stretch = 60 * SPEAKING_RATE
    parts = (samples[start : start + stretch] for start in range(0, len(samples), stretch))
    return max((max(int(part.max()), -int(part.min())) for part in parts), default=0)


class _Drawing:
    """One stave being drawn."""

    def __init__(self, paper: Paper, trace: Trace, stave: Stave, top: float, length_ms: float) -> None:
        self._paper = paper
        self._trace = trace
        self._stave = stave
        self._scale = (_WIDTH - _LEFT - _RIGHT) / length_ms
        self._right = _LEFT + stave.length_ms * self._scale
        edges = np.cumsum([top, *_ROWS.values()])
        self._rows = {name: (float(a), float(b)) for name, (a, b) in zip(_ROWS, pairwise(edges), strict=True)}

    def tracks(self, peaks: dict[str, int]) -> None:
        """Draw the ground and what was audible; the loudest sample of each side sets its scale."""
        self._ground()
        self._guides()
        self._track("caller", self._trace.caller, HEARING_RATE, _CALLER, peaks["caller"])
        self._track("agent", self._trace.agent, SPEAKING_RATE, _AGENT, peaks["agent"])

    def happenings(self) -> None:
        """Draw what was done and said."""
        self._holds()
        self._work()
        self._waits()
        self._caller_words()
        self._sentences()
        self._events()

    def _x(self, place_ms: float) -> float:
        return _LEFT + place_ms * self._scale

    def _at(self, t_ms: float) -> float | None:
        place = self._stave.locate(t_ms)
        return None if place is None else self._x(place)

    def _parts(self, start_ms: float, end_ms: float) -> Iterator[tuple[float, float]]:
        """Yield the pixels of a span that lie on this stave, at least one wide each."""
        for piece in self._stave.pieces:
            if part := piece.clip(start_ms, max(end_ms, start_ms + 1)):
                yield self._x(part[0]), max(self._x(part[1]), self._x(part[0]) + 1)

    def _middle(self, row: str) -> float:
        return sum(self._rows[row]) / 2

    def _span(self, first: str, last: str) -> tuple[float, float]:
        return self._rows[first][0], self._rows[last][1]

    def _ground(self) -> None:
        """Lay the names of the rows, the seconds and the cuts."""
        for row in _ROWS:
            if row not in ("time", "turn", "words", "says"):
                self._paper.words(_LEFT - 14, self._middle(row), row, _GREY, align="right", size=12)
        for row in ("turn", "recogniser", "agent", "says"):
            self._paper.line((_LEFT, self._right), (self._rows[row][0],) * 2, _RULE)
        height = self._span("turn", "events")
        for piece in self._stave.pieces:
            for second in range(int(-(-piece.start_ms // 1000)), int(piece.end_ms // 1000) + 1):
                x = self._x(piece.place(second * 1000))
                self._paper.line((x, x), height, _RULE, zorder=0)
                self._paper.words(x, self._middle("time"), f"{second} s", _GREY, align="center", size=11)
        for before, after in pairwise(self._stave.pieces):
            gap = self._x(before.offset_ms + before.length_ms), self._x(after.offset_ms)
            self._paper.box(gap, height, "#f4f6f8")
            text = f"{after.skipped_ms / 1000:.0f} s of silence"
            self._paper.words(sum(gap) / 2, sum(height) / 2, text, _GREY, align="center", size=11, rotation=90)

    def _guides(self) -> None:
        """Lead the eye from the caller's last sample to the agent's first."""
        for wait in self._trace.waits:
            for t_ms, rows in (
                (wait.speech_end_ms, self._span("caller", "wait")),
                (wait.first_sound_ms, self._span("wait", "agent")),
            ):
                if (x := self._at(t_ms)) is not None:
                    self._paper.line((x, x), rows, _INK, width=0.9, linestyle=(0, (3, 3)), zorder=1)

    def _track(self, row: str, samples: Samples, rate: int, colour: str, loudest: int) -> None:
        top, bottom = self._rows[row]
        centre, reach = (top + bottom) / 2, (bottom - top) / 2 - 6
        peak = max(_LOUD, loudest)
        self._paper.line((_LEFT, self._right), (centre, centre), _BOUND, width=0.8, zorder=0)
        for piece in self._stave.pieces:
            first, last = (round(t_ms * rate / 1000) for t_ms in (piece.start_ms, piece.end_ms))
            part = samples[first:last]
            columns = min(len(part), int(len(part) / rate * 1000 * self._scale))
            if columns < 2:
                continue
            starts = np.linspace(0, len(part), columns, endpoint=False).astype(np.intp)
            x = self._x(piece.offset_ms) + starts / rate * 1000 * self._scale
            low, high = (bound.reduceat(part, starts) / peak * reach for bound in (np.minimum, np.maximum))
            self._paper.wave(x, centre - low, centre - high, colour)

    def probability(self, windows: npt.NDArray[np.float64]) -> None:
        """Draw how much like speech the caller's line was.

        Args:
            windows: of the whole call, ascending, shape ``(windows, 2)``: ms of its end, probability.
        """
        top, bottom = self._rows["speech"]
        top, bottom = top + 5, bottom - 5
        for value, style, shift in ((self._trace.entry, "-", -3), (self._trace.exit, ":", 4)):
            y = bottom - value * (bottom - top)
            self._paper.line((_LEFT, self._right), (y, y), _BOUND, width=1, linestyle=style)
            self._paper.words(self._right + 3, y + shift, f"{value:g}", _FAINT, size=9)
        for piece in self._stave.pieces:
            first, last = np.searchsorted(windows[:, 0], (piece.start_ms, piece.end_ms))
            inside = windows[first:last]
            if len(inside):
                x = _LEFT + (inside[:, 0] - piece.start_ms + piece.offset_ms) * self._scale
                self._paper.curve(x, bottom - inside[:, 1] * (bottom - top), bottom, _CALLER)
        for span in self._spans(SpanKind.SPEECH):
            for part in self._parts(span.start_ms, span.end_ms):
                self._paper.box(part, self._span("caller", "speech"), _CALLER, alpha=0.08, zorder=0)

    def _holds(self) -> None:
        y = self._rows["agent"]
        for span in self._spans(SpanKind.HOLD):
            for x in self._parts(span.start_ms, span.end_ms):
                self._paper.box(x, y, _HELD, alpha=0.35, zorder=0)
                text = f"held {(span.end_ms - span.start_ms) / 1000:.2f} s"
                self._paper.words(sum(x) / 2, y[0] + 9, text, _HELD_INK, room=x[1] - x[0], align="center", size=10)

    def _work(self) -> None:
        for span in self._trace.spans:
            if span.kind not in _WORK:
                continue
            row, colour = _WORK[span.kind]
            top, bottom = self._rows[row]
            for x in self._parts(span.start_ms, span.end_ms):
                self._paper.pill(x, (top + 4, bottom - 4), colour)
                label = span.label or f"{span.end_ms - span.start_ms:.0f} ms"
                self._beside(x, (top + bottom) / 2, label, self._next_start(span))

    def _next_start(self, span: Span) -> float:
        """Give how far a label behind a span may reach: to the next one of its kind."""
        later = [one.start_ms for one in self._spans(span.kind) if one.start_ms > span.start_ms]
        return self._limit(min(later, default=None))

    def _limit(self, t_ms: float | None) -> float:
        """Give how far a text may reach when the next thing in its row begins at a moment, or never."""
        x = None if t_ms is None else self._at(t_ms)
        return _WIDTH - _RIGHT if x is None else x - 6

    def _beside(self, x: tuple[float, float], y: float, label: str, limit: float) -> None:
        """Label a span inside when it fits, else to its right."""
        if self._paper.measure(label, 11) <= x[1] - x[0] - 8:
            self._paper.words(x[0] + 5, y, label, _INK, size=11)
        else:
            self._paper.words(x[1] + 4, y, label, _GREY, room=limit - x[1] - 4, size=11, halo=True)

    def _waits(self) -> None:
        top, bottom = self._rows["wait"]
        y = top + 9, bottom - 9
        for wait in self._trace.waits:
            for _, start_ms, end_ms, colour in _stages(wait):
                for x in self._parts(start_ms, end_ms):
                    self._paper.box(x, y, colour)
            for x in self._parts(wait.speech_end_ms, wait.first_sound_ms):
                self._paper.box(x, y, "none", edge=_INK)
            if (end := self._at(wait.first_sound_ms)) is not None:
                self._figures(wait, end, sum(y) / 2)

    def _figures(self, wait: Wait, end: float, y: float) -> None:
        """Write a wait's figures behind it, or, where the stave ends, before it."""
        total = f"{wait.first_sound_ms - wait.speech_end_ms:.0f} ms to the first sound"
        stages = " + ".join(f"{name} {last - first:.0f}" for name, first, last, _ in _stages(wait))
        if self._paper.measure(total, 12, True) > _WIDTH - _RIGHT - end - 8:
            begin = self._at(wait.speech_end_ms)
            x = _LEFT + 8 if begin is None else begin - 8
            self._paper.words(x, y, f"{total} = {stages}", _INK, align="right", size=11)
            return
        took = self._paper.words(end + 8, y, total, _INK, size=12, weight="bold")
        room = _WIDTH - _RIGHT - end - took - 16
        self._paper.words(end + took + 16, y, f"= {stages}", _GREY, room=room, size=11)

    def _caller_words(self) -> None:
        turns = [(said, said.commit_ms) for said in self._trace.said if said.commit_ms is not None]
        for (said, commit_ms), following in zip_longest(turns, turns[1:]):
            if (x := self._at(commit_ms)) is not None:
                self._paper.line((x, x), self._span("words", "speech"), _CALLER, width=1.4)
            limit = self._limit(None if following is None else following[0].start_ms)
            for x, end in self._parts(said.start_ms, commit_ms):
                room = max(end, limit) - x - 6
                text = f"“{said.text}”"
                self._paper.words(x, self._middle("turn"), text, _CALLER, room=room, size=14, weight="bold")
                break
        self._partials()

    def _partials(self) -> None:
        """Write each partial's new words where they became known."""
        before = ""
        previous_x = float(_LEFT)
        for mark in self._marks(MarkKind.PARTIAL, MarkKind.FINAL):
            new = _new_words(before, mark.label)
            before = "" if mark.kind is MarkKind.FINAL else mark.label
            if (x := self._at(mark.t_ms)) is None:
                continue
            y = self._middle("words")
            self._paper.line((x, x), (y - 6, y + 6), _CALLER if mark.kind is MarkKind.FINAL else _FAINT)
            self._paper.words(x - 4, y, new, _GREY, room=x - previous_x - 8, align="right", size=11)
            previous_x = x

    def _spans(self, kind: SpanKind) -> Iterator[Span]:
        return (span for span in self._trace.spans if span.kind is kind)

    def _marks(self, *kinds: MarkKind) -> list[Mark]:
        return sorted((mark for mark in self._trace.marks if mark.kind in kinds), key=lambda mark: mark.t_ms)

    def _sentences(self) -> None:
        top, bottom = self._rows["says"]
        y = top + 4, bottom - 4
        sentences = sorted(self._trace.sentences, key=lambda sentence: sentence.start_ms)
        for sentence, following in zip_longest(sentences, sentences[1:]):
            for piece in self._stave.pieces:
                if part := piece.clip(sentence.start_ms, sentence.end_ms):
                    x = self._x(part[0]), self._x(part[1])
                    self._paper.pill(x, y, _HEARD, edge=_AGENT)
                    words = _words_between(sentence, piece.start_ms, piece.end_ms)
                    self._paper.words(x[0] + 6, sum(y) / 2, words, _INK, room=x[1] - x[0] - 10, size=12)
            self._unheard(sentence, y, self._limit(None if following is None else following.start_ms))
        for mark in self._marks(MarkKind.CANCEL):
            if (at := self._at(mark.t_ms)) is not None:
                self._paper.line((at, at), self._rows["agent"], _CUT, width=1.8)
                self._paper.words(at + 5, self._rows["agent"][1] - 9, f"✂ {_plain(mark.label)}", _CUT, size=11)

    def _unheard(self, sentence: Sentence, y: tuple[float, float], limit: float) -> None:
        """Show what was cut off behind where it was cut."""
        rest = sentence.text.removeprefix(sentence.heard).strip()
        end = self._at(sentence.end_ms)
        if not rest or end is None:
            return
        room = min(limit - end - 12, self._paper.measure(rest, 12))
        if (took := self._paper.words(end + 8, sum(y) / 2, rest, _FAINT, room=room, size=12)) > 0:
            self._paper.pill((end + 1, end + took + 14), y, "none", edge=_FAINT, linestyle="--")

    def _events(self) -> None:
        y = self._middle("events")
        marks = self._marks(MarkKind.EVENT)
        for mark, following in zip_longest(marks, marks[1:]):
            if (x := self._at(mark.t_ms)) is not None:
                limit = self._limit(None if following is None else following.t_ms)
                self._paper.words(x, y, "▲", _CUT, align="center", size=9)
                self._paper.words(x + 8, y, _plain(mark.label), _INK, room=limit - x - 8, size=11)


def _plain(label: str) -> str:
    return label.replace("_", " ")


def _stages(wait: Wait) -> Iterable[tuple[str, float, float, str]]:
    yield "endpoint", wait.speech_end_ms, wait.commit_ms, _BOUND
    yield "model", wait.commit_ms, wait.first_text_ms, _WORK[SpanKind.MODEL][1]
    yield "tts", wait.first_text_ms, wait.first_sound_ms, _WORK[SpanKind.TTS][1]


def _words_between(sentence: Sentence, start_ms: float, end_ms: float) -> str:
    """Give the words of a sentence that belong on a stave which holds only some of it, taking its pace as even."""
    length = max(sentence.end_ms - sentence.start_ms, 1.0)
    first, last = ((t_ms - sentence.start_ms) / length * len(sentence.heard) for t_ms in (start_ms, end_ms))
    begin = 0 if first <= 0 else sentence.heard.rfind(" ", 0, int(first)) + 1
    end = len(sentence.heard) if last >= len(sentence.heard) else sentence.heard.rfind(" ", 0, int(last)) + 1
    return ("… " if begin else "") + sentence.heard[begin:end] + ("…" if end < len(sentence.heard) else "")


def _new_words(before: str, after: str) -> str:
    """Give the words of ``after`` from the first that ``before`` had not, so that a row of partials reads as a text."""
    old, new = before.split(), after.split()
    same = 0
    for a, b in zip(old, new, strict=False):
        if a.strip(".,?!").casefold() != b.strip(".,?!").casefold():
            break
        same += 1
    return " ".join(new[same:])
