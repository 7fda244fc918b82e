"""A request's body, which may only be so large: whoever sends more is refused before it is read.

Above: routers take ``bounded(…)`` as their route class. Below: FastAPI reads the body.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive

from voice_server.routes.problem import Refused

__all__ = ["bounded"]


def bounded(most: int) -> type[APIRoute]:
    """Make a class of routes that refuse a larger body with 413.

    Args:
        most: bytes.
    """

    class BoundedRoute(APIRoute):
        """A route whose body is bounded."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def bounded_handle(request: Request) -> Response:
                body = _Counted(request.receive, most)
                try:
                    return await handle(Request(request.scope, body))
                except HTTPException:
                    if body.over:
                        message = f"the body is larger than {most} bytes; send less"
                        # What is still on its way is not read: the connection is of no more use.
                        close = {"Connection": "close"}
                        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too_large", message, close) from None
                    raise

            return bounded_handle

    return BoundedRoute


class _Counted:
    """Receives a body up to its limit."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._left = most

    @property
    def over(self) -> bool:
        return self._left < 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self.over:
            # FastAPI lets this one pass; any other exception it takes for a body that cannot be parsed.
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return message
