"""Instances read, changed and saved so that no change of anybody's is lost, and what is to follow follows.

Above: ``runner`` says what is to be changed. Below: ``engine`` decides, ``dispatch`` runs executors, an adapter keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from agents.core.abort import AbortSignal
from agents.core.errors import StoreError
from agents.forms.adapter import FormAdapter, Lease, apply_commit, commit_between
from agents.forms.definition import Form
from agents.forms.dispatch import Dispatcher, Surroundings
from agents.forms.engine import Outcome, advance, conclude, migrate, start
from agents.forms.errors import (
    FormConflictError,
    FormError,
    FormNotFoundError,
    FormPostCommitError,
)
from agents.forms.evaluation import Evaluation, evaluate
from agents.forms.leases import Leases
from agents.forms.preparation import Adopt, FormPreparation, Prefill
from agents.forms.record import Instance, InstanceStatus, Provenance
from agents.forms.registry import FormRegistry
from agents.forms.writes import Stamp

__all__ = ["RETRIES", "Edit", "Instances", "Opened", "Saved"]

RETRIES = 3
"""How often a write is decided anew when others write to the same instance in between."""

RECENT = 25
"""Instances of a subject that are looked through for executors that are to be resumed."""

OPEN = frozenset(InstanceStatus) - {InstanceStatus.ABANDONED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An instance as it was read."""

    form: Form[Any]
    instance: Instance
    now: Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """An instance after a change and all that followed."""

    form: Form[Any]
    instance: Instance
    now: Evaluation
    first: Outcome
    """What the change itself led to."""
    failed: tuple[str, ...] = ()
    """Hooks whose executors failed in what followed."""


Edit: TypeAlias = Callable[[Opened], Instance]
"""Makes a change; called again on what somebody else made of the instance meanwhile."""


