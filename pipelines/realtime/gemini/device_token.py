"""A token: with it a device opens a session of ours by itself, and never sees our key."""

from __future__ import annotations

import ssl as tls
import warnings
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pipelines.realtime.base import RealtimeError, SessionSetup
from pipelines.realtime.gemini.client import asking
from pipelines.realtime.gemini.families import family_of
from pipelines.realtime.gemini.options import GeminiOptions
from pipelines.realtime.gemini.setup import setup_message

__all__ = ["LASTS_S", "TOKEN_VERSION", "DeviceToken", "mint_token"]

TOKEN_VERSION = "v1alpha"
"""The only version of the API that has tokens."""

LASTS_S = 1_800
"""How long a session that was opened with a token may last, in seconds: Gemini's own default."""

LONGEST_S = 20 * 3_600
"""No token lasts as long, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceToken:
    """What a device needs."""

    value: str = field(repr=False)
    """The token, in place of a key."""
    expires_at: int
    """Seconds since 1970: until then a session may be begun with it; resumed it may be later, too."""
    ends_at: int
    """Seconds since 1970: a session goes on until then."""
    model: str
    """To be named when connecting."""
    api_version: str = TOKEN_VERSION
    """Of the API, to be named when connecting."""


async def mint_token(
    setup: SessionSetup,
    options: GeminiOptions,
    *,
    now: datetime,
    model: str,
    api_key: str,
    base_url: str | None = None,
    ssl: tls.SSLContext | None = None,
    opens_s: int,
    lasts_s: int = LASTS_S,
) -> DeviceToken:
    """Have a token made for one session of a device's.

    What the setup says is locked: instructions, tools, voice; the device chooses nothing but to resume. Tools are still
    ours to run, and to answer over the device's connection.

    Args:
        setup: the session; its past is not in it.
        options: how it is set up beside that.
        now: the moment.
        model: its name.
        api_key: the key.
        base_url: where the API is; Google's own by default.
        ssl: how the connection is trusted, where the machine's certificates will not do.
        opens_s: within how many seconds the session has to be begun.
        lasts_s: how many seconds it may last.

    Raises:
        ValueError: a duration is out of range.
        RealtimeError: Gemini cannot be reached, or refuses.
    """
    from google.genai import types

    if not 0 < opens_s <= lasts_s < LONGEST_S:
        raise ValueError(
            f"a token opens sessions for as long as it lasts at most, and less than {LONGEST_S} s: "
            f"got {opens_s} and {lasts_s}"
        )
    message = setup_message(setup, options, family_of(model), handle=None)
    # What is not named stays the device's: it may resume after ten minutes.
    del message["sessionResumption"]
    opens_until, ends_at = now + timedelta(seconds=opens_s), now + timedelta(seconds=lasts_s)
    config = types.CreateAuthTokenConfig(
        uses=1,
        expire_time=ends_at,
        new_session_expire_time=opens_until,
        live_connect_constraints=types.LiveConnectConstraints(
            model=model, config=types.LiveConnectConfig.model_validate(message)
        ),
        lock_additional_fields=[],
    )
    async with asking("token", api_key, base_url=base_url, api_version=TOKEN_VERSION, ssl=ssl) as client:
        with warnings.catch_warnings():
            # "Experimental", it says when it is called first; there is no other way to a token.
            warnings.simplefilter("ignore")
            making = client.auth_tokens.create(config=config)
        made = await making
    if not made.name:
        raise RealtimeError("gemini made a token without a name")
    return DeviceToken(
        value=made.name, expires_at=int(opens_until.timestamp()), ends_at=int(ends_at.timestamp()), model=model
    )
