"""A model that answers as a test tells it to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agents.core.messages import ToolCall, Usage
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, TextChunk, ToolCalled, UsageTold

__all__ = ["ScriptedCall", "ScriptedModel", "ScriptedResponse", "ScriptedStep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A tool call."""

    name: str
    input: Any = field(default_factory=dict)
    id: str | None = None
    """``call_1`` and so on by default, counted over the whole script."""


ScriptedStep: TypeAlias = str | ScriptedCall | Usage | Exception | Callable[[], Awaitable[object]]
"""Text to stream, a call, what was used so far, an error to raise, or something to wait for (an event's ``wait``, a
clock's sleep)."""

ScriptedResponse: TypeAlias = str | Iterable[ScriptedStep]
"""One response; a plain string is one chunk."""


class ScriptedModel:
    """Gives the scripted responses in order.

    Args:
        responses: one per model call.
        usage: what each response says it used.

    Attributes:
        requests: what the model was given, call by call.
        closed: how many streams were closed before they were whole.
    """

    def __init__(self, responses: Iterable[ScriptedResponse] = (), *, usage: Usage | None = None) -> None:
        self.requests: list[ModelRequest] = []
        self.closed = 0
        self._responses = [[response] if isinstance(response, str) else list(response) for response in responses]
        self._usage = usage or Usage()
        self._calls = 0

    @property
    def name(self) -> str:
        """``scripted``."""
        return "scripted"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play the next response.

        Raises:
            AssertionError: the script is at its end.
        """
        self.requests.append(request)
        if len(self.requests) > len(self._responses):
            raise AssertionError(f"the script has {len(self._responses)} responses, and one more was asked for")
        called = False
        self.closed += 1
        for step in self._responses[len(self.requests) - 1]:
            match step:
                case str():
                    yield TextChunk(text=step)
                case ScriptedCall():
                    called = True
                    yield ToolCalled(call=self._call(step))
                case Usage():
                    yield UsageTold(usage=step)
                case Exception():
                    self.closed -= 1
                    raise step
                case _:
                    await step()
        self.closed -= 1
        yield ModelFinished(stop_reason="tool_calls" if called else "stop", usage=self._usage)

    def _call(self, step: ScriptedCall) -> ToolCall:
        self._calls += 1
        return ToolCall(id=step.id or f"call_{self._calls}", tool_name=step.name, input_args=step.input)