class Instances:
    """The instances of one subject.

    Args:
        registry: the forms there are.
        adapter: where instances are kept.
        subject: whose they are; asked anew each time.
        now: dates what is written.
        told: told of each state that was saved.
        preparation: which questions facts may answer.
        owner: the name of the worker that runs executors here, unlike any other's.

    Attributes:
        prefill: answers them.
    """

    def __init__(
        self,
        registry: FormRegistry,
        adapter: FormAdapter,
        *,
        subject: Callable[[], str],
        now: Callable[[], datetime],
        told: Callable[[Opened], None],
        preparation: FormPreparation | None = None,
        owner: str,
    ) -> None:
        self._registry = registry
        self._adapter = adapter
        self._subject = subject
        self._now = now
        self._told = told
        self.prefill = Prefill(preparation, now)
        self._dispatcher = Dispatcher(adapter, now)
        self._leases = Leases(adapter, owner, now)
        self._running: set[tuple[str, str]] = set()
        """Batches that run in this process, which are not to be resumed."""
        self._latest: Opened | None = None
        """The state seen last: between two writes nothing changes, and evaluating is what a write costs."""

    async def open(self, instance_id: str | None = None) -> Opened:
        """Read an instance, or the one written to last of those not abandoned; bring it to the form's version.

        Raises:
            FormNotFoundError: there is none, or it is somebody else's.
        """
        instance = await self._find(instance_id)
        form = await self._registry.load(instance.form)
        if not _fits(form, instance):
            instance = await self._brought_up(form, instance)
        return self._evaluated(form, instance)

    async def create(self, form: Form[Any], instance: Instance, around: Surroundings) -> Saved:
        """Keep a new instance, and let follow what follows."""

        async def save(adopt: Adopt) -> Outcome:
            outcome = start(adopt(form, instance), form)
            await self._adapter.create(outcome.instance, lease=self._lease(outcome))
            return outcome

        return await self._follow(form, await self.prefill.save(form, instance, save), around)

    async def change(
        self,
        instance_id: str | None,
        edit: Edit,
        around: Surroundings,
        *,
        at: datetime,
        signal: AbortSignal | None = None,
    ) -> Saved:
        """Change an instance, with what facts say by now, and let follow what follows.

        Args:
            instance_id: which.
            edit: makes the change; facts alone may change something when it changes nothing.
            around: what executors find.
            at: dates the change.
            signal: stops it before it is saved.

        Raises:
            FormError: the change cannot be; nothing was changed.
            FormPostCommitError: the change was saved, and what was to follow failed.
        """
        opened = await self.open(instance_id)
        return await self._follow(opened.form, await self._prefilled(opened, edit, at=at, signal=signal), around)

    async def close(self, instance_id: str | None, edit: Edit) -> Saved:
        """Change an instance so that nothing follows, and nobody fills anything in any more."""
        opened = await self.open(instance_id)
        outcome = await self._commit(opened, lambda now: Outcome(instance=edit(now), evaluation=now.now))
        return await self._follow(opened.form, outcome, Surroundings())

    async def resume(self, around: Surroundings) -> None:
        """Run executors that rose before and have not all run: their process ended, or the work was stopped.

        Those that another worker runs are left to it, until its lease runs out.

        Raises:
            FormDefinitionError: an executor is not there any more.
            FormPostCommitError: what was to follow failed again.
        """
        for instance in await self._adapter.find(subject=self._subject(), statuses=OPEN, limit=RECENT):
            for batch_id in instance.pending:
                if (instance.id, batch_id) in self._running or not await self._leases.claim(instance.id, batch_id):
                    continue
                opened = await self.open(instance.id)  # Whoever had it may have ended.
                if batch_id in opened.instance.pending:
                    outcome = Outcome(instance=opened.instance, evaluation=opened.now, batch_id=batch_id)
                    await self._follow(opened.form, outcome, around)
                else:
                    await self._leases.release(instance.id, batch_id)

    # --------------------------------------------------------------------------------------------------------- within

    async def _find(self, instance_id: str | None) -> Instance:
        subject = self._subject()
        if instance_id is None:
            found = await self._adapter.find(subject=subject, statuses=OPEN, limit=1)
            if not found:
                raise FormNotFoundError("there is no open form; start one")
            return found[0]
        instance = await self._adapter.get(instance_id)
        if instance is None or instance.subject != subject:
            raise FormNotFoundError(f"there is no form instance {instance_id[:100]!r} here")
        return instance

    def _evaluated(self, form: Form[Any], instance: Instance) -> Opened:
        latest = self._latest
        if latest is not None and latest.form is form:
            known = latest.instance
            if (known.id, known.version) == (instance.id, instance.version):
                return replace(latest, instance=instance)
        self._latest = Opened(form=form, instance=instance, now=evaluate(form, instance))
        return self._latest

    def _tell(self, form: Form[Any], outcome: Outcome) -> None:
        known = None if self._latest is None else self._latest.instance
        if known is not None and (known.id, known.version) == (outcome.instance.id, outcome.instance.version):
            return  # Nothing was changed.
        self._latest = Opened(form=form, instance=outcome.instance, now=outcome.evaluation)
        self._told(self._latest)

    async def _brought_up(self, form: Form[Any], instance: Instance) -> Instance:
        stamp = Stamp(at=self._now(), provenance=Provenance(source=f"form:{form.id}", actor="system", note="migration"))
        moved = migrate(form, instance, stamp)
        commit = commit_between(instance, moved)
        try:
            await self._adapter.commit(instance.id, commit, if_version=instance.version)
        except FormConflictError:  # Somebody else did the same.
            return await self._adapter.get(instance.id) or instance
        return apply_commit(instance, commit)

    async def _prefilled(
        self, opened: Opened, edit: Edit, *, at: datetime, signal: AbortSignal | None = None
    ) -> Outcome:
        """Save a change, with what facts answer in it."""

        async def save(adopt: Adopt) -> Outcome:
            def decide(now: Opened) -> Outcome:
                edited = adopt(now.form, edit(now))
                if edited is now.instance:
                    return Outcome(instance=edited, evaluation=now.now)
                return advance(now.form, now.now, edited, at=at)

            return await self._commit(opened, decide)

        return await self.prefill.save(opened.form, edit(opened), save, signal)

    async def _commit(self, opened: Opened, decide: Callable[[Opened], Outcome]) -> Outcome:
        """Save what is decided, and decide anew when somebody else was first; what changes nothing is not saved."""
        for left in range(RETRIES, -1, -1):
            outcome = decide(opened)
            if outcome.instance is opened.instance:
                break
            try:
                return await self._save(opened.instance, outcome)
            except FormConflictError:
                if not left:
                    raise
                opened = await self.open(opened.instance.id)
        return outcome

    async def _save(self, before: Instance, outcome: Outcome) -> Outcome:
        commit = replace(commit_between(before, outcome.instance), lease=self._lease(outcome))
        await self._adapter.commit(before.id, commit, if_version=before.version)
        return replace(outcome, instance=apply_commit(before, commit))

    def _lease(self, outcome: Outcome) -> Lease | None:
        """Who saves what rises runs it: nobody else does in between."""
        return None if outcome.batch_id is None else self._leases.fresh(outcome.batch_id)

    async def _follow(self, form: Form[Any], first: Outcome, around: Surroundings) -> Saved:
        """Run what rose, fill in what opened up, and what follows from that, until nothing does."""
        outcome = first
        failed: list[str] = []
        self._tell(form, first)
        while True:
            try:
                if outcome.batch_id is not None:
                    outcome = await self._run(form, outcome, outcome.batch_id, around, failed)
                elif self.prefill.opened_up(form, outcome.instance, outcome.evaluation):
                    opened = await self.open(outcome.instance.id)
                    outcome = await self._prefilled(opened, lambda now: now.instance, at=self._now())
                else:
                    break
            except (FormError, StoreError) as exc:
                raise FormPostCommitError(outcome.instance, exc) from exc
            self._tell(form, outcome)
        return Saved(form=form, instance=outcome.instance, now=outcome.evaluation, first=first, failed=tuple(failed))

    async def _run(
        self, form: Form[Any], outcome: Outcome, batch_id: str, around: Surroundings, failed: list[str]
    ) -> Outcome:
        """Run a batch and save what its executors want; those that failed are added to a list."""
        mark = (outcome.instance.id, batch_id)

        async def work() -> Outcome:
            ran = await self._dispatcher.run(form, outcome.instance, outcome.instance.pending[batch_id], around)
            failed.extend(ran.failed)
            return await self._conclude(form, outcome, batch_id, ran.effects)

        self._running.add(mark)
        try:
            return await self._leases.keep(*mark, work)
        finally:
            self._running.discard(mark)

    async def _conclude(self, form: Form[Any], ran: Outcome, batch_id: str, effects: Any) -> Outcome:
        stamp = Stamp(at=self._now(), provenance=Provenance(source=f"form:{form.id}", actor="executor"))
        for left in range(RETRIES, -1, -1):
            # Read anew: the journal grew, and others may have written meanwhile.
            instance = await self._adapter.get(ran.instance.id) or ran.instance
            if batch_id not in instance.pending:  # Abandoned or resolved meanwhile: nobody waits for its effects.
                return Outcome(instance=instance, evaluation=evaluate(form, instance))
            try:
                saved = await self._save(instance, conclude(form, instance, batch_id, effects, stamp))
                break
            except FormConflictError:
                if not left:
                    raise
        return saved


def _fits(form: Form[Any], instance: Instance) -> bool:
    """Whether an instance has the status that goes with the form's version; it matters of open ones only."""
    stale = instance.status is InstanceStatus.STALE
    if instance.form_version == form.version:
        return not stale
    return instance.status is InstanceStatus.ABANDONED or (stale and form.migrate is None)
