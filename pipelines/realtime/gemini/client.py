"""The SDK's client, with the limits of our connections; and its HTTP side, for what is asked once.

Above: ``adapter``, ``device_token`` and ``catalog``. Below: the SDK, imported where it is used.
"""

from __future__ import annotations

import asyncio
import logging
import ssl as tls
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pipelines.realtime.base import RealtimeError
from pipelines.realtime.gemini.refusal import refused_by_http
from pipelines.realtime.gemini.wire import in_words

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.client import AsyncClient as AsyncGemini
    from httpx2 import AsyncClient

__all__ = ["CLOSE_S", "CONNECT_S", "asking", "make_client", "warm_types"]

CONNECT_S = 5.0
"""How long connecting may take until the setup is accepted, in seconds: long enough for a slow network, short enough
to apologise in time."""

CLOSE_S = 1.5
"""How long the provider may take to say goodbye, in seconds."""

ASK_S = 5.0
"""How long a question over HTTP may take, in seconds: somebody waits for it."""

ALIVE_S = 20.0
"""How often the connection is tried, in seconds."""

ANSWERED_S = 40.0
"""How long that may go unanswered, in seconds: Gemini was seen to take 8 to 30."""

WRITE_BYTES = 256 * 1024
"""What the connection buffers before a message waits: six seconds of the caller's voice."""

MESSAGE_BYTES = 16 * 1024 * 1024
"""The longest message that is taken."""

_BUILT = (
    "LiveConnectConfig", "LiveConnectParameters", "LiveClientContent", "LiveClientToolResponse",
    "LiveSendRealtimeInputParameters", "ActivityStart", "ActivityEnd", "FunctionResponse", "Content", "Part", "Blob",
    "LiveServerMessage", "LiveServerSetupComplete", "LiveServerContent", "Transcription", "LiveServerToolCall",
    "FunctionCall", "LiveServerToolCallCancellation", "LiveServerGoAway", "LiveServerSessionResumptionUpdate",
    "UsageMetadata", "ModalityTokenCount",
)  # fmt: skip
"""Types of the SDK's that a call uses."""

_logger = logging.getLogger(f"{__name__}.connection")
_logger.setLevel(logging.INFO)  # Below that stand headers with the key, and all that is said.


def make_client(
    api_key: str,
    *,
    base_url: str | None,
    api_version: str,
    ssl: tls.SSLContext | None,
    http: AsyncClient | None = None,
) -> Client:
    """Make the SDK's client. It takes half a second of work, and more the first time.

    Args:
        api_key: the key.
        base_url: where the API is; Google's own by default.
        api_version: which version of it.
        ssl: how connections are trusted, where the machine's certificates will not do.
        http: what it asks over HTTP with.

    Raises:
        RealtimeError: the package is missing, or the key is.
    """
    try:
        from google import genai
        from google.genai import types
    except ImportError as exc:
        words = "the package 'google-genai' is missing; install it: pip install google-genai"
        raise RealtimeError(words, retry=False) from exc
    how: dict[str, Any] = {
        "max_size": MESSAGE_BYTES,
        "compression": None,
        "write_limit": WRITE_BYTES,
        "open_timeout": CONNECT_S,
        "close_timeout": CLOSE_S,
        "ping_interval": ALIVE_S,
        "ping_timeout": ANSWERED_S,
        "logger": _logger,
        **({} if ssl is None else {"ssl": ssl}),
    }
    # The SDK hands on to `websockets.connect` what means something there.
    options = types.HttpOptions(
        base_url=None if base_url is None else base_url.rstrip("/"),
        api_version=api_version,
        async_client_args=how,
        client_args=None if ssl is None else {"verify": ssl},
        httpx_async_client=http,
        timeout=round(ASK_S * 1000),
    )
    try:
        return genai.Client(api_key=api_key, vertexai=False, http_options=options)
    except ValueError as exc:
        raise RealtimeError(f"gemini cannot be used: {in_words(str(exc))}", retry=False) from exc


def warm_types() -> None:
    """Have pydantic build the SDK's types that a call uses: else it does when they are used first, in mid-call."""
    from google.genai import types

    for name in _BUILT:
        getattr(types, name).model_rebuild()


@asynccontextmanager
async def asking(
    what: str, api_key: str, *, base_url: str | None, api_version: str, ssl: tls.SSLContext | None
) -> AsyncIterator[AsyncGemini]:
    """Make a client for one question over HTTP, and close it.

    Args:
        what: what is asked for, for errors.
        api_key: the key.
        base_url: where the API is.
        api_version: which version of it.
        ssl: how the connection is trusted.

    Raises:
        RealtimeError: Gemini cannot be reached, or refuses; in its own words.
    """
    from google.genai.errors import APIError
    from httpx2 import AsyncClient, HTTPError

    def make() -> tuple[Client, AsyncClient]:
        http = AsyncClient(verify=True if ssl is None else ssl)
        return make_client(api_key, base_url=base_url, api_version=api_version, ssl=ssl, http=http), http

    client, http = await asyncio.to_thread(make)
    try:
        async with asyncio.timeout(ASK_S), http:
            yield client.aio
    except APIError as exc:
        refusal = refused_by_http(exc.code or 0, exc.message)
        raise RealtimeError(f"gemini gives no {what}: {refusal.reason}", retry=refusal.retry) from None
    except TimeoutError:
        raise RealtimeError(f"gemini gave no {what} within {ASK_S:g} s") from None
    except (OSError, HTTPError) as exc:
        raise RealtimeError(f"gemini cannot be reached for {what}: {in_words(str(exc))}") from exc
    finally:
        client.close()
