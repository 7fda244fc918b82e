"""Which speech-to-speech providers there are, by name: a table, read on demand.

Above: a host makes an adapter once and holds any number of calls with it. Below: one package per provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from pipelines.realtime.base import RealtimeAdapter, RealtimeError

__all__ = ["S2S_PROVIDERS", "S2SConfig", "S2SProvider", "create_s2s_adapter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class S2SConfig:
    """Which speech-to-speech model, and how it is to be used.

    What is ``None`` is as the environment's ``S2S_…`` variables say, and else as the provider has it.
    """

    provider: str | None = None
    """A name of :data:`S2S_PROVIDERS`; ``None``: the first one whose key is in the environment."""
    model: str | None = None
    voice: str | None = None
    turn_detection: str | None = None
    """OpenAI's ``semantic_vad`` or ``server_vad``."""
    api_version: str | None = None
    """Gemini's."""
    api_key: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    """What else the provider's adapter takes, by the names of its arguments."""

    @property
    def label(self) -> str:
        """What it is called in messages and reports, as ``provider:model``."""
        provider = self.provider or "s2s"
        known = S2S_PROVIDERS.get(provider)
        model = self.model or ("" if known is None else known.model)
        return f"{provider}:{model}" if model else provider


@dataclass(frozen=True, slots=True, kw_only=True)
class S2SProvider:
    """Somebody who serves speech-to-speech models."""

    target: str
    """``module:Class`` of the adapter."""
    key_variable: str
    """Variable that holds the key."""
    url_variable: str
    """Variable that may name another address than theirs."""
    model: str
    """Of theirs, when none is named."""
    takes: frozenset[str] = frozenset()
    """Which of the optional fields of a configuration mean something there."""


S2S_PROVIDERS: Mapping[str, S2SProvider] = {
    "openai": S2SProvider(
        target="pipelines.realtime.openai:OpenAIRealtime",
        key_variable="OPENAI_API_KEY",
        url_variable="OPENAI_BASE_URL",
        model="gpt-realtime",
        takes=frozenset({"turn_detection"}),
    ),
    "gemini": S2SProvider(
        target="pipelines.realtime.gemini:GeminiLive",
        key_variable="GEMINI_API_KEY",
        url_variable="GEMINI_BASE_URL",
        model="gemini-live-2.5-flash-preview",
        takes=frozenset({"api_version"}),
    ),
}
"""In the order in which they are looked for."""

ELSEWHERE: Mapping[str, str] = {
    "openai-webrtc": "a browser's own connection is made with POST /api/realtime/secrets; for calls use 'openai'"
}
"""Names that others know, and what is meant by them here."""

_VARIABLES = {
    "provider": "S2S_PROVIDER",
    "model": "S2S_MODEL",
    "voice": "S2S_VOICE",
    "turn_detection": "S2S_TURN_DETECTION",
    "api_version": "S2S_API_VERSION",
}


def create_s2s_adapter(config: S2SConfig | None = None, environ: Mapping[str, str] | None = None) -> RealtimeAdapter:
    """Make the adapter that a configuration names. Nothing is connected.

    Args:
        config: what is wanted; it goes before the environment.
        environ: where ``S2S_…``, keys and addresses are looked up; usually the process's environment.

    Raises:
        RealtimeError: there is no such provider, none is named and no key is there, the key is missing, or the
            provider's package is. Names the variable, and is not worth another try.
    """
    variables = environ or {}
    wanted = _completed(config or S2SConfig(), variables)
    name = wanted.provider or _with_key(variables)
    if name in ELSEWHERE:
        raise RealtimeError(f"S2S_PROVIDER is {name!r}: {ELSEWHERE[name]}", retry=False)
    provider = S2S_PROVIDERS.get(name)
    if provider is None:
        known = " and ".join(S2S_PROVIDERS)
        raise RealtimeError(f"S2S_PROVIDER is {name!r}, and the providers are {known}", retry=False)
    key = wanted.api_key or variables.get(provider.key_variable, "")
    if not key and "token" not in wanted.options:
        raise RealtimeError(f"{name!r} needs a key: set {provider.key_variable}", retry=False)
    module, _, factory = provider.target.partition(":")
    adapter = getattr(import_module(module), factory)
    given = {
        name: value
        for name, value in (("voice", wanted.voice), *((each, getattr(wanted, each)) for each in provider.takes))
        if value is not None
    }
    made: RealtimeAdapter = adapter(
        wanted.model or provider.model,
        api_key=key,
        base_url=variables.get(provider.url_variable) or None,
        **{**given, **wanted.options},
    )
    return made


def _completed(config: S2SConfig, variables: Mapping[str, str]) -> S2SConfig:
    """Fill in from the environment what a configuration leaves open."""
    missing: dict[str, Any] = {
        name: variables[variable]
        for name, variable in _VARIABLES.items()
        if getattr(config, name) is None and variables.get(variable)
    }
    return replace(config, **missing)


def _with_key(variables: Mapping[str, str]) -> str:
    found = next((name for name, each in S2S_PROVIDERS.items() if variables.get(each.key_variable)), None)
    if found is None:
        keys = " or ".join(provider.key_variable for provider in S2S_PROVIDERS.values())
        raise RealtimeError(
            f"no speech-to-speech provider is named: set S2S_PROVIDER to {' or '.join(S2S_PROVIDERS)}, or only {keys}",
            retry=False,
        )
    return found
