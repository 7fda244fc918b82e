"""Speech: which of the pipelines a call is held on, and what it is made of.

Above: ``house``, ``turn`` and ``live``. Below: ``pipelines``.
"""

from __future__ import annotations

import os

from pipelines.realtime.base import RealtimeAdapter, RealtimeError
from pipelines.realtime.providers import S2SConfig, create_s2s_adapter
from voice_server.errors import UsageError
from voice_server.settings import Settings

__all__ = ["configured_adapter"]


def configured_adapter(settings: Settings) -> RealtimeAdapter:
    """Make the adapter of the provider that the environment names. Nothing is connected.

    Raises:
        UsageError: there is none, or it cannot be had.
    """
    detection = settings.s2s_turn_detection
    config = S2SConfig(
        provider=settings.s2s_provider,
        model=settings.s2s_model,
        voice=settings.s2s_voice,
        turn_detection=None if detection == "ours" else detection,
        api_version=settings.s2s_api_version,
    )
    try:
        return create_s2s_adapter(config, os.environ)
    except RealtimeError as error:
        raise UsageError(str(error)) from error
