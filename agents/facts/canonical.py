"""One text for everything that is equal, to compare and to name by."""

from __future__ import annotations

import json

from pydantic import BaseModel

__all__ = ["canonical"]


def canonical(value: BaseModel | dict[str, object]) -> str:
    """Write as JSON whose order of keys says nothing."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
