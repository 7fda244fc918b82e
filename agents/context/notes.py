"""What a note about a person is, where notes are kept, and how a model is shown them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Annotated, Literal, Protocol, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from agents.core.errors import GloveError

__all__ = [
    "Content",
    "ContextAdapter",
    "ContextEntry",
    "ContextError",
    "Link",
    "MemoryContext",
    "NewEntry",
    "Section",
    "Title",
    "render_context",
]

Section: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9 _-]{0,63}$")]
Title: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Content: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]


class ContextError(GloveError):
    """Notes were not changed; the message is for a model, too.

    Attributes:
        code: ``entry_not_found``, ``invalid_section`` or ``too_many``.
    """

    def __init__(self, code: Literal["entry_not_found", "invalid_section", "too_many"], message: str) -> None:
        self.code = code
        super().__init__(message)


class Link(BaseModel):
    """Something that a note is about, kept elsewhere."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["entity", "episode", "resource"]
    id: Annotated[str, StringConstraints(min_length=1, max_length=512)]
    relation: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = None


class NewEntry(BaseModel):
    """A note to be made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    section: Section = Field(description="what it is about, in a word: preferences, family, account")
    title: Title | None = None
    content: Content = Field(description="the note, as Markdown")
    pinned: bool = Field(default=True, description="whether it is shown with every model call")
    expires_at: AwareDatetime | None = Field(default=None, alias="expiresAt", description="until when it holds")
    links: tuple[Link, ...] = Field(default=(), max_length=20)


class ContextEntry(NewEntry):
    """A note."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    id: str
    created_at: datetime
    source: str
    """Where it came from, for the record."""
    actor: str
    """Who wanted it, for the record."""

    def holds(self, now: datetime) -> bool:
        """Whether it has not expired."""
        return self.expires_at is None or self.expires_at > now


class ContextAdapter(Protocol):
    """Keeps the notes of one namespace, in the order made."""

    async def read(self) -> list[ContextEntry]:
        """Read all, expired ones too."""
        ...

    async def change(self, change: Callable[[tuple[ContextEntry, ...]], Iterable[ContextEntry]]) -> list[ContextEntry]:
        """Put what a function makes of the entries in their place; nobody else writes meanwhile.

        Args:
            change: pure; what it raises leaves everything as it was. May be called in a thread, and again.
        """
        ...


class MemoryContext:
    """Notes that end with the process."""

    def __init__(self) -> None:
        self._entries: tuple[ContextEntry, ...] = ()

    async def read(self) -> list[ContextEntry]:
        """Read all."""
        return list(self._entries)

    async def change(self, change: Callable[[tuple[ContextEntry, ...]], Iterable[ContextEntry]]) -> list[ContextEntry]:
        """Put what a function makes of the entries in their place."""
        self._entries = tuple(change(self._entries))
        return list(self._entries)


def render_context(
    entries: Iterable[ContextEntry], *, sections: Sequence[str] | None = None, include_unpinned: bool = False
) -> str:
    """Write notes as the model is shown them; empty when there are none.

    Args:
        entries: those that hold.
        sections: only these.
        include_unpinned: those too that are not shown with every call.
    """
    shown = [entry for entry in entries if (entry.pinned or include_unpinned)]
    shown = [entry for entry in shown if sections is None or entry.section in sections]
    if not shown:
        return ""
    lines = ["[User context]"]
    section = None
    for entry in sorted(shown, key=lambda entry: (entry.section, entry.created_at)):
        if entry.section != section:
            section = entry.section
            lines.append(f"## {_label(section)}")
        if entry.title is not None:
            lines.append(f"### {entry.title}")
        lines.append(entry.content)
    return "\n".join(lines)


def _label(section: str) -> str:
    words = section.replace("-", " ").replace("_", " ").split()
    return " ".join(word[:1].upper() + word[1:] for word in words)
