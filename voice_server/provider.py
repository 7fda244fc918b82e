"""The speech-to-speech provider of a server or a call, if there is one.

Above: ``service`` and ``turn`` make it once. Below: ``pipelines.realtime.providers``.
"""

from __future__ import annotations

import os

from agents.core.model import Model
from agents.models.driven import DrivenModel
from pipelines.realtime.base import RealtimeAdapter, RealtimeError
from pipelines.realtime.providers import S2SConfig, create_s2s_adapter
from voice_server.errors import UsageError
from voice_server.settings import PipelineKind, Settings

__all__ = ["adapter_for", "configured_adapter", "voice_for"]


def adapter_for(settings: Settings, model: Model) -> RealtimeAdapter | None:
    """Make the adapter for an agent: the one it brings, else the one that the environment names.

    Blocking: a provider's SDK takes a second to import.

    Args:
        settings: the environment's.
        model: the agent's.

    Returns:
        ``None`` where nobody wants one: then calls are held on the cascade.

    Raises:
        UsageError: one is wanted, and cannot be had.
    """
    driver = model.driver if isinstance(model, DrivenModel) else None
    if isinstance(driver, S2SConfig):
        return _made(driver)
    if settings.pipeline is PipelineKind.REALTIME or settings.s2s_provider is not None:
        return configured_adapter(settings)
    return None


def voice_for(settings: Settings, model: Model) -> str | None:
    """Say by which of the provider's voices an agent speaks: the one it brings, else the one the environment names."""
    driver = model.driver if isinstance(model, DrivenModel) else None
    return (driver.voice if isinstance(driver, S2SConfig) else None) or settings.s2s_voice


def configured_adapter(settings: Settings) -> RealtimeAdapter:
    """Make the adapter that the environment names. Nothing is connected.

    Raises:
        UsageError: there is none, or it cannot be had.
    """
    config = S2SConfig(
        provider=settings.s2s_provider,
        model=settings.s2s_model,
        voice=settings.s2s_voice,
        turn_detection=settings.s2s_turn_detection,
        api_version=settings.s2s_api_version,
    )
    return _made(config)


def _made(config: S2SConfig) -> RealtimeAdapter:
    try:
        return create_s2s_adapter(config, os.environ)
    except RealtimeError as error:
        raise UsageError(str(error)) from error
