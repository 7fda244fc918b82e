"""What executors may write to an agent's memories, whichever of them it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from agents.forms.errors import FormValidationError

__all__ = ["ContextMemory", "EntityMemory", "EpisodeMemory", "MemoryBridge", "ResourceMemory"]

M = TypeVar("M")


class EntityMemory(Protocol):
    """Knows people, places and things."""

    async def upsert_node(self, kind: str, key: str, props: Mapping[str, Any]) -> str:
        """Write what is known of one; its id."""
        ...

    async def connect(self, source: str, relation: str, target: str) -> None:
        """Relate two, by id."""
        ...


class EpisodeMemory(Protocol):
    """Knows what happened."""

    async def record_episode(
        self,
        kind: str,
        props: Mapping[str, Any],
        *,
        content: str,
        occurred_at: datetime,
        participants: Sequence[str] = (),
    ) -> str:
        """Write something that happened; its id."""
        ...


class ResourceMemory(Protocol):
    """Keeps documents."""

    async def write_resource(self, path: str, content: str) -> None:
        """Write one."""
        ...


class ContextMemory(Protocol):
    """Keeps standing notes about the user."""

    async def set_context(self, section: str, key: str, value: str) -> None:
        """Write one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBridge:
    """The memories an agent has; one that it lacks is missed only by whoever uses it."""

    entity: EntityMemory | None = None
    episodic: EpisodeMemory | None = None
    resources: ResourceMemory | None = None
    context: ContextMemory | None = None

    async def upsert_node(self, kind: str, key: str, props: Mapping[str, Any]) -> str:
        """Write what is known of a person, place or thing; its id.

        Raises:
            FormValidationError: there is no entity memory.
        """
        return await _present(self.entity, "entity").upsert_node(kind, key, props)

    async def connect(self, source: str, relation: str, target: str) -> None:
        """Relate two of them, by id.

        Raises:
            FormValidationError: there is no entity memory.
        """
        await _present(self.entity, "entity").connect(source, relation, target)

    async def record_episode(
        self,
        kind: str,
        props: Mapping[str, Any],
        *,
        content: str,
        occurred_at: datetime,
        participants: Sequence[str] = (),
    ) -> str:
        """Write something that happened; its id.

        Raises:
            FormValidationError: there is no episodic memory.
        """
        memory = _present(self.episodic, "episodic")
        return await memory.record_episode(
            kind, props, content=content, occurred_at=occurred_at, participants=participants
        )

    async def write_resource(self, path: str, content: str) -> None:
        """Write a document.

        Raises:
            FormValidationError: there is no memory for documents.
        """
        await _present(self.resources, "resources").write_resource(path, content)

    async def set_context(self, section: str, key: str, value: str) -> None:
        """Write a standing note.

        Raises:
            FormValidationError: there is no memory for notes.
        """
        await _present(self.context, "context").set_context(section, key, value)


def _present(memory: M | None, name: str) -> M:
    if memory is None:
        raise FormValidationError(f"this agent has no {name} memory; give the form runner a MemoryBridge with {name}=…")
    return memory
