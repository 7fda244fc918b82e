"""The tools of a glove, by name. Every change makes a new box of tools, so that a round in progress keeps its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from agents.core.errors import DefinitionError
from agents.core.selection import ToolSelection
from agents.core.tools import Tool

__all__ = ["Toolbox"]


class Toolbox:
    """Names differ by more than case. Until it is sealed mistakes are collected, afterwards they are raised at once."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._mistakes: list[str] = []
        self._sealed = False

    @property
    def tools(self) -> Mapping[str, Tool]:
        """By lower-case name, in the order folded; never changed."""
        return MappingProxyType(self._tools)

    def fold(self, tools: Sequence[Tool], selection: ToolSelection | None = None) -> None:
        """Add tools at the end, or those of them a selection picks.

        Raises:
            ToolSelectionError: the selection names a tool that is not among them; nothing was folded.
            DefinitionError: the box is sealed, and there are mistakes; nothing was folded.
        """
        chosen = tools if selection is None else selection.pick(tools)
        mistakes = [*_mistakes(chosen)]
        added: dict[str, Tool] = {}
        for tool in chosen:
            key = tool.name.lower()
            if key in self._tools or key in added:
                mistakes.append(f"there is a tool named {tool.name!r} already; give this one another name")
            else:
                added[key] = tool
        self._report(mistakes)
        self._tools = self._tools | added

    def replace(self, previous: Iterable[str], tools: Sequence[Tool]) -> None:
        """Put tools where others were, all or nothing: where the first of those stood, at the end when none is there.

        Args:
            previous: names to take away; names that are not there are ignored.
            tools: what comes instead.

        Raises:
            DefinitionError: a name is given twice or belongs to a tool that stays, or a tool is ill-defined; nothing
                was changed.
        """
        leaving = {name.lower() for name in previous}
        mistakes = [*_mistakes(tools)]
        coming: dict[str, Tool] = {}
        for tool in tools:
            key = tool.name.lower()
            if key in coming:
                mistakes.append(f"two of the new tools are named {tool.name!r}; give one another name")
            elif key in self._tools and key not in leaving:
                mistakes.append(f"the name {tool.name!r} belongs to a tool that is not replaced; give another name")
            coming[key] = tool
        if mistakes:
            raise DefinitionError(*mistakes)
        replaced: dict[str, Tool] = {}
        for key, tool in self._tools.items():
            if key not in leaving:
                replaced[key] = tool
            elif not replaced.keys() & coming.keys():
                replaced |= coming
        self._tools = replaced if replaced.keys() >= coming.keys() else replaced | coming

    def first(self, tool: Tool) -> None:
        """Put a tool before all others, unless its name is taken."""
        if tool.name.lower() not in self._tools:
            self._tools = {tool.name.lower(): tool} | self._tools

    def without(self, name: str) -> None:
        """Take a tool away, if it is there."""
        self._tools = {key: tool for key, tool in self._tools.items() if key != name.lower()}

    def seal(self) -> tuple[str, ...]:
        """Collect no more mistakes.

        Returns:
            Those collected.
        """
        if not self._mistakes:
            self._sealed = True
        return tuple(self._mistakes)

    def _report(self, mistakes: list[str]) -> None:
        if mistakes and self._sealed:
            raise DefinitionError(*mistakes)
        self._mistakes.extend(mistakes)


def _mistakes(tools: Iterable[Tool]) -> list[str]:
    return [mistake for tool in tools for mistake in tool.mistakes]
