"""The tools with which a model fills in forms, and reads how they came to be what they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agents.core.messages import ToolResultData
from agents.core.tools import Tool, ToolContext
from agents.facts.preparation.render import preparation_data
from agents.forms.errors import FormError, FormPostCommitError
from agents.forms.record import Instance, InstanceStatus
from agents.forms.rendering import fill_data, view_data
from agents.forms.report import FillReport
from agents.forms.runner import FormRunner
from agents.forms.view import FormView, Scope

__all__ = ["form_tools"]

HISTORY_LIMIT = 50
"""Instances in one answer at most."""


class _Input(BaseModel):
    """Closed: whose forms they are is the host's to say."""

    model_config = ConfigDict(extra="forbid")


class Nothing(_Input):
    """No input."""


class _OfInstance(_Input):
    instance_id: str | None = Field(default=None, max_length=200, description="which form; the open one by default")


class Start(_Input):
    """A form to begin."""

    form: str = Field(max_length=200, description="its id")
    values: dict[str, Any] = Field(
        default={}, description="whatever of the answers is known already, by field id; of any step"
    )


class Status(_OfInstance):
    """Which form."""


class Inspect(_OfInstance):
    """What to look at."""

    scope: Literal["step", "field", "outline"] = "outline"
    id: str | None = Field(default=None, max_length=200, description="of the step or field")

    @model_validator(mode="after")
    def _field_is_named(self) -> Self:
        if self.scope == "field" and self.id is None:
            raise ValueError("name the field: id")
        return self


class Fill(_OfInstance):
    """Answers."""

    values: dict[str, Any] = Field(description="answers by field id, as plain JSON of the type the field tells")


class Revise(_OfInstance):
    """A change of an answer."""

    action: Literal["set", "skip", "retract", "undo", "redo"] = "set"
    field: str | None = Field(default=None, max_length=200, description="which; undo and redo do without")
    value: Any = Field(default=None, description="for set: the answer")
    reason: str | None = Field(default=None, max_length=1000, description="why; a skip needs one")

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if self.action in ("set", "skip", "retract") and self.field is None:
            raise ValueError(f"{self.action} needs a field")
        if self.action == "set" and "value" not in self.model_fields_set:
            raise ValueError("set needs a value; to withdraw an answer use retract")
        return self


class Abandon(_OfInstance):
    """A form to close."""

    reason: str = Field(min_length=1, max_length=1000)


class History(_OfInstance):
    """Which forms to look back at."""

    form: str | None = Field(default=None, max_length=200, description="of this form only")
    status: InstanceStatus | None = Field(default=None, description="of this status only")
    limit: int = Field(default=10, ge=1, le=HISTORY_LIMIT)


