"""An error as OpenAI writes it."""

from __future__ import annotations

from typing import Any

__all__ = ["Refused"]


class Refused(Exception):
    """A message that the service does not accept."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.param = param

    def error(self, event_id: object) -> dict[str, Any]:
        """Write it for the wire."""
        return {
            "type": "invalid_request_error",
            "code": self.code,
            "message": self.message,
            "param": self.param,
            "event_id": event_id if isinstance(event_id, str) else None,
        }
