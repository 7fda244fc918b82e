"""A report as a person reads it in a terminal."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.events import TokensSpent
from voice_server.report import CallerTurn, CallEvent, ToolUse, TurnReport, Utterance

__all__ = ["Ink", "headline", "render"]

_MARGIN = 11
_LONGEST_INPUT = 60
_NAMES = {"reply": "agent", "tool_result": "agent"}


@dataclass(frozen=True, slots=True)
class Ink:
    """How words are made bold or faint; with ``colour`` off they are left alone."""

    colour: bool = False

    def bold(self, text: str) -> str:
        """For what was said."""
        return f"\x1b[1m{text}\x1b[0m" if self.colour and text else text

    def faint(self, text: str) -> str:
        """For what was not heard, and for figures."""
        return f"\x1b[2m{text}\x1b[0m" if self.colour and text else text


def render(report: TurnReport, *, width: int = 100, ink: Ink | None = None) -> str:
    """Write a report as text: turns and utterances in the order they happened, then the events.

    Args:
        report: of one call.
        width: columns, at least 40.
        ink: none by default.
    """
    page = _Page(max(width, 40), ink or Ink())
    lines = [page.ink.faint(headline(report)), ""]
    lines += _conversation(report, page)
    events = [event for event in report.events if event.type != TokensSpent.type]  # figures of every reply: `--json`
    for event in events:
        lines += page.entry("events" if event is events[0] else "", _event(event))
    if not report.turns:
        lines += page.entry("", "Nobody said anything that was a turn.")
    return "\n".join(lines).rstrip()


@dataclass(frozen=True, slots=True)
class _Page:
    """Lays entries out as a name in the margin and wrapped text beside it."""

    width: int
    ink: Ink

    def entry(self, name: str, text: str, *, bold: bool = False) -> list[str]:
        wrapped = textwrap.wrap(text, self.width - _MARGIN) or [""]
        style = self.ink.bold if bold else self.ink.faint
        return [
            f"{name if row == 0 else '':>{_MARGIN - 2}}  {style(line)}".rstrip() for row, line in enumerate(wrapped)
        ]


def headline(report: TurnReport) -> str:
    """Say in one line who answered, by which engines."""
    return (
        f"{report.agent} · {report.pipeline}: {report.stt} → {report.model} → {report.tts}"
        f" · conversation {report.conversation}"
    )


def _conversation(report: TurnReport, page: _Page) -> Iterator[str]:
    told = 0
    for utterance in report.utterances:
        while utterance.turn is not None and told <= utterance.turn < len(report.turns):
            yield from _caller(report.turns[told], page)
            told += 1
        yield from _agent(utterance, page)
        if utterance.kind == "reply" and utterance.turn is not None and utterance.turn < len(report.turns):
            yield from _figures(report.turns[utterance.turn], page)
        yield ""
    for turn in report.turns[told:]:
        yield from _caller(turn, page)
        yield from _figures(turn, page)
        yield ""


def _caller(turn: CallerTurn, page: _Page) -> Iterator[str]:
    yield from page.entry("caller", turn.caller, bold=True)
    for tool in turn.tools:
        yield from page.entry("", f"⚙ {_tool(tool)}")


def _agent(utterance: Utterance, page: _Page) -> Iterator[str]:
    name = _NAMES.get(utterance.kind, utterance.kind)
    if not utterance.interrupted:
        yield from page.entry(name, utterance.text, bold=True)
        return
    yield from page.entry(name, utterance.heard or "(nothing was heard)", bold=bool(utterance.heard))
    unheard = utterance.text.removeprefix(utterance.heard).strip()
    yield from page.entry("", f"✂ interrupted; not heard: {unheard}" if unheard else "✂ interrupted")


def _figures(turn: CallerTurn, page: _Page) -> Iterator[str]:
    latency = turn.latency_ms
    stages = {"endpoint": latency.endpoint, "model": latency.model, "tts": latency.tts}
    parts = [f"{name} {value}" for name, value in stages.items() if value is not None]
    figures = " + ".join(parts)
    if latency.voice_to_voice is not None:
        figures = f"⏱ {latency.voice_to_voice} ms to the first sound = {figures}"
    if latency.stt is not None:
        figures += f" (its text was there after {latency.stt})"
    if parts:
        yield from page.entry("", figures)


def _tool(tool: ToolUse) -> str:
    words = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in tool.input.items())
    return f"{tool.name}({textwrap.shorten(words, _LONGEST_INPUT, placeholder=' …')}) {tool.status}"


def _event(event: CallEvent) -> str:
    data = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in event.data.items())
    return f"{event.t_ms / 1000:7.2f} s  {event.type}  {data}".rstrip()
