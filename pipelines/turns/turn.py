"""A turn in progress: the sounds and typed words the caller's turn is made of so far, and when it is due."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.turns.segment import Segment

__all__ = ["Turn"]


@dataclass(slots=True)
class Turn:
    """What the caller has said since the last turn was committed; false while that is nothing."""

    segments: list[Segment] = field(default_factory=list)
    """In the order their texts came."""
    typed: str = ""
    """What was typed, behind what was said; once there is a turn, there is one of the two."""
    typed_at: float = 0.0
    heard_at: float = 0.0
    """When the latest text was there, seconds of the call's clock."""
    due_at: float | None = None
    """When it is to be committed if nothing more is said; ``None``: a text is still to come."""
    reason: str = ""
    """Why it is waited until then."""
    drafts: int = 0
    """How often an answer to it was prepared."""

    def __bool__(self) -> bool:
        return bool(self.segments or self.typed)

    def add(self, segment: Segment, now: float) -> None:
        """Take a sound's final text into the turn."""
        self.segments.append(segment)
        self.heard_at = now

    def type_in(self, text: str, now: float) -> None:
        """Take typed words into the turn."""
        self.typed = f"{self.typed} {text.strip()}".lstrip()
        self.typed_at = self.heard_at = now

    @property
    def text(self) -> str:
        """All of its words."""
        spoken = [segment.text.strip() for segment in self.segments]
        return " ".join([*spoken, self.typed] if self.typed else spoken)

    @property
    def ended_at(self) -> float:
        """When its last sound ended, or its last words were typed."""
        return max(self.segments[-1].last_at if self.segments else 0.0, self.typed_at)
