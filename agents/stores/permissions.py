"""Under which key a permission is kept: the tool and exactly this input."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["permission_key"]


def permission_key(tool_name: str, input_args: Any = None) -> str:
    """Write a tool and its input as one string; the order of an object's keys does not matter.

    An input that cannot be written as JSON counts as none.
    """
    try:
        written = json.dumps(input_args, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        written = "null"
    return f"{tool_name}::{written}"
