"""The application: routes, who may use them, and what lives behind them from start to end.

Above: ``serve`` runs it on uvicorn; a host of yours may mount it. Below: ``routes``, and the ``Front`` that opens the
service.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version

from fastapi import Depends, FastAPI

from voice_server.guard import LoopbackOnly, require_key
from voice_server.routes import (
    calls,
    chat,
    conversations,
    health,
    metrics,
    progress,
    realtime,
    rooms,
    token,
    voice,
    webhooks,
)
from voice_server.routes.description import describe
from voice_server.routes.page import serve_page
from voice_server.routes.problem import refusals, tell_problems
from voice_server.service import Front

__all__ = ["create_app"]

_GUARDED = (
    calls.router,
    rooms.router,
    token.router,
    chat.router,
    conversations.router,
    progress.router,
    metrics.router,
)
"""Routes that want the key."""

_OPEN = (health.router, voice.router, webhooks.router, realtime.router)
"""Routes that ask for no key, or for it or another one themselves: a browser's socket cannot send headers."""


def create_app(front: Front) -> FastAPI:
    """Make the application. Engines are loaded while it already answers: `/ready` says when they are there.

    Args:
        front: opens the service, with its settings; ``app.state.front`` afterwards.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            opening = group.create_task(front.open(group), name="open")
            try:
                yield
            finally:
                opening.cancel()
                await front.aclose()

    app = FastAPI(
        title="glove-voice",
        version=version("glove-voice"),
        summary="Voice calls and chats with an agent.",
        lifespan=lifespan,
    )
    app.state.front = front
    tell_problems(app, [route for router in (*_GUARDED, *_OPEN) for route in router.routes])
    if front.settings.key is None:
        app.add_middleware(LoopbackOnly)
    refused = refusals(HTTPStatus.UNAUTHORIZED, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE)
    for router in _GUARDED:
        app.include_router(router, dependencies=[Depends(require_key)], responses=refused)
    for router in _OPEN:
        app.include_router(router)
    serve_page(app)
    describe(app, wants_key=front.settings.key is not None)
    return app
