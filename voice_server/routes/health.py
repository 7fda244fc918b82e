"""Whether the server lives, and whether it takes calls."""

from __future__ import annotations

from http import HTTPStatus
from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from voice_server.routes.problem import refusals
from voice_server.service import Front
from voice_server.settings import PipelineKind

__all__ = ["router"]

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """The process lives."""

    status: Literal["ok"] = "ok"
    version: str


class Ready(BaseModel):
    """Calls are taken."""

    status: Literal["ready"] = "ready"
    calls: int = Field(description="how many there are")
    limit: int = Field(description="how many there may be")
    rooms: bool = Field(description="whether they can also be held in LiveKit's rooms")
    pipelines: list[PipelineKind] = Field(description="on which they can be held; the server's own is the first")


@router.get("/health", operation_id="health", summary="Whether the process lives")
async def health() -> Health:
    """Answer as long as the process lives, whether it takes calls or not."""
    return Health(version=version("glove-voice"))


@router.get(
    "/ready",
    operation_id="ready",
    summary="Whether calls are taken",
    responses=refusals(HTTPStatus.SERVICE_UNAVAILABLE),
)
async def ready(request: Request) -> Ready:
    """Answer 503, with the reason, while the engines load and when the server is going away."""
    front: Front = request.app.state.front
    service = front.service
    own = service.settings.pipeline
    possible = [kind for kind in PipelineKind if service.house.missing_for(kind) is None]
    return Ready(
        calls=len(service.calls),
        limit=service.calls.limit,
        rooms=service.settings.livekit_url is not None,
        pipelines=sorted(possible, key=lambda kind: kind is not own),
    )
