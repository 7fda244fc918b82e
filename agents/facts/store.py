"""The store: records facts once, corrects them, and tells of urgent ones.

Above: the tool, hosts, preparation. Below: an adapter keeps.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from hashlib import sha256
from uuid import uuid4

from agents.facts.adapter import FactAdapter
from agents.facts.canonical import canonical
from agents.facts.errors import FactCaptureError, FactConflictError, FactError
from agents.facts.record import ClaimState, Fact, FactInput, FactRef, FactScope, FactState, Operation

__all__ = ["ATTEMPTS", "MAX_REVISIONS", "FactStore"]

MAX_REVISIONS = 500
"""Revisions of a scope: what one person says in a long relationship; all are read together."""

ATTEMPTS = 5
"""How often a fact is recorded when others write to the same scope in between."""

OPERATION_LIMIT = 4_000
"""Characters of an operation's id."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _fact_id() -> str:
    return f"fact_{uuid4().hex[:12]}"


class FactStore:
    """The facts of one scope.

    Args:
        adapter: where they are kept.
        scope: whose they are.
        max_revisions: how many are kept at most.
        on_urgent: told of urgent facts once they are saved; at least once each.
        now: dates them.
        new_id: makes ids.
    """

    def __init__(
        self,
        adapter: FactAdapter,
        scope: FactScope,
        *,
        max_revisions: int = MAX_REVISIONS,
        on_urgent: Callable[[Fact], Awaitable[None] | None] | None = None,
        now: Callable[[], datetime] = _utc_now,
        new_id: Callable[[], str] = _fact_id,
    ) -> None:
        self.scope = scope
        self._adapter = adapter
        self._max_revisions = max_revisions
        self._on_urgent = on_urgent
        self._now = now
        self._new_id = new_id

    async def record(self, fact: FactInput, *, operation_id: str, supersedes: FactRef | None = None) -> Fact:
        """Record a fact, once for an operation.

        Args:
            fact: what is known, and from where.
            operation_id: names this act of recording: the same act tried again gives the same fact.
            supersedes: the current revision of the fact that this corrects.

        Raises:
            FactError: the operation was another fact's, what is corrected is not the current revision, or there are
                too many. Nothing was saved.
            FactCaptureError: it is saved, and telling of it failed.
        """
        if not 0 < len(operation_id) <= OPERATION_LIMIT:
            raise FactError(f"an operation's id has 1 to {OPERATION_LIMIT} characters")
        fingerprint = _fingerprint(fact, supersedes)
        for _ in range(ATTEMPTS):
            state = await self._adapter.read(self.scope)
            if (known := state.operations.get(operation_id)) is not None:
                return await self._again(state, operation_id, known, fingerprint)
            made = self._made(state, fact, supersedes)
            told = not fact.urgent or self._on_urgent is None
            operation = Operation(fingerprint=fingerprint, ref=made.ref, delivered=told)
            if await self._adapter.save(self.scope, _next(state, operation_id, operation, made)):
                await self._deliver(operation_id, operation, made)
                return made
        raise FactConflictError("others kept writing to the same facts; try again")

    async def facts(
        self, *, history: bool = False, urgent: bool = False, unclaimed_by: str | None = None
    ) -> list[Fact]:
        """Read the facts.

        Args:
            history: every revision, not only the current ones.
            urgent: only those that somebody was to be told of at once.
            unclaimed_by: only those on which this consumer has no claim that was accepted.
        """
        state = await self._adapter.read(self.scope)
        found = state.facts if history else state.current()
        claimed = {
            ref
            for claim in state.claims
            if claim.consumer == unclaimed_by and claim.state is ClaimState.ACCEPTED
            for ref in claim.refs
        }
        return [fact for fact in found if (fact.urgent or not urgent) and fact.ref not in claimed]

    async def change(self, change: Callable[[FactState], FactState]) -> FactState:
        """Put what a function makes of the state in its place.

        Args:
            change: pure; called again when somebody else wrote meanwhile. What it leaves as it is is not saved.

        Raises:
            FactConflictError: others kept writing.
        """
        for _ in range(ATTEMPTS):
            state = await self._adapter.read(self.scope)
            wanted = change(state)
            if wanted == state:
                return state
            saved = wanted.model_copy(update={"version": state.version + 1})
            if await self._adapter.save(self.scope, saved):
                return saved
        raise FactConflictError("others kept writing to the same facts; try again")

    async def inspect(self) -> FactState:
        """Read all that is kept."""
        return await self._adapter.read(self.scope)

    async def _again(self, state: FactState, operation_id: str, known: Operation, fingerprint: str) -> Fact:
        if known.fingerprint != fingerprint:
            raise FactError("this operation's id was used for another fact; each act of recording needs its own")
        fact = state.find(known.ref)
        if fact is None:
            raise FactError(f"fact {known.ref.id} is not there any more")
        await self._deliver(operation_id, known, fact)
        return fact

    def _made(self, state: FactState, fact: FactInput, supersedes: FactRef | None) -> Fact:
        if len(state.facts) >= self._max_revisions:
            raise FactError(f"there are {self._max_revisions} revisions of facts, and no room for more")
        current = None
        if supersedes is not None:
            current = next((known for known in state.current() if known.id == supersedes.id), None)
            if current is None:
                raise FactError(f"there is no fact {supersedes.id!r} to correct")
            if current.revision != supersedes.revision:
                raise FactError(
                    f"fact {current.id} is at revision {current.revision}, not {supersedes.revision}; read it again"
                )
        return Fact(
            **dict(fact),
            id=self._new_id() if current is None else current.id,
            revision=1 if current is None else current.revision + 1,
            scope=self.scope,
            observed_at=self._now(),
        )

    async def _deliver(self, operation_id: str, operation: Operation, fact: Fact) -> None:
        if operation.delivered or self._on_urgent is None:
            return
        try:
            outcome = self._on_urgent(fact)
            if inspect.isawaitable(outcome):
                await outcome
        except Exception as exc:
            raise FactCaptureError(fact, exc) from exc
        for _ in range(ATTEMPTS):
            state = await self._adapter.read(self.scope)
            delivered = operation.model_copy(update={"delivered": True})
            if await self._adapter.save(self.scope, _next(state, operation_id, delivered)):
                return


def _next(state: FactState, operation_id: str, operation: Operation, *facts: Fact) -> FactState:
    return state.model_copy(
        update={
            "version": state.version + 1,
            "facts": (*state.facts, *facts),
            "operations": {**state.operations, operation_id: operation},
        }
    )


def _fingerprint(fact: FactInput, supersedes: FactRef | None) -> str:
    """Equal for what says the same, however it is ordered."""
    parts = [canonical(fact), "" if supersedes is None else canonical(supersedes)]
    return sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()
