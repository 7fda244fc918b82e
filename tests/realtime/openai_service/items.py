"""The conversation that the service holds."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from pipelines.audio.frame import Samples
from tests.realtime.mind import Call, Result, Said, Words
from tests.realtime.mind import Item as Seen
from tests.realtime.openai_service.refused import Refused
from tests.realtime.openai_service.schema import ITEM, check, required

__all__ = ["RATE", "Conversation", "Item"]

RATE = 24_000

_ROLES: dict[str, Literal["user", "agent", "system"]] = {"user": "user", "assistant": "agent", "system": "system"}
_CONTENT = {"user": ("input_text", "input_audio"), "assistant": ("output_text",), "system": ("input_text",)}


@dataclass(kw_only=True)
class Item:
    """Something in the conversation."""

    id: str
    type: Literal["message", "function_call", "function_call_output"]
    role: str = ""
    status: str = "completed"
    text: str = ""
    """Of a message that was written, or what was heard of the caller's voice."""
    audio: Samples | None = None
    said: list[Said] = field(default_factory=list)
    """Of an answer: what it is made of."""
    cut_ms: int | None = None
    """Where it was truncated."""
    name: str = ""
    call_id: str = ""
    arguments: str = ""
    output: str = ""
    written: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether the caller's voice was written down, for the mind."""

    @property
    def length_ms(self) -> int:
        """Of an answer's voice."""
        whole = sum(len(part.samples) for part in self.said) * 1000 // RATE
        return whole if self.cut_ms is None else self.cut_ms

    @property
    def transcript(self) -> str | None:
        """Of an answer; a truncation deletes it."""
        return " ".join(part.text for part in self.said if part.text) if self.cut_ms is None else None

    def wire(self) -> dict[str, Any]:
        """Write it, without audio."""
        made: dict[str, Any] = {"id": self.id, "object": "realtime.item", "type": self.type, "status": self.status}
        match self.type:
            case "function_call":
                return {**made, "name": self.name, "call_id": self.call_id, "arguments": self.arguments}
            case "function_call_output":
                return {**made, "call_id": self.call_id, "output": self.output}
        if self.said or (self.role == "assistant" and not self.text):
            content = [{"type": "output_audio", "transcript": self.transcript}] if self.said else []
        elif self.audio is not None:
            content = [{"type": "input_audio", "transcript": None}]
        else:
            content = [{"type": "output_text" if self.role == "assistant" else "input_text", "text": self.text}]
        return {**made, "role": self.role, "content": content}

    def seen(self) -> Seen | None:
        """Show it to the mind; of a truncated answer what was heard."""
        match self.type:
            case "function_call":
                return Call(call_id=self.call_id, name=self.name, arguments=_arguments(self.arguments))
            case "function_call_output":
                return Result(call_id=self.call_id, output=self.output)
        text = self.text or self._heard()
        return Words(role=_ROLES[self.role], text=text) if text else None

    def _heard(self) -> str:
        left = sum(len(part.samples) for part in self.said) if self.cut_ms is None else self.cut_ms * RATE // 1000
        words: list[str] = []
        for part in self.said:
            all_of_it = part.text.split()
            share = min(left / max(len(part.samples), 1), 1.0)
            words += all_of_it[: int(len(all_of_it) * share + 1e-9)]
            left = max(left - len(part.samples), 0)
        return " ".join(words)


class Conversation:
    """Items in order."""

    def __init__(self) -> None:
        self.items: list[Item] = []

    def find(self, item_id: str) -> Item | None:
        """Find an item."""
        return next((item for item in self.items if item.id == item_id), None)

    def before(self, item: Item) -> str | None:
        """Name the item before another."""
        at = self.items.index(item)
        return self.items[at - 1].id if at else None

    def write(self, given: dict[str, Any], new_id: str) -> Item:
        """Make an item of what a client writes; refuse what is none."""
        check(given, ITEM, "item")
        item_id = given.get("id", new_id)
        if len(item_id) > 32:
            words = (
                "Invalid 'item.id': string too long. Expected a string with maximum length 32, but got a string with "
                f"length {len(item_id)} instead."
            )
            raise Refused("string_above_max_length", words, "item.id")
        if self.find(item_id) is not None:
            raise Refused(
                "item_create_duplicate_id", f"Error adding item: an item with id '{item_id}' exists.", "item.id"
            )
        match given["type"]:
            case "message":
                return self._message(given, item_id)
            case "function_call":
                required(given, "call_id", "name", "arguments", path="item.")
                kept = {name: given[name] for name in ("call_id", "name", "arguments")}
                return Item(id=item_id, type="function_call", **kept)
        required(given, "call_id", "output", path="item.")
        call_id = given["call_id"]
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", call_id):
            raise Refused("invalid_value", f"Invalid 'item.call_id': '{call_id}'.", "item.call_id")
        if not any(item.type == "function_call" and item.call_id == call_id for item in self.items):
            raise Refused("invalid_tool_call_id", f"Tool call ID '{call_id}' not found in conversation.")
        return Item(id=item_id, type="function_call_output", call_id=call_id, output=given["output"])

    def add(self, item: Item, after: str | None = None) -> None:
        """Put an item behind another, or at the end."""
        if after is None:
            self.items.append(item)
        elif after == "root":
            self.items.insert(0, item)
        elif (earlier := self.find(after)) is not None:
            self.items.insert(self.items.index(earlier) + 1, item)
        else:
            raise Refused("invalid_value", f"Previous item with id '{after}' not found.", "previous_item_id")

    def delete(self, item_id: str) -> None:
        """Delete an item."""
        if (item := self.find(item_id)) is None:
            words = f"Error deleting item: the item with id '{item_id}' does not exist."
            raise Refused("item_delete_invalid_item_id", words)
        self.items.remove(item)

    def truncate(self, item_id: str, content_index: int, audio_end_ms: int) -> None:
        """Cut an answer off behind what was heard."""
        item = self.find(item_id)
        if item is None:
            raise Refused("item_truncate_invalid_item_id", f"Item with item_id not found: {item_id}", "item_id")
        if item.role != "assistant":
            raise Refused("invalid_value", "Only model output audio messages can be truncated", "item_id")
        if content_index or not item.said:
            raise Refused("invalid_value", f"There is no audio content at index {content_index}.", "content_index")
        if audio_end_ms < 0:
            raise Refused("invalid_value", f"Invalid 'audio_end_ms': {audio_end_ms} is negative.", "audio_end_ms")
        if audio_end_ms > item.length_ms:
            words = f"Audio content of {item.length_ms}ms is already shorter than {audio_end_ms}ms"
            raise Refused("invalid_value", words, "audio_end_ms")
        item.cut_ms = audio_end_ms

    def _message(self, given: dict[str, Any], item_id: str) -> Item:
        required(given, "role", "content", path="item.")
        texts: list[str] = []
        for index, part in enumerate(given["content"]):
            path = f"item.content[{index}]"
            required(part, "type", path=f"{path}.")
            kinds = _CONTENT[given["role"]]
            if part["type"] not in kinds:
                known = ", ".join(f"'{kind}'" for kind in kinds)
                words = f"Invalid value: '{part['type']}'. Supported values are: {known}."
                raise Refused("invalid_value", words, f"{path}.type")
            required(part, "text", path=f"{path}.")
            check(part["text"], str, f"{path}.text")
            texts.append(part["text"])
        return Item(id=item_id, type="message", role=given["role"], text=" ".join(texts))


def _arguments(text: str) -> dict[str, Any]:
    try:
        read = json.loads(text or "{}")
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
