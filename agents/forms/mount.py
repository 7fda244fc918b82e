"""Forms on an agent: the tools, the status line with every model call, and what is to be taken up before a request."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.core.abort import AbortSignal
from agents.core.expectation import ExpectedAnswer
from agents.core.glove import Glove
from agents.core.selection import ToolSelection
from agents.forms.adapter import FormAdapter
from agents.forms.bridge import MemoryBridge
from agents.forms.context import Deps
from agents.forms.definition import Form
from agents.forms.errors import FormConflictError, FormDefinitionError, FormError, FormPostCommitError
from agents.forms.preparation import FormPreparation
from agents.forms.question import Question
from agents.forms.record import Provenance
from agents.forms.registry import FormRegistry
from agents.forms.rendering import view_data
from agents.forms.runner import FormRunner
from agents.forms.tools import form_tools
from agents.reading.fields import expected_answer, field_schema

__all__ = ["MountedForms", "use_form_runner"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedForms:
    """An agent with forms."""

    glove: Glove
    runner: FormRunner


def use_form_runner(
    glove: Glove,
    form: Form[Deps] | FormRegistry,
    *,
    store: FormAdapter,
    deps: Deps | None = None,
    subject: str | Callable[[], str] | None = None,
    inject_status: bool = True,
    tools: ToolSelection | None = None,
    memory: MemoryBridge | None = None,
    provenance: Provenance | None = None,
    preparation: FormPreparation | None = None,
    now: Callable[[], datetime] | None = None,
    new_id: Callable[[], str] | None = None,
) -> MountedForms:
    """Give an agent forms.

    Args:
        glove: the agent.
        form: the form, or a registry of several.
        store: where instances are kept.
        deps: what executors get as ``ctx.deps``.
        subject: whose the forms are; the conversation's identifier by default. A function is asked anew each time.
        inject_status: whether the model is shown the status line with every call.
        tools: which of the tools the model has.
        memory: the memories executors may write to.
        provenance: whose writes are that do not say it.
        preparation: which questions facts may answer, before every request and with every write.
        now: dates what is written.
        new_id: makes ids of instances.

    Raises:
        FormDefinitionError: the form is ill-defined, or its deps are not there; nothing was mounted.
        ToolSelectionError: the selection names a tool there is not; nothing was mounted.
        DefinitionError: a tool of such a name is there already, or the agent is to prepare its own forms.
    """
    if isinstance(form, Form):
        if form.deps is not None and deps is None:
            raise FormDefinitionError([form.id], f"form {form.id!r} needs deps: give it a {form.deps.__name__}")
        registry = FormRegistry(form.build())
    else:
        registry = form
    if preparation is not None:
        preparation.preparer.serve(glove)
    given: dict[str, Any] = {name: value for name, value in (("now", now), ("new_id", new_id)) if value is not None}
    runner = FormRunner(
        registry,
        store,
        subject=(lambda: glove.store.identifier) if subject is None else subject,
        deps=deps,
        memory=memory,
        display=lambda: glove.display,
        provenance=provenance,
        preparation=preparation,
        **given,
    )
    glove.fold(*form_tools(runner), selection=tools)

    async def prepare(signal: AbortSignal) -> None:
        if preparation is not None:
            await _fill_in(runner, signal)
        try:
            await runner.resume_hooks()
        except (FormError, FormPostCommitError) as exc:
            # Not the caller's fault: the status line goes on saying what is waited for.
            logger.warning("executors of a form could not be resumed: %s", type(exc).__name__)

    async def render(_signal: AbortSignal | None) -> str:
        try:
            return await runner.status_line()
        except FormError as exc:
            logger.warning("a form's status line could not be written: %s", type(exc).__name__)
            return ""

    def asked() -> ExpectedAnswer | None:
        return None if runner.question is None else _expected(runner.question)

    async def read() -> list[dict[str, Any]]:
        instances = await runner.list(limit=1)
        views = [await runner.inspect(instance_id=instance.id) for instance in instances]
        return [{**view_data(view), "asked": view.asked} for view in views]

    changed = glove.progress.register("forms", read)
    runner.add_listener(lambda _view: changed())
    glove.mounts.add(runner)
    glove.add_preparation(prepare)
    glove.add_question(asked)
    if inject_status:
        glove.add_context_provider(render)
    return MountedForms(glove=glove, runner=runner)


async def _fill_in(runner: FormRunner, signal: AbortSignal) -> None:
    try:
        await runner.prepare(signal)
    except (FormConflictError, FormPostCommitError) as exc:
        # Others wrote, or something that follows failed: it is all looked at again with the next request.
        logger.warning("a form could not be filled in by facts: %s", type(exc).__name__)


def _expected(question: Question) -> ExpectedAnswer | None:
    """How an answer to a form's question will sound."""
    schema = {"properties": {question.field: question.schema}, "$defs": question.schema.get("$defs", {})}
    return expected_answer(field_schema(schema, question.field))
