"""The writer: reads notes that hold and changes them, for tools and hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from agents.context.notes import ContextAdapter, ContextEntry, ContextError, NewEntry, render_context

__all__ = ["ENTRY_LIMIT", "ContextWriter"]

ENTRY_LIMIT = 200
"""Entries of a namespace: all that are pinned are in every prompt."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _entry_id() -> str:
    return f"ctx_{uuid4().hex[:12]}"


class ContextWriter:
    """Reads and changes notes, for tools and hosts.

    Args:
        adapter: where they are.
        now: tells which have expired, and dates new ones.
        source: where changes come from.
        actor: who wants them.
        new_id: makes ids.
    """

    def __init__(
        self,
        adapter: ContextAdapter,
        *,
        now: Callable[[], datetime] = _utc_now,
        source: str = "tool",
        actor: str = "user-instructed",
        new_id: Callable[[], str] = _entry_id,
    ) -> None:
        self._adapter = adapter
        self._now = now
        self._source = source
        self._actor = actor
        self._new_id = new_id

    async def entries(self, section: str | None = None) -> list[ContextEntry]:
        """Read what holds, of one section or all."""
        now = self._now()
        found = [entry for entry in await self._adapter.read() if entry.holds(now)]
        return [entry for entry in found if section is None or entry.section == section]

    async def get(self, entry_id: str) -> ContextEntry | None:
        """Read one; ``None``: it is not there, or holds no more."""
        return next((entry for entry in await self.entries() if entry.id == entry_id), None)

    async def add(self, new: NewEntry) -> ContextEntry:
        """Make a note.

        Raises:
            ContextError: there are too many.
        """
        entry = self._made(new)

        def change(entries: tuple[ContextEntry, ...]) -> tuple[ContextEntry, ...]:
            return _bounded((*self._holding(entries), entry))

        await self._adapter.change(change)
        return entry

    async def update(self, entry_id: str, patch: dict[str, Any]) -> ContextEntry:
        """Change some fields of a note; ``None`` takes away what may be missing.

        Raises:
            ContextError: there is no such note.
            ValidationError: a field does not fit.
        """
        found: list[ContextEntry] = []

        def change(entries: tuple[ContextEntry, ...]) -> tuple[ContextEntry, ...]:
            old = _find(self._holding(entries), entry_id)
            found[:] = [ContextEntry.model_validate({**old.model_dump(by_alias=True), **patch})]
            return tuple(found[0] if entry.id == entry_id else entry for entry in entries)

        await self._adapter.change(change)
        return found[0]

    async def remove(self, entry_id: str) -> None:
        """Take a note away.

        Raises:
            ContextError: there is no such note.
        """

        def change(entries: tuple[ContextEntry, ...]) -> tuple[ContextEntry, ...]:
            _find(self._holding(entries), entry_id)
            return tuple(entry for entry in entries if entry.id != entry_id)

        await self._adapter.change(change)

    async def replace_section(self, section: str, new: Sequence[NewEntry] = ()) -> list[ContextEntry]:
        """Put notes in the place of a section's, or take them all away. Idempotent.

        Raises:
            ContextError: a note is of another section, or there are too many.
        """
        if strangers := sorted({entry.section for entry in new} - {section}):
            raise ContextError("invalid_section", f"notes of {', '.join(strangers)} do not belong into {section!r}")
        made = [self._made(entry) for entry in new]

        def change(entries: tuple[ContextEntry, ...]) -> tuple[ContextEntry, ...]:
            others = (entry for entry in self._holding(entries) if entry.section != section)
            return _bounded((*others, *made))

        await self._adapter.change(change)
        return made

    async def render(self) -> str:
        """Write what the model is shown."""
        return render_context(await self.entries())

    def _holding(self, entries: tuple[ContextEntry, ...]) -> tuple[ContextEntry, ...]:
        now = self._now()
        return tuple(entry for entry in entries if entry.holds(now))

    def _made(self, new: NewEntry) -> ContextEntry:
        return ContextEntry(
            **new.model_dump(), id=self._new_id(), created_at=self._now(), source=self._source, actor=self._actor
        )


def _find(entries: Iterable[ContextEntry], entry_id: str) -> ContextEntry:
    for entry in entries:
        if entry.id == entry_id:
            return entry
    raise ContextError("entry_not_found", f"there is no note {entry_id!r}; read the notes to see their ids")


def _bounded(entries: tuple[ContextEntry, ...]) -> tuple[ContextEntry, ...]:
    if len(entries) > ENTRY_LIMIT:
        raise ContextError("too_many", f"there are {ENTRY_LIMIT} notes already; take one away first, or change one")
    return entries