def form_tools(runner: FormRunner) -> tuple[Tool, ...]:
    """Make the seven tools that work on a runner's forms, and the one that looks back.

    Those that write may not be stopped: who says yes and hangs up has said yes, and what follows from it is done.
    """
    told = partial(_told, runner)

    async def list_forms(_: Nothing, ctx: ToolContext) -> Any:
        forms = runner.registry.listings
        return {"forms": [{"id": one.id, "name": one.name, "description": one.description} for one in forms]}

    async def start(given: Start, ctx: ToolContext) -> Any:
        return await told(lambda: runner.start(given.form, given.values, tool=ctx))

    async def status(given: Status, ctx: ToolContext) -> Any:
        return await told(lambda: runner.status(given.instance_id))

    async def inspect(given: Inspect, ctx: ToolContext) -> Any:
        return await told(lambda: runner.inspect(Scope(given.scope), given.id, instance_id=given.instance_id))

    async def fill(given: Fill, ctx: ToolContext) -> Any:
        return await told(lambda: runner.fill(given.values, instance_id=given.instance_id, tool=ctx))

    async def revise(given: Revise, ctx: ToolContext) -> Any:
        return await told(lambda: _revised(runner, given, ctx))

    async def abandon(given: Abandon, ctx: ToolContext) -> Any:
        return await told(lambda: runner.abandon(given.reason, instance_id=given.instance_id))

    async def history(given: History, ctx: ToolContext) -> Any:
        return await told(lambda: _looked_back(runner, given))

    return (
        Tool(
            name="glove_form_list",
            description="List the forms there are.",
            input=Nothing,
            do=list_forms,
        ),
        Tool(
            name="glove_form_start",
            description=(
                "Begin a form. Pass every answer you have heard already, whichever step it belongs to; "
                "nothing the user has said is asked again."
            ),
            input=Start,
            do=start,
            unabortable=True,
        ),
        Tool(
            name="glove_form_status",
            description="Read where the open form stands: the questions of the open step, and the answers to them.",
            input=Status,
            do=status,
        ),
        Tool(
            name="glove_form_inspect",
            description="Read a step, a field, or the whole form with all answers.",
            input=Inspect,
            do=inspect,
        ),
        Tool(
            name="glove_form_fill",
            description=(
                "Write answers to the open form, as soon as you hear them, in any order, to any step. "
                "Each is checked; what is wrong with one is told and does not concern the others."
            ),
            input=Fill,
            do=fill,
            unabortable=True,
        ),
        Tool(
            name="glove_form_revise",
            description=(
                "Change an answer. set: another answer. skip: the user declines to answer, with the reason, where a "
                "field may be skipped. retract: the answer is withdrawn and asked again. undo, redo: go back or "
                "forward by one answer, of a field or of the whole form."
            ),
            input=Revise,
            do=revise,
            unabortable=True,
        ),
        Tool(
            name="glove_form_abandon",
            description="Close the form without completing it, because the user wants no more of it.",
            input=Abandon,
            do=abandon,
        ),
        Tool(
            name="glove_form_history",
            description="Look back at the user's forms, closed ones too; or at one of them with its answers.",
            input=History,
            do=history,
        ),
    )


async def _revised(runner: FormRunner, given: Revise, ctx: ToolContext) -> FillReport:
    field, instance_id = given.field or "", given.instance_id
    match given.action:
        case "set":
            reason = given.reason or "not said"
            return await runner.revise(field, given.value, reason=reason, instance_id=instance_id, tool=ctx)
        case "skip":
            return await runner.skip(field, given.reason or "", instance_id=instance_id, tool=ctx)
        case "retract":
            return await runner.retract(field, instance_id=instance_id, tool=ctx)
        case "undo":
            return await runner.undo(given.field, instance_id=instance_id, tool=ctx)
        case "redo":
            return await runner.redo(given.field, instance_id=instance_id, tool=ctx)


async def _looked_back(runner: FormRunner, given: History) -> dict[str, Any]:
    if given.instance_id is not None:
        view = await runner.inspect(Scope.OUTLINE, instance_id=given.instance_id)
        return {"instance": view_data(view)}
    statuses = None if given.status is None else {given.status}
    found = await runner.adapter.find(subject=runner.subject, form=given.form, statuses=statuses, limit=given.limit)
    return {"instances": [_line(instance) for instance in found]}


def _line(instance: Instance) -> dict[str, Any]:
    answered = [entry.in_force for entry in instance.entries.values() if entry.in_force is not None]
    line = {
        "instance_id": instance.id,
        "form": instance.form,
        "status": instance.status.value,
        "answered": len(answered),
        "updated_at": instance.updated_at.isoformat(),
    }
    return line if instance.closed_reason is None else {**line, "closed_reason": instance.closed_reason}


async def _told(runner: FormRunner, do: Callable[[], Awaitable[Any]]) -> Any:
    """What came of it, as a model reads it, with what facts say of it."""

    def facts(instance_id: str) -> dict[str, Any]:
        return preparation_data(runner.prepared(instance_id))

    try:
        outcome = await do()
    except FormPostCommitError as exc:
        saved = exc.instance
        data = {"committed": True, "instance_id": saved.id, "status": saved.status.value, **facts(saved.id)}
        return ToolResultData(status="error", message=str(exc), data=data)
    except FormError as exc:
        return ToolResultData(status="error", message=str(exc), data=exc.data)
    if isinstance(outcome, FillReport):
        return {**fill_data(outcome), **facts(outcome.view.instance_id)}
    if isinstance(outcome, FormView):
        return {**view_data(outcome), **facts(outcome.instance_id)}
    return outcome
