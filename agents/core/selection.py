"""Which of a set of tools are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.core.errors import ToolSelectionError
from agents.core.tools import Tool

__all__ = ["ToolSelection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSelection:
    """Lists that allow and deny tools, each by its full name or by its end behind a ``_``, whatever the case."""

    allow: tuple[str, ...] | None = None
    """Only these; ``None`` allows all."""
    deny: tuple[str, ...] = ()
    """Not these, even when they are allowed."""

    def pick(self, tools: Sequence[Tool]) -> tuple[Tool, ...]:
        """Pick from tools, in their order.

        Raises:
            ToolSelectionError: an entry matches none of them; a slip in ``deny`` must not leave a tool mounted.
        """
        entries = (*(self.allow or ()), *self.deny)
        if unknown := tuple(entry for entry in entries if not any(_matches(tool, entry) for tool in tools)):
            raise ToolSelectionError(unknown, tuple(tool.name for tool in tools))
        return tuple(tool for tool in tools if self._wants(tool))

    def _wants(self, tool: Tool) -> bool:
        allowed = self.allow is None or any(_matches(tool, entry) for entry in self.allow)
        return allowed and not any(_matches(tool, entry) for entry in self.deny)


def _matches(tool: Tool, entry: str) -> bool:
    name, wanted = tool.name.lower(), entry.lower()
    return bool(wanted) and (name == wanted or name.endswith(f"_{wanted}"))
