"""The guard: who may talk to the server. With a key, whoever has it; without one, whoever is on this machine.

Above: ``app`` puts it before the routes. Below: nothing.
"""

from __future__ import annotations

import ipaddress
import secrets
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import SecretStr
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from voice_server.routes.problem import Problem, Refused

__all__ = ["LoopbackOnly", "fits", "is_loopback", "offered_key", "require_key"]

_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="key",
    description="The server's `VOICE_KEY`, if it has one; else nothing is asked for.",
)


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def fits(key: SecretStr | None, offered: str | None) -> bool:
    """Whether what somebody offers opens the server; takes as long for a wrong key as for the right one.

    Args:
        key: the server's; ``None``: everybody may come in.
        offered: ``None``: nothing.
    """
    if key is None:
        return True
    return secrets.compare_digest((offered or "").encode(), key.get_secret_value().encode())


def offered_key(connection: HTTPConnection) -> str | None:
    """What a connection's `Authorization` header offers."""
    scheme, _, credentials = connection.headers.get("authorization", "").partition(" ")
    return credentials.strip() if scheme.lower() == "bearer" else None


async def require_key(
    connection: HTTPConnection, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None
) -> None:
    """Refuse a request without the server's key.

    Raises:
        Refused: 401.
    """
    key: SecretStr | None = connection.app.state.front.settings.key
    if not fits(key, credentials.credentials if credentials else None):
        raise Refused(
            HTTPStatus.UNAUTHORIZED,
            "unauthorized",
            "the key is missing or wrong; send `Authorization: Bearer KEY` with the server's VOICE_KEY",
            headers={"WWW-Authenticate": "Bearer"},
        )


class LoopbackOnly:
    """Lets in only what is addressed to this machine and, if a page asks, a page of this machine.

    A server without a key listens on loopback, yet any page in a browser here can reach that: by asking a name that
    was made to mean 127.0.0.1, or simply by opening a socket, which browsers allow across origins.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the application answer."""
        reason = _foreign(Headers(scope=scope)) if scope["type"] in ("http", "websocket") else None
        if reason is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})  # before it was accepted: the answer is 403
        else:
            problem = Problem(code="forbidden", message=reason)
            await JSONResponse(problem.model_dump(), status_code=HTTPStatus.FORBIDDEN)(scope, receive, send)


def _foreign(headers: Headers) -> str | None:
    """Say what about a request is not of this machine."""
    mend = "a server without a key (VOICE_KEY) talks to this machine only"
    hosts = headers.getlist("host") or [""]
    if not all(is_loopback(_hostname(f"//{host}")) for host in hosts):
        return f"the request is addressed to another machine: {mend}"
    if not all(is_loopback(_hostname(origin)) for origin in headers.getlist("origin")):
        return f"the request comes from a page of another machine: {mend}"
    return None


def _hostname(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
