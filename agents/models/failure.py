"""Why a model call failed, in one sentence that quotes nobody: a server's own text may hold keys or conversations."""

from __future__ import annotations

from collections.abc import Mapping

from agents.core.errors import ModelError
from agents.core.model import ModelFinished

__all__ = ["UNREADABLE", "broken_off", "check_said", "not_reached", "refused", "timed_out", "unreadable"]

RETRYABLE = frozenset({408, 409, 429})
"""Statuses below 500 after which the same request may succeed."""

UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)
"""What reading a frame raises that is no JSON, or not what the wire has."""

_REASONS = {
    400: "the request was not understood (400); the model may lack tool calls or streaming",
    401: "the key was refused (401); check it",
    402: "the account has no credit left (402)",
    403: "the key may not use this model (403)",
    404: "there is no such model at this server (404); check its name",
    408: "the server gave up waiting (408)",
    413: "the conversation is too long for this model (413)",
    429: "too many requests, or no credit left (429)",
    529: "the service is overloaded (529)",
}

_SILENT = {
    "length": "the token limit was reached before the first word; allow more tokens, or less thinking",
    "refusal": "the provider held the answer back",
}


def refused(model: str, status: int, headers: Mapping[str, str] | None = None) -> ModelError:
    """An error status, from the response or from an error event that stands for one.

    Args:
        model: as ``provider:name``.
        status: of HTTP.
        headers: the response's, which may say when to come back.
    """
    other = f"the server failed ({status})" if status >= 500 else f"the server refused ({status})"
    reason, wait = _REASONS.get(status, other), retry_after_s(headers or {})
    if wait is not None:
        reason = f"{reason}; it asks to wait {wait:g} s"
    retryable = status >= 500 or status in RETRYABLE
    return ModelError(model, reason, status=status, retryable=retryable, retry_after_s=wait)


def timed_out(model: str) -> ModelError:
    """Nothing came for too long."""
    return ModelError(model, "the server did not answer in time", retryable=True)


def not_reached(model: str, where: object) -> ModelError:
    """There is no connection."""
    reason = f"the connection to {where} failed; is the server running, and is the address right?"
    return ModelError(model, reason, retryable=True)


def broken_off(model: str) -> ModelError:
    """The stream ended before the response did."""
    return ModelError(model, "the server broke off in the middle of a response", retryable=True)


def unreadable(model: str) -> ModelError:
    """A frame is no JSON, or not what the wire has."""
    return ModelError(model, "the server sent something that cannot be read", retryable=True)


def check_said(model: str, finished: ModelFinished, *, said: bool) -> None:
    """See that a response that ended early says something: silence would leave a caller waiting.

    Args:
        model: as ``provider:name``.
        finished: how the response ended.
        said: whether it has text or calls.

    Raises:
        ModelError: it has neither and was not meant to end so.
    """
    if said or finished.stop_reason in ("stop", "tool_calls"):
        return
    reason = _SILENT.get(finished.stop_reason or "", f"it stopped without a word ({finished.stop_reason})")
    raise ModelError(model, reason)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read how long to wait, in seconds; ``None`` when it is not said, or as a date, which would need a clock."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None
