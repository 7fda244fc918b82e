"""What the server counts and times, for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from voice_server.service import Front
from voice_server.telemetry.metrics import CONTENT_TYPE

__all__ = ["router"]

router = APIRouter(tags=["health"])


class _Exposition(Response):
    media_type = CONTENT_TYPE


@router.get("/metrics", operation_id="metrics", summary="What is counted and timed", response_class=_Exposition)
async def metrics(request: Request) -> _Exposition:
    """Give all metrics in Prometheus' text format; no text and no name of a person is among them."""
    front: Front = request.app.state.front
    return _Exposition(front.metrics.render())
