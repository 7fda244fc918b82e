"""The runner: reads goals, changes them so that no change of somebody else's is lost, and tells those who follow.

Above: tools and the application's own code. Below: ``engine`` decides, an adapter keeps.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

from agents.core.abort import AbortSignal
from agents.facts.preparation.preparer import Committed
from agents.facts.preparation.requirement import Report
from agents.goals.adapter import Dispatch, GoalAdapter
from agents.goals.definition import GoalProgram, read_program
from agents.goals.engine import Change, Stamp, nothing_said, revised, settled, started, touches_the_same, updated
from agents.goals.errors import GoalConflictError, GoalError, GoalPostCommitError
from agents.goals.hooks import Drained, GoalHooks, HookContext, HookDrain
from agents.goals.preparation import (
    GoalPreparation,
    accepted_claims,
    check_subject,
    consumer_of,
    evidence_in,
    requirements_of,
)
from agents.goals.record import Entry, GoalScope, Provenance, Transition
from agents.goals.snapshot import render_goals
from agents.goals.status import ProgramStatus, status_of

if TYPE_CHECKING:
    from agents.core.glove import Glove

__all__ = ["ATTEMPTS", "GoalRunner", "Proposal"]

ATTEMPTS = 5
"""How often a change is tried when others change the same goals in between."""

REASON_LIMIT = 4_000
"""Characters of a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change about to be saved."""

    before: ProgramStatus | None
    after: ProgramStatus
    entry: Entry


Follow: TypeAlias = Callable[[ProgramStatus], Awaitable[None] | None]
Validate: TypeAlias = Callable[[Proposal], Awaitable[None] | None]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class GoalRunner:
    """The goals of one scope.

    Args:
        adapter: where they are kept.
        scope: whose they are; a function is asked anew each time.
        hooks: called on edges.
        actor: who changes them, for the record; the agent by default.
        source: where changes come from; ``goals:SUBJECT`` by default.
        validate_change: called before a change is saved; it refuses by raising, and does nothing else.
        on_change: called after a change was saved.
        configure: called after that, and by :meth:`refresh`; brings tools and model in line with the goals. Idempotent.
        preparation: what facts may settle: looked at before every change is saved, and by :meth:`prepare`.
        glove: handed to hooks.
        now: dates changes.
        owner: this worker's name; no other's.
    """

    def __init__(
        self,
        adapter: GoalAdapter,
        scope: GoalScope | Callable[[], GoalScope],
        *,
        hooks: GoalHooks | None = None,
        actor: str = "agent",
        source: str | None = None,
        validate_change: Validate | None = None,
        on_change: Follow | None = None,
        configure: Callable[[ProgramStatus | None], Awaitable[None] | None] | None = None,
        preparation: GoalPreparation | None = None,
        glove: Glove | None = None,
        now: Callable[[], datetime] = _utc_now,
        owner: str | None = None,
    ) -> None:
        self._adapter = adapter
        self._scope = scope
        self._hooks = hooks or GoalHooks()
        self._actor = actor
        self._source = source
        self._validate_change = validate_change
        self._on_change = on_change
        self._configure = configure
        self._preparation = preparation
        self.prepared: Report | None = None
        """What the latest preparation came to."""
        self._glove = glove
        self._now = now
        self._drain = HookDrain(adapter=adapter, hooks=self._hooks, owner=owner or uuid4().hex, now=now)
        self._configuring = asyncio.Lock()
        self._latest: tuple[GoalScope, Entry] | None = None
        """The newest entry seen: nobody is shown an older one, however late a read or an answer comes."""
        self._blocked_by: Transition | None = None
        self._draining: ContextVar[bool] = ContextVar("draining", default=False)

    @property
    def scope(self) -> GoalScope:
        """Whose goals these are now."""
        return self._scope() if callable(self._scope) else self._scope

    # ------------------------------------------------------------------------------------------------------- reading

    async def status(self) -> ProgramStatus | None:
        """Read how the goals stand; ``None``: there is no program."""
        entry = await self.inspect()
        return None if entry is None else status_of(entry)

    async def inspect(self) -> Entry | None:
        """Read the latest entry: the program, and what was said of it."""
        scope = self.scope
        return self._seen(scope, await self._adapter.get(scope))

    async def history(self) -> list[Entry]:
        """Read every change, in order."""
        return await self._adapter.history(self.scope)

    async def hook_dispatches(self) -> list[Dispatch]:
        """Read how far every hook is, in order."""
        return await self._adapter.dispatches(self.scope)

    # ------------------------------------------------------------------------------------------------------ changing

    async def start(self, program: GoalProgram | dict[str, Any], reason: str | None = None) -> ProgramStatus:
        """Begin a program, unless it has begun.

        Raises:
            GoalError: another program has begun, or something is wrong with this one.
            GoalPostCommitError: it was saved, and what follows failed.
        """
        wanted = read_program(program)
        scope = self.scope
        before = self._seen(scope, await self._adapter.get(scope))
        if before is None:
            entry = started(wanted, self._stamp(scope, reason or "The program begins"))
            try:
                return await self._commit(scope, None, entry)
            except GoalConflictError:
                before = self._seen(scope, await self._adapter.get(scope))
                if before is None:
                    raise
        if before.program != wanted:
            raise GoalError(
                f"program {before.program.key!r} has begun, as another than this; revise it, with ifVersion "
                f"{before.version} and a reason"
            )
        return status_of(before)

    async def update(
        self,
        goal_key: str,
        *,
        completed: Sequence[str] = (),
        deferred: Sequence[str] = (),
        declined: Sequence[str] = (),
        reopened: Sequence[str] = (),
        reason: str,
        if_version: int | None = None,
    ) -> ProgramStatus:
        """Say what became of items of a goal, whether it is its turn or not.

        Args:
            goal_key: which goal.
            completed: items that are done.
            deferred: items that are put off.
            declined: items that will not be.
            reopened: items that are to be settled again.
            reason: why, for the record and for the model.
            if_version: refuses when the goals are not of that version; without it a change of other items does not
                stand in the way.

        Raises:
            GoalError: it is not allowed; nothing of it was done.
            GoalConflictError: somebody else changed the same items meanwhile, or others kept changing something.
            GoalPostCommitError: it was saved, and what follows failed.
        """
        change = Change(
            goal_key=goal_key,
            completed=tuple(completed),
            deferred=tuple(deferred),
            declined=tuple(declined),
            reopened=tuple(reopened),
        )
        scope = self.scope
        stamp = self._stamp(scope, reason)
        first = before = await self._expected(scope, if_version)
        for attempt in range(1, ATTEMPTS + 1):
            if (entry := updated(before, change, stamp)) is None:
                return status_of(before)
            try:
                return await self._commit(scope, before, entry)
            except GoalConflictError:
                now = self._seen(scope, await self._adapter.get(scope))
                if if_version is not None or now is None or attempt == ATTEMPTS:
                    raise
                if touches_the_same(change, first, now):
                    raise GoalConflictError(first.version, now.version) from None
                before = now
        raise AssertionError("unreachable")

    async def revise(self, program: GoalProgram | dict[str, Any], *, if_version: int, reason: str) -> ProgramStatus:
        """Put another whole program in the place of the one there is; same keys keep their progress.

        Raises:
            GoalError: it is not allowed.
            GoalConflictError: the goals are not of that version.
            GoalPostCommitError: it was saved, and what follows failed.
        """
        wanted = read_program(program)
        scope = self.scope
        stamp = self._stamp(scope, reason)
        before = await self._expected(scope, if_version)
        entry = revised(before, wanted, stamp)
        return status_of(before) if entry is None else await self._commit(scope, before, entry)

    # ----------------------------------------------------------------------------------------------------- following

    async def resume_hooks(self) -> Drained:
        """Run the hooks that are due: those a crash or a failure left over.

        Raises:
            GoalHookError: one failed.
        """
        return await self._run_hooks(self.scope)

    async def running_elsewhere(self) -> Transition | None:
        """Find the hook that another worker was running when hooks were last run here, unless it has ended since.

        Also one whose worker died: the next run of hooks after its lease takes it over.
        """
        if self._blocked_by is not None:
            unfinished = await self._adapter.dispatches(self.scope, unfinished=True)
            if self._blocked_by not in [one.transition for one in unfinished]:
                self._blocked_by = None
        return self._blocked_by

    async def prepare(self, signal: AbortSignal | None = None) -> ProgramStatus | None:
        """Settle what facts settle by now. Facts that say nothing new change nothing.

        Raises:
            GoalError: the facts are another subject's.
            GoalConflictError: somebody else changed the goals meanwhile; the next preparation looks again.
            GoalPostCommitError: it was saved, and what follows failed.
        """
        scope = self.scope
        before = self._seen(scope, await self._adapter.get(scope))
        if before is None or self._preparation is None:
            return None if before is None else status_of(before)
        change = nothing_said(before, self._stamp(scope, "Settled by evidence"))
        after = await self._save(scope, before, change, signal)
        return status_of(before) if after is None else await self._follow(scope, after)

    async def refresh(self) -> None:
        """Configure for how the goals stand; one at a time, the newest state winning."""
        if self._configure is None:
            return
        scope = self.scope
        async with self._configuring:
            if self.scope != scope:
                return
            entry = await self.inspect()
            await _done(self._configure(None if entry is None else status_of(entry)))

    # -------------------------------------------------------------------------------------------------------- inside

    async def _expected(self, scope: GoalScope, if_version: int | None) -> Entry:
        entry = self._seen(scope, await self._adapter.get(scope))
        if entry is None:
            raise GoalError("there is no program yet; start one")
        if if_version is not None and if_version != entry.version:
            raise GoalConflictError(if_version, entry.version)
        return entry

    async def _commit(self, scope: GoalScope, before: Entry | None, entry: Entry) -> ProgramStatus:
        after = await self._save(scope, before, entry, None)
        return await self._follow(scope, entry if after is None else after)

    async def _save(
        self, scope: GoalScope, before: Entry | None, entry: Entry, signal: AbortSignal | None
    ) -> Entry | None:
        """Save a change, with what facts settle in it.

        Returns:
            The entry saved; ``None``: it would have said nothing.
        """
        if self._preparation is None:
            await self._append(scope, before, entry)
            return entry
        check_subject(self._preparation, scope)

        async def commit(report: Report | None) -> Committed[Entry | None]:
            self.prepared = report
            evidence = evidence_in(report)
            whole = settled(before, entry, evidence, self._stamp(scope, entry.reason)) if evidence else entry
            if before is not None and (whole.program, whole.progress) == (before.program, before.progress):
                return Committed(value=None)
            await self._append(scope, before, whole)
            return Committed(value=whole, accepted=tuple(one.claim_id for one in evidence))

        return await self._preparation.preparer.run(
            consumer=consumer_of(scope),
            requirements=requirements_of(entry, self._preparation),
            context=render_goals(status_of(entry)),
            commit=commit,
            accepted_claim_ids=accepted_claims(entry),
            signal=signal,
        )

    async def _append(self, scope: GoalScope, before: Entry | None, entry: Entry) -> None:
        if self._validate_change is not None:
            was = None if before is None else status_of(before)
            await _done(self._validate_change(Proposal(before=was, after=status_of(entry), entry=entry)))
        await self._adapter.commit(scope, entry, if_version=None if before is None else before.version)
        self._seen(scope, entry)

    async def _follow(self, scope: GoalScope, entry: Entry) -> ProgramStatus:
        """Tell those who follow of a change that is saved."""
        after = status_of(entry)
        try:
            if self._on_change is not None:
                await _done(self._on_change(after))
            await self.refresh()
            if not self._draining.get():
                await self._run_hooks(scope)
        except Exception as exc:
            raise GoalPostCommitError(await self._shown(scope, after), exc) from exc
        return await self._shown(scope, after)

    async def _shown(self, scope: GoalScope, after: ProgramStatus) -> ProgramStatus:
        """How the goals stand by now: hooks may have changed them."""
        latest = self._latest
        return status_of(latest[1]) if latest is not None and latest[0] == scope else after

    async def _run_hooks(self, scope: GoalScope) -> Drained:
        token = self._draining.set(True)
        try:
            drained = await self._drain.run(scope, self._call)
        finally:
            self._draining.reset(token)
        self._blocked_by = drained.blocked_by
        return drained

    async def _call(self, transition: Transition) -> None:
        hook = self._hooks.of(transition.kind)
        if hook is None:
            return
        history = await self._adapter.history(transition.scope)
        status = status_of(history[transition.version - 1])
        await _done(hook(HookContext(status=status, goal=transition.goal, transition=transition, glove=self._glove)))

    def _seen(self, scope: GoalScope, entry: Entry | None) -> Entry | None:
        """Take note of an entry, and give the newest there is."""
        if self._latest is not None and self._latest[0] == scope:
            newest = self._latest[1]
            if entry is None or entry.version <= newest.version:
                return newest
        self._latest = None if entry is None else (scope, entry)
        return entry

    def _stamp(self, scope: GoalScope, reason: str) -> Stamp:
        text = reason.strip()
        if not 0 < len(text) <= REASON_LIMIT:
            raise GoalError(f"give a reason of 1 to {REASON_LIMIT} characters")
        source = self._source or f"goals:{scope.subject}"
        return Stamp(
            scope=scope,
            reason=text,
            provenance=Provenance(actor=self._actor, source=source, timestamp=self._now()),
        )


async def _done(outcome: Awaitable[None] | None) -> None:
    if inspect.isawaitable(outcome):
        await outcome
