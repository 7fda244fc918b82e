"""Running executors: each run is noted in the journal before it begins and when it has ended.

A run that was noted as ended is never repeated; one that a crash cut off is repeated under the same key.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agents.core.abort import AbortSignal
from agents.core.tool_context import ToolDisplay
from agents.display import DisplayManager
from agents.forms.adapter import FormAdapter
from agents.forms.bridge import MemoryBridge
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Effect, Fail, Patch, as_effects, read_effects, write_effects
from agents.forms.engine import as_seen_by, dispatch_key
from agents.forms.errors import FormDefinitionError
from agents.forms.evaluation import Evaluation, FieldStatus, evaluate
from agents.forms.field import write_value
from agents.forms.hook import skip_hook
from agents.forms.record import Batch, Dispatch, DispatchStatus, Instance

__all__ = ["Dispatcher", "Ran", "Surroundings"]

ERROR_LIMIT = 500
"""Characters kept of what an executor says went wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What executors find around them."""

    deps: Any = None
    memory: MemoryBridge = field(default_factory=MemoryBridge)
    display: DisplayManager | ToolDisplay | None = None
    signal: AbortSignal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of a batch."""

    effects: dict[str, tuple[Effect, ...]]
    """By hook."""
    failed: tuple[str, ...]
    """Hooks that failed in this run, by id."""


class Dispatcher:
    """Runs batches.

    Args:
        adapter: keeps the journal.
        now: dates it.
    """

    def __init__(self, adapter: FormAdapter, now: Callable[[], datetime]) -> None:
        self._adapter = adapter
        self._now = now

    async def run(self, form: Form[Any], instance: Instance, batch: Batch, around: Surroundings) -> Ran:
        """Run the executors of a batch, one after the other; a failure of one does not stop the others.

        Raises:
            FormDefinitionError: an executor is not there any more.
            StoreError: the journal cannot be written.
        """
        if missing := [hook for hook in batch.hooks if hook not in form.executors]:
            raise FormDefinitionError(missing, f"form {form.id!r} has no executor any more for {', '.join(missing)}")
        seen = as_seen_by(instance, batch)
        now = evaluate(form, seen)
        effects: dict[str, tuple[Effect, ...]] = {}
        failed: list[str] = []
        for hook in batch.hooks:
            key = dispatch_key(instance, batch, hook)
            known = instance.dispatches.get(key)
            if known is None or known.status is DispatchStatus.RUNNING:
                context = _context(form, seen, now, hook, key, around)
                known = await self._run(form, context, attempts=1 if known is None else known.attempts + 1)
                if known.status is DispatchStatus.FAILED:
                    failed.append(hook)
            effects[hook] = read_effects(known.effects)
        return Ran(effects=effects, failed=tuple(failed))

    async def _run(self, form: Form[Any], context: FormContext[Any], attempts: int) -> Dispatch:
        key = context.idempotency_key

        async def note(status: DispatchStatus, *, error: str | None = None, effects: str | None = None) -> Dispatch:
            dispatch = Dispatch(
                hook_id=context.hook_id,
                status=status,
                attempts=attempts,
                at=self._now(),
                error=error,
                effects=effects,
            )
            await self._adapter.record_dispatch(context.instance.id, key, dispatch)
            return dispatch

        await note(DispatchStatus.RUNNING)
        try:
            returned = form.executors[context.hook_id](context)
            effects = as_effects(await returned if inspect.isawaitable(returned) else returned)
            written = _checked(effects)
        except Exception as exc:  # noqa: BLE001 - the boundary to foreign code
            return await note(DispatchStatus.FAILED, error=(str(exc) or type(exc).__name__)[:ERROR_LIMIT])
        if effects and isinstance(effects[0], Fail):
            return await note(DispatchStatus.FAILED, error=effects[0].message[:ERROR_LIMIT])
        return await note(DispatchStatus.OK, effects=written)


def _context(
    form: Form[Any], seen: Instance, now: Evaluation, hook: str, key: str, around: Surroundings
) -> FormContext[Any]:
    skipped = (state.revision for state in now.fields.values() if skip_hook(state.field.id) == hook)
    confirmed = any(now.fields[field_id].status is FieldStatus.FILLED for field_id in form.confirming)
    return FormContext(
        deps=around.deps,
        form=form,
        values=now.values,
        state=now,
        instance=seen,
        hook_id=hook,
        idempotency_key=key,
        occurrence=seen.occurrences.get(hook, 0) + 1,
        confirmed_for=now.fingerprint if confirmed else None,
        reason=next((revision.skipped for revision in skipped if revision is not None), None),
        memory=around.memory,
        display=around.display,
        signal=around.signal,
    )


def _checked(effects: tuple[Effect, ...]) -> str:
    """Write effects, so that they can be applied after a crash.

    Raises:
        ValueError: a patch holds what is no answer.
    """
    for effect in effects:
        if isinstance(effect, Patch):
            for field_id, value in effect.values.items():
                if write_value(value) is None:
                    raise ValueError(f"its patch of {field_id!r} is no JSON, or too long")
    return write_effects(effects)
