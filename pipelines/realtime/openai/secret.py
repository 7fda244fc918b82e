"""A client secret: with it a browser opens a session of ours by itself, over WebRTC, and never sees our key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipelines.realtime.base import RealtimeError, SessionSetup
from pipelines.realtime.openai import wire
from pipelines.realtime.openai.options import OpenAIOptions
from pipelines.realtime.openai.refusal import refused_by_http

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["ClientSecret", "mint"]

MINT_S = 5.0
"""How long minting may take, in seconds: somebody waits for the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSecret:
    """What a browser needs."""

    value: str = field(repr=False)
    """The secret, in place of a key."""
    expires_at: int
    """Seconds since 1970: until then sessions may be opened with it."""
    model: str
    """To be named when connecting."""


async def mint(
    client: AsyncOpenAI, model: str, setup: SessionSetup, options: OpenAIOptions, *, expires_s: int
) -> ClientSecret:
    """Have a client secret made; see :meth:`OpenAIRealtime.mint_client_secret`."""
    from openai import APIConnectionError, APIStatusError, OpenAIError

    if not 10 <= expires_s <= 7_200:
        raise ValueError(f"a client secret may be used for 10 to 7200 s, got {expires_s}")
    # The SDK wants its own types; this is the wire's shape, and a strict service tests it.
    session: Any = {**wire.session(setup, options), "model": model}
    try:
        made = await client.realtime.client_secrets.create(
            session=session, expires_after={"anchor": "created_at", "seconds": expires_s}, timeout=MINT_S
        )
    except APIStatusError as exc:
        refusal = refused_by_http(exc.status_code, exc.response.content)
        raise RealtimeError(f"openai makes no client secret: {refusal.reason}", retry=refusal.retry) from None
    except APIConnectionError as exc:
        raise RealtimeError(f"openai cannot be reached for a client secret: {wire.in_words(str(exc))}") from exc
    except OpenAIError as exc:
        raise RealtimeError(f"openai makes no client secret: {wire.in_words(str(exc))}") from exc
    return ClientSecret(value=made.value, expires_at=made.expires_at, model=model)
