"""The application: routes, who may use them, and what lives behind them from start to end.

Above: ``serve`` runs it on uvicorn; a host of yours may mount it. Below: ``routes``, and the ``Front`` that opens the
service.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version

from fastapi import Depends, FastAPI

from voice_server.guard import LoopbackOnly, require_key
from voice_server.routes import calls, health, voice
from voice_server.routes.page import serve_page
from voice_server.routes.problem import refusals, tell_problems
from voice_server.service import Front, Readiness
from voice_server.settings import Settings

__all__ = ["create_app"]

_GUARDED = (calls.router,)
"""Routes that want the key."""

_OPEN = (health.router, voice.router)
"""Routes that ask for no key, or ask for it themselves: a browser's socket cannot send headers."""


def create_app(
    settings: Settings, *, front: Front | None = None, on_failure: Callable[[], None] = lambda: None
) -> FastAPI:
    """Make the application. Engines are loaded while it already answers: `/ready` says when they are there.

    Args:
        settings: what the environment said.
        front: opens the service; by default with the engines of the settings.
        on_failure: called when it is certain that the service will never be ready; ``front.reason`` says why.

    Returns:
        The application; ``app.state.front`` is its :class:`Front`.
    """
    front = front or Front(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async def open_service() -> None:
            await front.open(group)
            if front.readiness is Readiness.FAILED:
                on_failure()

        async with asyncio.TaskGroup() as group:
            opening = group.create_task(open_service(), name="open")
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
    tell_problems(app)
    if settings.key is None:
        app.add_middleware(LoopbackOnly)
    refused = refusals(HTTPStatus.UNAUTHORIZED, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE)
    for router in _GUARDED:
        app.include_router(router, dependencies=[Depends(require_key)], responses=refused)
    for router in _OPEN:
        app.include_router(router)
    serve_page(app)
    return app
