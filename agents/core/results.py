"""What a tool returned, made into a result that can be stored and sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

from agents.core.messages import ToolResultData

__all__ = ["STILL_RUNNING", "TOOL_RESULT_UNREADABLE", "as_json", "as_result"]

TOOL_RESULT_UNREADABLE = "TOOL_RESULT_UNREADABLE"
"""The error message of a call whose tool ran, and returned what is no JSON."""

STILL_RUNNING = (
    "Still running. Its result will be told to you here when it is there; until then it is not known. Do not make the "
    "same call again meanwhile."
)
"""The data of a call that outlived its round, for as long as that is all there is to know."""


def as_result(outcome: Any) -> ToolResultData:
    """Wrap what a tool returned, unless it is a result already; all of it becomes plain JSON values.

    Dates, decimals, models, dataclasses and the like become what JSON has for them, as pydantic writes them.

    Returns:
        The result; an error that says where, when something is no JSON and cannot be made any.
    """
    result = outcome if isinstance(outcome, ToolResultData) else ToolResultData(status="success", data=outcome)
    plain: dict[str, Any] = {}
    for part in ("data", "render_data", "generate_summary_args"):
        try:
            plain[part] = as_json(getattr(result, part))
        except ValueError as exc:
            reason = f"its {part} is no JSON: {exc}"[:500]
            done = "The tool ran to its end, so do not take it that nothing was done."
            return ToolResultData(status="error", message=TOOL_RESULT_UNREADABLE, data={"reason": reason, "note": done})
    return replace(result, **plain)


def as_json(value: Any) -> Any:
    """Copy a value as plain JSON: none, booleans, numbers, text, lists and dicts. NaN and infinity become none.

    Raises:
        ValueError: there is something in it that JSON does not have, it holds itself, or its text is no Unicode.
    """
    try:
        return None if value is None else from_json(to_json(value, inf_nan_mode="null"))
    except (PydanticSerializationError, UnicodeError, RecursionError) as exc:
        raise ValueError(str(exc)) from None
