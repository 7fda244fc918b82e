"""Which part of what was heard belongs to which message of a reply."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["apportion"]


def apportion(texts: Sequence[str], heard: str) -> list[tuple[str, bool]]:
    """Lay the heard prefix of a reply over its messages.

    Args:
        texts: the messages' full texts, in the order spoken.
        heard: how far the joined texts were heard. Only its length counts.

    Returns:
        For each text the part heard, and whether that is all of it but white space.
    """
    left = len(heard)
    shares = []
    for text in texts:
        part = text[:left]
        left -= len(part)
        shares.append((part, part.rstrip() == text.rstrip()))
    return shares
