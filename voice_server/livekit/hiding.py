"""Hiding: tokens are never logged. LiveKit's SDK writes one into its log when a server does not take it."""

from __future__ import annotations

import logging
import re

__all__ = ["hide_tokens", "without_tokens"]

_TOKEN = re.compile(r"eyJ[\w-]{8,}\.[\w-]+\.[\w-]+")
"""A JSON Web Token: three parts in base64, the first an object."""


def without_tokens(text: str) -> str:
    """Give a text without the tokens in it, as the SDK's errors hold them."""
    return _TOKEN.sub("(a token)", text)


def hide_tokens(record: logging.LogRecord) -> bool:
    """A filter of logs that lets all pass, without their tokens."""
    message = record.getMessage()
    if _TOKEN.search(message):
        record.msg, record.args = without_tokens(message), None
    return True
