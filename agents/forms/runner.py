"""The runner: what may be done with forms, for tools and the application's own code.

Above: ``tools``. Below: ``writes`` and ``engine`` decide, ``keeping`` saves, and only then do executors act.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias
from uuid import uuid4

from agents.core.abort import AbortSignal
from agents.core.tool_context import ToolContext
from agents.display import DisplayManager
from agents.facts.preparation.requirement import Report
from agents.forms import writes
from agents.forms.adapter import FormAdapter
from agents.forms.bridge import MemoryBridge
from agents.forms.dispatch import Surroundings
from agents.forms.engine import abandon, resolve
from agents.forms.errors import (
    FormBlockedError,
    FormStaleError,
    FormValidationError,
    ProvenanceRequiredError,
)
from agents.forms.keeping import Opened
from agents.forms.preparation import FormPreparation
from agents.forms.reader import FormReader
from agents.forms.record import Instance, InstanceStatus, Provenance
from agents.forms.registry import FormRegistry
from agents.forms.report import FillReport, report_on
from agents.forms.view import FormView, see, wait_message
from agents.forms.writes import Stamp, Written

__all__ = ["FormRunner"]

Write: TypeAlias = Callable[[Opened, Stamp], Written]


def _new_id() -> str:
    return f"form_{uuid4().hex}"


class FormRunner(FormReader):
    """The forms of one subject.

    A write is saved before anything follows from it. What executors then do may take long; :attr:`question` and
    listeners know of the write meanwhile. Where an ``instance_id`` may be given, the form that was written to last is
    meant by default, abandoned ones left out.

    Args:
        registry: the forms there are.
        adapter: where they are kept.
        subject: whose they are; a function is asked anew each time.
        deps: handed to executors.
        memory: the memories executors may write to.
        display: gives the screen there is, for writes outside a tool.
        provenance: whose writes are that do not say it; the agent's by default.
        preparation: what facts may answer: looked at before every write is saved, and by :meth:`prepare`.
        now: dates what is written; the system's time by default.
        new_id: makes ids of instances, unique in the store.
        owner: this worker's name; no other's.
    """

    def __init__(
        self,
        registry: FormRegistry,
        adapter: FormAdapter,
        *,
        subject: str | Callable[[], str],
        deps: Any = None,
        memory: MemoryBridge | None = None,
        display: Callable[[], DisplayManager | None] = lambda: None,
        provenance: Provenance | None = None,
        preparation: FormPreparation | None = None,
        now: Callable[[], datetime] | None = None,
        new_id: Callable[[], str] = _new_id,
        owner: str | None = None,
    ) -> None:
        super().__init__(registry, adapter, subject=subject, preparation=preparation, now=now, owner=owner)
        self._around = Surroundings(deps=deps, memory=memory or MemoryBridge())
        self._display = display
        self._provenance = provenance
        self._new_id = new_id

    async def start(
        self,
        form_id: str,
        seed: Mapping[str, Any] | None = None,
        *,
        provenance: Provenance | None = None,
        tool: ToolContext | None = None,
    ) -> FillReport:
        """Begin a form, with what is known already.

        Raises:
            FormNotFoundError: there is no such form.
            FormError: it cannot be; nothing was begun.
        """
        form = await self.registry.load(form_id)
        stamp = self._stamp(provenance)
        instance = Instance(
            id=self._new_id(),
            form=form.id,
            form_version=form.version,
            subject=self.subject,
            status=InstanceStatus.ACTIVE,
            created_at=stamp.at,
            updated_at=stamp.at,
            version=0,
        )
        written = writes.fill(form, instance, seed or {}, stamp)
        saved = await self._instances.create(form, written.instance, self._surroundings(tool))
        return report_on(saved, written)

    async def fill(
        self,
        values: Mapping[str, Any],
        *,
        instance_id: str | None = None,
        provenance: Provenance | None = None,
        tool: ToolContext | None = None,
    ) -> FillReport:
        """Write answers, in any order and to any step; each is judged alone.

        Args:
            values: by field id or label.
            instance_id: which form.
            provenance: who writes, and from where.
            tool: the call that writes, if one does.

        Raises:
            FormBlockedError: a checkpoint is at work.
            FormError: it cannot be; nothing was written.
            FormPostCommitError: it was written, and what was to follow failed.
        """
        return await self._write(
            lambda opened, stamp: writes.fill(opened.form, opened.instance, values, stamp),
            instance_id,
            provenance,
            tool,
        )

    async def revise(
        self,
        field: str,
        value: Any,
        *,
        reason: str,
        instance_id: str | None = None,
        tool: ToolContext | None = None,
    ) -> FillReport:
        """Write another answer, and why; see :meth:`fill`."""
        provenance = Provenance(source=self._source(), note=f"revision: {reason}"[: writes.REASON_LIMIT])
        return await self.fill({field: value}, instance_id=instance_id, provenance=provenance, tool=tool)

    async def skip(
        self, field: str, reason: str, *, instance_id: str | None = None, tool: ToolContext | None = None
    ) -> FillReport:
        """Note that a question will not be answered, and why.

        Raises:
            FormValidationError: it may not be skipped, or there is no reason.
            FormNotFoundError: there is no such form or field.
        """
        return await self._write(
            lambda opened, stamp: writes.skip(opened.form, opened.instance, field, reason, stamp),
            instance_id,
            None,
            tool,
        )

    async def retract(
        self, field: str, *, instance_id: str | None = None, tool: ToolContext | None = None
    ) -> FillReport:
        """Withdraw an answer; the question is asked again.

        Raises:
            FormValidationError: there is nothing to withdraw.
            FormNotFoundError: there is no such form or field.
        """
        return await self._write(
            lambda opened, stamp: writes.retract(opened.form, opened.instance, field, stamp), instance_id, None, tool
        )

    async def undo(
        self, field: str | None = None, *, instance_id: str | None = None, tool: ToolContext | None = None
    ) -> FillReport:
        """Let the answer before hold again: of a field, or of the one written last.

        Raises:
            FormValidationError: there is nothing to undo.
        """
        return await self._write(
            lambda opened, stamp: writes.undo(opened.form, opened.instance, field), instance_id, None, tool
        )

    async def redo(
        self, field: str | None = None, *, instance_id: str | None = None, tool: ToolContext | None = None
    ) -> FillReport:
        """Let the answer after hold again.

        Raises:
            FormValidationError: there is nothing to redo.
        """
        return await self._write(
            lambda opened, stamp: writes.redo(opened.form, opened.instance, field), instance_id, None, tool
        )

    async def abandon(self, reason: str, *, instance_id: str | None = None) -> FormView:
        """Close a form, whatever its state: also one that waits, or is stale.

        Raises:
            FormValidationError: it is closed already, or there is no reason.
            FormNotFoundError: there is no such form.
        """
        if not reason.strip():
            raise FormValidationError("give a reason for abandoning the form")

        def edit(opened: Opened) -> Instance:
            _refuse_closed(opened.instance)
            return abandon(opened.instance, reason.strip(), at=self._now())

        saved = await self._instances.close(instance_id, edit)
        return see(saved.form, saved.instance, saved.now)

    async def resolve_checkpoint(
        self,
        checkpoint: str,
        *,
        ok: bool,
        values: Mapping[str, Any] | None = None,
        error: str | None = None,
        instance_id: str | None = None,
        provenance: Provenance | None = None,
    ) -> FormView:
        """Settle a checkpoint from outside, when its answer comes where its executor cannot wait for it.

        Args:
            checkpoint: which.
            ok: whether it passed; if not, that is shown to the agent.
            values: answers to write with it.
            error: why it did not pass.
            instance_id: which form.
            provenance: who settles it.

        Raises:
            FormNotFoundError: there is no such form or checkpoint.
            FormError: it cannot be; nothing was changed.
        """
        stamp = self._stamp(provenance)

        def edit(opened: Opened) -> Instance:
            _refuse_closed(opened.instance)
            _refuse_stale(opened)
            return resolve(
                opened.form, opened.instance, checkpoint, ok=ok, error=error, values=values or {}, stamp=stamp
            )

        saved = await self._instances.change(instance_id, edit, self._surroundings(None), at=stamp.at)
        return see(saved.form, saved.instance, saved.now)

    async def prepare(self, signal: AbortSignal | None = None) -> Report | None:
        """Fill in what facts answer by now, in the open form. Facts that say nothing new change nothing.

        Returns:
            What they say; ``None`` when there is no form, or nothing is prepared.

        Raises:
            FormError: the facts are another subject's, or others kept writing; the next preparation looks again.
            FormPostCommitError: answers were saved, and what was to follow failed.
        """
        active = await self.active_instance()
        if active is None or active.status is InstanceStatus.STALE:
            return None
        saved = await self._instances.change(
            active.id, lambda opened: opened.instance, self._surroundings(None), at=self._now(), signal=signal
        )
        return self.prepared(saved.instance.id)

    async def resume_hooks(self) -> None:
        """Run executors that rose and have not all run, because the process ended or the work was stopped.

        Each runs under the key it had, sees the answers it would have seen, and is not repeated if it had ended. What
        another process runs just now is left to it; one that has died is waited for no longer than 10 seconds.

        Raises:
            FormPostCommitError: what was to follow failed again.
        """
        await self._instances.resume(self._surroundings(None))

    # --------------------------------------------------------------------------------------------------------- within

    async def _write(
        self, write: Write, instance_id: str | None, provenance: Provenance | None, tool: ToolContext | None
    ) -> FillReport:
        stamp = self._stamp(provenance)
        written: list[Written] = []

        def edit(opened: Opened) -> Instance:
            _refuse_closed(opened.instance)
            _refuse_stale(opened)
            if opened.instance.blocked_on is not None:
                raise FormBlockedError(opened.instance.blocked_on, wait_message(opened.form, opened.instance) or "")
            written.append(write(opened, stamp))
            return written[-1].instance

        saved = await self._instances.change(instance_id, edit, self._surroundings(tool), at=stamp.at)
        return report_on(saved, written[-1])

    def _surroundings(self, tool: ToolContext | None) -> Surroundings:
        return Surroundings(
            deps=self._around.deps,
            memory=self._around.memory,
            display=self._display() if tool is None else tool.display,
            signal=None if tool is None else tool.signal,
        )

    def _stamp(self, provenance: Provenance | None) -> Stamp:
        given = provenance or self._provenance or Provenance(source=self._source())
        if not given.source.strip() or not given.actor.strip():
            raise ProvenanceRequiredError("a write says whose it is: Provenance(source=…, actor=…)")
        return Stamp(at=self._now(), provenance=given)

    def _source(self) -> str:
        return f"forms:{self.subject}"


def _refuse_closed(instance: Instance) -> None:
    if instance.status is InstanceStatus.ABANDONED:
        why = f": {instance.closed_reason}" if instance.closed_reason else ""
        raise FormValidationError(f"this form was abandoned{why}; start a new one")


def _refuse_stale(opened: Opened) -> None:
    if opened.instance.status is InstanceStatus.STALE:
        raise FormStaleError(opened.form.id, opened.instance.form_version, opened.form.version)
