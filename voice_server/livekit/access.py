"""Access: which LiveKit server there is, and the key it knows us by.

Above: whoever makes tokens, joins rooms or reads webhooks. Below: the settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from voice_server.errors import UsageError
from voice_server.settings import Settings, variable

__all__ = ["Access", "NotConfiguredError"]

_NEEDED = ("livekit_url", "livekit_api_key", "livekit_api_secret")


class NotConfiguredError(UsageError):
    """There is no LiveKit server; the sentence says what to set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What is needed to use a LiveKit server."""

    url: str
    """For clients: ``ws://…`` or ``wss://…``."""
    api_key: str
    api_secret: str = field(repr=False)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Take it from the settings.

        Raises:
            NotConfiguredError: something of it is not set.
        """
        url, key, secret = settings.livekit_url, settings.livekit_api_key, settings.livekit_api_secret
        if url is None or key is None or secret is None:
            missing = [variable(name) for name in _NEEDED if getattr(settings, name) is None]
            listed = " and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))
            raise NotConfiguredError(
                f"rooms need a LiveKit server: {listed} {'is' if len(missing) == 1 else 'are'} not set; "
                "`make livekit`, LiveKit Cloud or your own server says to what"
            )
        return cls(url=_for_clients(url), api_key=key, api_secret=secret.get_secret_value())


def _for_clients(url: str) -> str:
    return "ws" + url.removeprefix("http") if url.startswith("http") else url
