"""A problem: how every route refuses, as one body with a stable code and a sentence for a person.

Above: routes raise :class:`Refused` and name their ``refusals``; ``app`` has all of them told. Below: nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from agents.core.errors import StoreError

__all__ = ["Problem", "Refused", "refusals", "tell_problems"]

_log = logging.getLogger(__name__)


class Problem(BaseModel):
    """Why something was refused, or did not work."""

    code: str = Field(description="stable, for programs: `unauthorized`, `busy`, `not_ready`, `not_found` …")
    message: str = Field(description="one sentence for whoever it concerns: what was wrong, and what to do")
    details: dict[str, Any] | None = Field(default=None, description="what else a program may want to know of it")


class Refused(Exception):
    """A request cannot be granted.

    Args:
        status: of HTTP.
        code: stable, for programs.
        message: one sentence.
        headers: to send besides.
        details: what else a program may want to know, as JSON.
    """

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})
        self.details = None if details is None else dict(details)


def refusals(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """Describe for OpenAPI which refusals a route knows; all have the same body."""
    return {status.value: {"model": Problem, "description": status.phrase} for status in statuses}


def tell_problems(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Let every refusal and every failure be answered with a :class:`Problem`.

    Args:
        app: answers.
        routes: of the application, to say what a path can be asked for.
    """

    @app.exception_handler(Refused)
    async def _refused(_: Request, error: Refused) -> JSONResponse:
        return _answer(error.status, error.code, error.message, error.headers, error.details)

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return _answer(HTTPStatus.UNPROCESSABLE_ENTITY, "bad_request", f"{where}: {first['msg']}", {})

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        headers = dict(error.headers or {})
        methods = _methods(request, routes)
        if methods and request.method not in methods:  # the page, which has every path, may have been asked for it
            status = HTTPStatus.METHOD_NOT_ALLOWED
            headers["Allow"] = ", ".join(sorted(methods))
        return _answer(status, status.name.lower(), status.phrase, headers)

    @app.exception_handler(StoreError)
    async def _store(_: Request, error: StoreError) -> JSONResponse:
        _log.error("a request failed: %s", error)
        return _answer(HTTPStatus.SERVICE_UNAVAILABLE, "store", f"conversations cannot be had now: {error}", {})

    @app.exception_handler(Exception)
    async def _failed(_: Request, error: Exception) -> JSONResponse:
        return _answer(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "internal",
            f"the server failed at it ({type(error).__name__}); its log says where",
            {},
        )


def _methods(request: Request, routes: Sequence[BaseRoute]) -> set[str]:
    """Find the methods of all routes a path has: each route knows only its own."""
    fitting = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return {method for route in fitting if isinstance(route, APIRoute) for method in route.methods or ()}


def _answer(
    status: HTTPStatus, code: str, message: str, headers: Mapping[str, str], details: dict[str, Any] | None = None
) -> JSONResponse:
    problem = Problem(code=code, message=message, details=details).model_dump(exclude_none=True)
    return JSONResponse(problem, status_code=status, headers=dict(headers))
