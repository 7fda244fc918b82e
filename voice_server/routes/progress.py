"""How far a conversation's agent is: its goals, its forms and what it knows of the person; and answers from outside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from agents.context.writer import ContextWriter
from agents.core.glove import Glove
from agents.forms.errors import (
    FormBlockedError,
    FormConflictError,
    FormError,
    FormNotFoundError,
    FormPostCommitError,
    FormStaleError,
)
from agents.forms.record import Provenance
from agents.forms.rendering import fill_data
from agents.forms.report import FillReport
from agents.forms.runner import FormRunner
from voice_server.clients.events import FormsShown, GoalsShown
from voice_server.clients.onlooker import look
from voice_server.routes.body import bounded
from voice_server.routes.chat import ConversationId
from voice_server.routes.problem import Refused, refusals
from voice_server.service import Running, Service

__all__ = ["router"]

LARGEST_REQUEST = 1_000_000
"""Bytes: a long form with every answer as long as one may be."""

MOST_VALUES = 500
"""Answers that may be given at once."""

router = APIRouter(prefix="/api/conversations", tags=["progress"], route_class=bounded(LARGEST_REQUEST))

InstanceId = Annotated[
    str | None,
    Field(pattern=r"^[A-Za-z0-9_.:-]{1,128}$", description="which form; none: the one that was written to last"),
]
Values = Annotated[dict[str, JsonValue], Field(max_length=MOST_VALUES, description="answers by field id or label")]


class Note(BaseModel):
    """Something that is known of the person, or is to be kept in mind."""

    id: str
    section: str
    title: str | None
    content: str
    pinned: bool = Field(description="whether the model is shown it with every call")
    expires_at: datetime | None
    created_at: datetime


class Notes(BaseModel):
    """What the agent knows of the person."""

    entries: list[Note] = Field(description="those that hold, in the order they were made")


class Answers(BaseModel):
    """What a person answered."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"values": {"full_name": "Ann Lee"}}]})

    values: Annotated[Values, Field(min_length=1)]
    instance: InstanceId = None


class Settlement(BaseModel):
    """How a checkpoint ended that was waited for."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"ok": True}]})

    ok: bool = Field(description="whether it passed")
    values: Values = Field(default_factory=dict)
    error: str | None = Field(default=None, max_length=500, description="why it did not pass; the agent is told")
    instance: InstanceId = None


class Rejected(BaseModel):
    """An answer that does not fit; it counts as none."""

    field: str
    message: str
    hint: str | None = None


class Unknown(BaseModel):
    """A name that no field goes by; nothing was stored."""

    field: str
    did_you_mean: list[str] = Field(default_factory=list)


class Taken(BaseModel):
    """What became of the answers, each judged alone."""

    captured: list[str] = Field(description="ids of fields whose answers hold")
    held: list[str] = Field(description="ids of fields whose answers are kept until they apply")
    rejected: list[Rejected]
    unknown: list[Unknown]
    forms: FormsShown


_READING = refusals(HTTPStatus.NOT_FOUND)
_WRITING = refusals(
    HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE
)


@router.get("/{conversation}/goals", operation_id="showGoals", summary="Show how the goals stand", responses=_READING)
async def show_goals(conversation: ConversationId, service: Running) -> GoalsShown:
    """Show what the event ``goals`` tells; without goals there is no program."""
    async with _agent(service, conversation) as agent:
        shown = await look(agent.progress, "goals")
        assert isinstance(shown, GoalsShown)
        return shown


@router.get("/{conversation}/forms", operation_id="showForms", summary="Show how the forms stand", responses=_READING)
async def show_forms(conversation: ConversationId, service: Running) -> FormsShown:
    """Show what the event ``forms`` tells."""
    async with _agent(service, conversation) as agent:
        return await _forms(agent)


@router.get("/{conversation}/context", operation_id="showContext", summary="Show what is known", responses=_READING)
async def show_context(conversation: ConversationId, service: Running) -> Notes:
    """Show the notes about the person that hold; an agent that keeps none has none."""
    async with _agent(service, conversation) as agent:
        writer = agent.mounts.find(ContextWriter)
        entries = [] if writer is None else await writer.entries()
        return Notes(entries=[Note(**entry.model_dump(include=set(Note.model_fields))) for entry in entries])


@router.post(
    "/{conversation}/forms/answers", operation_id="answerForm", summary="Answer a form's questions", responses=_WRITING
)
async def answer_form(conversation: ConversationId, answers: Answers, service: Running) -> Taken:
    """Write a person's answers; each is judged alone, and 422 only when nothing of them could be taken."""
    async with _agent(service, conversation) as agent:
        runner = _runner(agent)
        try:
            report = await runner.fill(answers.values, instance_id=answers.instance, provenance=_person(conversation))
        except (FormError, FormPostCommitError) as error:
            raise _refused(error) from None
        taken = _taken(report, await _forms(agent))
    if not (taken.captured or taken.held):
        raise Refused(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "form_validation_failed",
            "none of the answers could be taken; `details` says why of each",
            details=taken.model_dump(mode="json", include={"rejected", "unknown"}),
        )
    return taken


