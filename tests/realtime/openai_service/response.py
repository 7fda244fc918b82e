"""A response being made: what the mind thinks, in the order and in the pieces in which the real service sends it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

from pipelines.audio.frame import Samples
from tests.realtime.mind import Called, Said, Thought
from tests.realtime.openai_service.items import RATE, Conversation, Item

__all__ = ["Response", "encoded"]

CHUNK = RATE // 10
"""Samples of an audio delta: 100 ms."""

Status = Literal["in_progress", "completed", "cancelled", "failed", "incomplete"]


def encoded(samples: Samples) -> str:
    """Write sound for the wire."""
    return base64.b64encode(samples.astype("<i2").tobytes()).decode()


class Response:
    """One response.

    Args:
        response_id: its id.
        conversation: takes its items.
        emit: sends an event.
        new_id: makes an id of a kind.
        pace: how many times faster than it is spoken sound is sent; ``None``: at once.
        metadata: what the client gave.
    """

    def __init__(
        self,
        response_id: str,
        conversation: Conversation,
        emit: Callable[[dict[str, Any]], None],
        new_id: Callable[[str], str],
        *,
        pace: float | None,
        metadata: dict[str, str] | None,
    ) -> None:
        self.id = response_id
        self.status: Status = "in_progress"
        self.output: list[Item] = []
        self._conversation = conversation
        self._emit = emit
        self._new_id = new_id
        self._pace = pace
        self._metadata = metadata
        self._details: dict[str, Any] | None = None
        self._open: Item | None = None
        self._used: dict[str, Any] = {}

    def begin(self) -> None:
        """Send that it begins."""
        self._emit({"type": "response.created", "response": self._wire()})

    async def make(self, thoughts: AsyncIterator[Thought]) -> None:
        """Send what the mind thinks."""
        async for thought in thoughts:
            if isinstance(thought, Called):
                self.call(thought.name, json.dumps(thought.arguments), self._new_id("call"))
            else:
                await self.say(thought)

    async def say(self, said: Said) -> None:
        """Send a piece of speech: its words run ahead of its sound."""
        item = self._message()
        place = {"response_id": self.id, "item_id": item.id, "output_index": len(self.output) - 1, "content_index": 0}
        words = said.text if not item.said else f" {said.text}"
        if said.text:
            self._emit({"type": "response.output_audio_transcript.delta", **place, "delta": words})
        item.said.append(Said(text=said.text, samples=said.samples[:0]))
        for start in range(0, len(said.samples), CHUNK):
            chunk = said.samples[start : start + CHUNK]
            if self._pace is not None:
                await asyncio.sleep(len(chunk) / RATE / self._pace)
            item.said[-1] = Said(text=said.text, samples=said.samples[: start + len(chunk)])
            self._emit({"type": "response.output_audio.delta", **place, "delta": encoded(chunk)})

    def call(self, name: str, arguments: str, call_id: str) -> None:
        """Send a tool call."""
        self._close("completed")
        made = Item(id=self._new_id("item"), type="function_call", status="in_progress", name=name, call_id=call_id)
        self._add(made)
        place = {"response_id": self.id, "item_id": made.id, "output_index": len(self.output) - 1, "call_id": call_id}
        half = len(arguments) // 2
        for part in (arguments[:half], arguments[half:]):
            self._emit({"type": "response.function_call_arguments.delta", **place, "delta": part})
        made.arguments = arguments
        self._close("completed")

    def end(self, status: Status, details: dict[str, Any] | None, used: dict[str, Any]) -> None:
        """Send its end, however it ended."""
        self._close("completed" if status == "completed" else "incomplete")
        self.status, self._details, self._used = status, details, used
        self._emit({"type": "response.done", "response": self._wire()})

    def _message(self) -> Item:
        if self._open is None:
            item = Item(id=self._new_id("item"), type="message", role="assistant", status="in_progress")
            self._add(item)
            place = {"response_id": self.id, "item_id": item.id, "output_index": len(self.output) - 1}
            part = {"type": "audio", "transcript": ""}
            self._emit({"type": "response.content_part.added", **place, "content_index": 0, "part": part})
        assert self._open is not None
        return self._open

    def _add(self, item: Item) -> None:
        self._open = item
        self.output.append(item)
        place = {"response_id": self.id, "output_index": len(self.output) - 1}
        self._emit({"type": "response.output_item.added", **place, "item": item.wire()})
        self._conversation.add(item)
        before = self._conversation.before(item)
        self._emit({"type": "conversation.item.added", "previous_item_id": before, "item": item.wire()})

    def _close(self, status: Literal["completed", "incomplete"]) -> None:
        if (item := self._open) is None:
            return
        self._open, item.status = None, status
        at = self.output.index(item)
        place = {"response_id": self.id, "item_id": item.id, "output_index": at}
        if item.type == "function_call":
            whole = {"call_id": item.call_id, "name": item.name, "arguments": item.arguments}
            self._emit({"type": "response.function_call_arguments.done", **place, **whole})
        else:
            spoken = {**place, "content_index": 0}
            self._emit({"type": "response.output_audio.done", **spoken})
            self._emit({"type": "response.output_audio_transcript.done", **spoken, "transcript": item.transcript or ""})
            part = {"type": "audio", "transcript": item.transcript or ""}
            self._emit({"type": "response.content_part.done", **spoken, "part": part})
        if item in self._conversation.items:
            before = self._conversation.before(item)
            self._emit({"type": "conversation.item.done", "previous_item_id": before, "item": item.wire()})
        done = {"response_id": self.id, "output_index": at, "item": item.wire()}
        self._emit({"type": "response.output_item.done", **done})

    def _wire(self) -> dict[str, Any]:
        return {
            "object": "realtime.response",
            "id": self.id,
            "status": self.status,
            "status_details": self._details,
            "output": [item.wire() for item in self.output],
            "conversation_id": "conv_1",
            "output_modalities": ["audio"],
            "metadata": self._metadata,
            "usage": self._used or None,
        }
