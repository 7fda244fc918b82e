"""Times that are stored have a zone."""

from __future__ import annotations

from datetime import datetime

__all__ = ["check_zone"]


def check_zone(*moments: datetime | None) -> None:
    """Refuse times without a zone; ``None`` is none.

    Raises:
        ValueError: one has none.
    """
    for moment in moments:
        if moment is not None and moment.tzinfo is None:
            raise ValueError(f"{moment.isoformat()} has no time zone; write for example datetime.now(UTC)")
