"""The description of all routes, OpenAPI: FastAPI's, with what it cannot know put right.

Above: ``app`` makes it so. Below: FastAPI.
"""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

__all__ = ["describe"]

_PROBLEM = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
"""Also where the answer itself is no JSON, as a stream is not."""

_ABOUT = """\
Calls come in over a WebSocket, `/api/voice`, which OpenAPI cannot describe: the README says how to talk to it, and
`voice-server schema` what is said. Where there is a LiveKit server they come in its rooms, too.
"""


def describe(app: FastAPI, *, wants_key: bool) -> None:
    """Let ``/openapi.json`` tell the truth.

    Args:
        app: with all its routes.
        wants_key: whether the server has a key.
    """

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = get_openapi(
                title=app.title,
                version=app.version,
                summary=app.summary,
                description=_ABOUT,
                routes=app.routes,
                separate_input_output_schemas=app.separate_input_output_schemas,
            )
            for operation in _operations(described):
                _correct(operation, wants_key=wants_key)
            if not wants_key:
                described["components"].pop("securitySchemes", None)
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _operations(described: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in described["paths"].values():
        yield from path.values()


def _correct(operation: dict[str, Any], *, wants_key: bool) -> None:
    if not wants_key and operation.pop("security", None):
        operation["responses"].pop("401")
        operation["responses"]["403"] = {"description": HTTPStatus.FORBIDDEN.phrase}
    if "requestBody" in operation:
        for status in (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE):
            operation["responses"].setdefault(str(status.value), {"description": status.phrase})
    for status, response in operation["responses"].items():
        if status >= "400":
            response["content"] = _PROBLEM