@router.post(
    "/{conversation}/forms/checkpoints/{checkpoint}",
    operation_id="settleCheckpoint",
    summary="Settle a checkpoint that is waited for",
    responses=_WRITING,
)
async def settle_checkpoint(
    conversation: ConversationId,
    checkpoint: Annotated[str, Path(pattern=r"^[A-Za-z0-9_.:-]{1,128}$", description="the checkpoint's id")],
    settlement: Settlement,
    service: Running,
) -> FormsShown:
    """Say how something ended that the form waits for, where its executor cannot wait itself; the form goes on."""
    async with _agent(service, conversation) as agent:
        runner = _runner(agent)
        try:
            waits_for = (await runner.inspect(instance_id=settlement.instance)).blocked_on
            if waits_for != checkpoint:
                message = f"the form waits for {'nothing' if waits_for is None else f'checkpoint {waits_for!r}'} now"
                raise Refused(HTTPStatus.CONFLICT, "not_awaited", message)
            await runner.resolve_checkpoint(
                checkpoint,
                ok=settlement.ok,
                values=settlement.values,
                error=settlement.error,
                instance_id=settlement.instance,
                provenance=_person(conversation),
            )
        except (FormError, FormPostCommitError) as error:
            raise _refused(error) from None
        return await _forms(agent)


@asynccontextmanager
async def _agent(service: Service, conversation: str) -> AsyncIterator[Glove]:
    """Join a conversation that there is; one that nobody is in gets its agent for it."""
    if await service.conversations.read(conversation) is None:
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", "there is no such conversation")
    async with service.conversations.join(conversation) as joined:
        yield joined.agent


def _runner(agent: Glove) -> FormRunner:
    if (runner := agent.mounts.find(FormRunner)) is None:
        raise Refused(HTTPStatus.NOT_FOUND, "not_found", "the agent has no forms")
    return runner


async def _forms(agent: Glove) -> FormsShown:
    shown = await look(agent.progress, "forms")
    assert isinstance(shown, FormsShown)
    return shown


def _person(conversation: str) -> Provenance:
    return Provenance(source=f"http:{conversation}", actor="user")


def _taken(report: FillReport, forms: FormsShown) -> Taken:
    data: dict[str, Any] = fill_data(report)
    return Taken(
        captured=data["captured"],
        held=data.get("held", []),
        rejected=[Rejected(**each) for each in data.get("rejected", [])],
        unknown=[Unknown(**each) for each in data.get("unknown_fields", [])],
        forms=forms,
    )


def _refused(error: FormError | FormPostCommitError) -> Refused:
    """Say why a form was not written; or that it was, and what was to follow failed."""
    match error:
        case FormPostCommitError():
            return Refused(HTTPStatus.CONFLICT, "form_post_commit", f"{error}; it is tried again with the next message")
        case FormNotFoundError():
            status = HTTPStatus.NOT_FOUND
        case FormBlockedError() | FormConflictError() | FormStaleError():
            status = HTTPStatus.CONFLICT
        case _:
            status = HTTPStatus.UNPROCESSABLE_ENTITY
    return Refused(status, error.code, str(error), details=error.data)
