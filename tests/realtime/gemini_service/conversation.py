"""What the service knows of a conversation: it outlives a connection, under the handles that were given away."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from pipelines.realtime.wording import NOT_THE_CALLER
from tests.realtime.mind import Call, Item, Offer, Result, View, Words

__all__ = ["Conversation", "words_of"]


@dataclass(slots=True, kw_only=True)
class Conversation:
    """Instructions, tools, and what was said and done, in order."""

    instructions: str = ""
    tools: list[Offer] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)

    def set_up(self, setup: dict[str, Any]) -> None:
        """Take over what a setup says."""
        parts = setup.get("systemInstruction", {}).get("parts", [])
        self.instructions = "\n".join(part.get("text", "") for part in parts)
        declared = [each for tool in setup.get("tools", []) for each in tool.get("functionDeclarations", [])]
        self.tools = [
            Offer(
                name=each["name"],
                description=each.get("description", ""),
                parameters=_lowered(each.get("parameters", {})),
            )
            for each in declared
        ]

    def copy(self) -> Conversation:
        """Copy it as it is now."""
        return replace(self, tools=list(self.tools), items=list(self.items))

    def view(self) -> View:
        """Show it to the mind."""
        return View(instructions=self.instructions, tools=list(self.tools), items=list(self.items))

    def call(self, call_id: str) -> Call | None:
        """Find a call."""
        return next((each for each in self.items if isinstance(each, Call) and each.call_id == call_id), None)

    def answer(self, call_id: str, response: dict[str, Any]) -> None:
        """Add a result."""
        self.items.append(Result(call_id=call_id, output=json.dumps(response)))

    def forget_call(self, call_id: str) -> None:
        """Drop a call that was withdrawn."""
        self.items = [each for each in self.items if not (isinstance(each, Call) and each.call_id == call_id)]


def words_of(role: str, text: str) -> Words:
    """Read a turn; the system's words are marked in a user's."""
    if role.lower() == "model":
        return Words(role="agent", text=text)
    if text.startswith(f"{NOT_THE_CALLER}\n"):
        return Words(role="system", text=text.removeprefix(f"{NOT_THE_CALLER}\n"))
    return Words(role="user", text=text)


def _lowered(schema: Any) -> Any:
    """Write a schema as JSON Schema names its types, for whoever reads it next."""
    if isinstance(schema, dict):
        made = {name: _lowered(inner) for name, inner in schema.items()}
        return made | ({"type": made["type"].lower()} if isinstance(made.get("type"), str) else {})
    return [_lowered(each) for each in schema] if isinstance(schema, list) else schema
