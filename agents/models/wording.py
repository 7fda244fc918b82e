"""What is said alike on every wire: tool results, tools, context, and calls that are no JSON."""

from __future__ import annotations

import json
from typing import Any

from agents.core.messages import ContentPart, Message, ToolCall, ToolResultData
from agents.core.model import ToolSpec

__all__ = [
    "CONTEXT_PREFIX",
    "INVALID_INPUT",
    "part_text",
    "read_input",
    "result_text",
    "tool_description",
    "user_text",
    "written_input",
]

CONTEXT_PREFIX = "[Context from the system; the caller did not say this.] "
"""Marks what the framework tells the model, for the wires know only the user's side to put it on."""

INVALID_INPUT = "INVALID_JSON"
"""The key under which a call that was no JSON object is shown to the model again: wires want an object, and the model
must see what it wrote."""

EXAMPLES_SHOWN = 3
"""Utterances added to a tool's description: enough to show the kind, few enough to cost little."""

INVALID_LIMIT = 2_000
"""Characters of such a call that are shown again: enough to mend it, too few to crowd out the conversation."""


def result_text(result: ToolResultData) -> str:
    """Write a tool result as the model reads it: text as it is, anything else as JSON, an error with its message."""
    data = result.data if isinstance(result.data, str) else json.dumps(result.data, ensure_ascii=False, default=str)
    if result.status == "success":
        return data
    failure = f"{'Error' if result.status == 'error' else 'Aborted'}: {result.message or 'no reason given'}"
    return failure if result.data is None else f"{failure}\n{data}"


def user_text(message: Message) -> str:
    """Write the text of the user's side, what the framework says marked as such."""
    return f"{CONTEXT_PREFIX}{message.text}" if message.framework_context else message.text


def part_text(part: ContentPart) -> str:
    """Write a part that the wire cannot carry as what it is."""
    return part.text or f"[{part.type} {part.name or 'without a name'}]"


def tool_description(tool: ToolSpec) -> str:
    """Describe a tool, with some of its examples."""
    if not tool.examples:
        return tool.description
    examples = "; ".join(f'"{example}"' for example in tool.examples[:EXAMPLES_SHOWN])
    return f"{tool.description} A caller may say: {examples}."


def read_input(text: str, *, cut: bool = False) -> Any:
    """Read what a model wrote as a call's input; what is no JSON stays text, for the executor to refuse.

    Args:
        text: as written; nothing means no arguments.
        cut: whether the response ended in this call. Nothing is then no input either: it had only just begun. An
            object that can be read is whole, for no beginning of one can be.
    """
    if not text.strip():
        return text if cut else {}
    try:
        read = json.loads(text)
    except ValueError:
        return text
    return {} if read is None else read


def written_input(call: ToolCall) -> dict[str, Any]:
    """Write a call's input as the object it should have been."""
    if isinstance(call.input_args, dict):
        return call.input_args
    text = call.input_args if isinstance(call.input_args, str) else json.dumps(call.input_args, default=str)
    return {INVALID_INPUT: text[:INVALID_LIMIT]}
