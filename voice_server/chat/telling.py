"""Telling: what an agent does about one message becomes what a chat's clients are told.

Pure. Above: an answer feeds it the agent's events. Below: ``clients.events`` are made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from agents.core.events import EventType
from agents.core.messages import Message, ToolResultData
from agents.core.results import as_json
from voice_server.clients.events import ClientEvent, ContextCompacted, ReplyText, ToolChanged, UtteranceClosed

__all__ = ["ChatTelling"]


class ChatTelling:
    """One message's translator, from its first word to the last result of its slow tools.

    Args:
        turn: the message's number in its chat.
        number: numbers whatever the agent says.

    Attributes:
        calls: ids of all calls made about the message.
    """

    def __init__(self, turn: int, number: Callable[[], int]) -> None:
        self.calls: set[str] = set()
        self._turn = turn
        self._number = number
        self._open: dict[str, str] = {}
        """Names of calls that have not ended, by id."""

    @property
    def open_calls(self) -> frozenset[str]:
        """Ids of the calls that have not ended."""
        return frozenset(self._open)

    def feed(self, type: EventType, data: dict[str, Any]) -> list[ClientEvent]:
        """Say what clients are told of an agent's event; most are none of their business."""
        match type:
            case "text_delta":
                return [ReplyText(text=_unicode(data["text"]), turn=self._turn)]
            case "tool_use":
                self.calls.add(data["id"])
                self._open[data["id"]] = data["name"]
                return [self._call(data["id"], data["name"], data["input"])]
            case "tool_use_result":
                self._open.pop(data["call_id"], None)
                return [self._result(data["call_id"], data["tool_name"], data["result"], data["duration_ms"])]
            case "compaction_start" | "compaction_end":
                return [ContextCompacted(turn=self._turn, running=type == "compaction_start")]
            case "tool_said":
                return [self._said(data["text"], "narration")]
            case _:
                return []

    def replies(self, messages: Sequence[Message], kind: str) -> list[ClientEvent]:
        """Say what the agent has said, each message once it is stored."""
        return [self._said(message.text, kind, message=message.id) for message in messages if message.text.strip()]

    def cut(self, text: str, kind: str) -> list[ClientEvent]:
        """Say how far an answer came that was stopped: all that was written was read."""
        return [self._said(text, kind, interrupted=True)] if text.strip() else []

    def unfinished(self, running: Collection[str]) -> list[ClientEvent]:
        """Say which calls were announced and never run, because the model's answer was not whole; each once.

        Args:
            running: ids of calls that go on and will end by themselves.
        """
        lost = {call_id: name for call_id, name in self._open.items() if call_id not in running}
        for call_id in lost:
            del self._open[call_id]
        return [
            ToolChanged(call_id=call_id, name=name, turn=self._turn, status="aborted") for call_id, name in lost.items()
        ]

    def _call(self, call_id: str, name: str, given: Any) -> ClientEvent:
        try:
            shown = as_json(given) if isinstance(given, dict) else {}
        except ValueError:
            shown = {}
        return ToolChanged(call_id=call_id, name=name, turn=self._turn, status="running", input=shown)

    def _result(self, call_id: str, name: str, result: ToolResultData, duration_ms: float) -> ClientEvent:
        return ToolChanged(
            call_id=call_id,
            name=name,
            turn=self._turn,
            status=result.status,
            duration_ms=duration_ms,
            message=None if result.message is None else _unicode(result.message),
            render_data=result.render_data,
        )

    def _said(self, text: str, kind: str, *, message: str | None = None, interrupted: bool = False) -> ClientEvent:
        text = _unicode(text)
        return UtteranceClosed(
            utterance=self._number(),
            kind=kind,
            turn=self._turn,
            text=text,
            heard=text,
            interrupted=interrupted,
            message=message,
        )


def _unicode(text: str) -> str:
    """Replace halves of characters, which a model may write and JSON cannot carry."""
    return text.encode(errors="replace").decode()
