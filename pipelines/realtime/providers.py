"""Which speech-to-speech providers there are, by name, and how one is chosen by a configuration and the environment.

Above: a host makes an adapter once, and holds any number of calls with it. Below: one package per provider, imported
when it is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from ssl import SSLContext

from pipelines.realtime.base import RealtimeAdapter, RealtimeError
from pipelines.realtime.gemini import options as gemini
from pipelines.realtime.openai.options import DEFAULT_MODEL, OpenAIOptions, SemanticVad, ServerVad

__all__ = ["OURS", "S2S_PROVIDERS", "S2SConfig", "S2SProvider", "completed", "create_s2s_adapter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class S2SConfig:
    """Which speech-to-speech model, and how it is to be used.

    What is ``None`` is as the environment's ``S2S_…`` variables say, and else as the provider has it.
    """

    provider: str | None = None
    """A name of :data:`S2S_PROVIDERS`; ``None``: the first one whose key is in the environment."""
    model: str | None = None
    voice: str | None = None
    """For :attr:`~pipelines.realtime.base.SessionSetup.voice`: adapters have none of their own."""
    api_key: str | None = field(default=None, repr=False)
    turn_detection: str | None = None
    """OpenAI's ``semantic_vad`` or ``server_vad``, as it has them; ``openai`` goes before it. ``ours``: as the provider
    has it, for calls say themselves that turn detection is ours."""
    api_version: str | None = None
    """Of Gemini's interface."""
    openai: OpenAIOptions | None = None
    """All that can be chosen at OpenAI."""
    gemini: gemini.GeminiOptions | None = None
    """All that can be chosen at Gemini."""
    ssl: SSLContext | None = field(default=None, repr=False)
    """How Gemini is trusted, where the machine's certificates will not do."""

    @property
    def label(self) -> str:
        """What it is called in messages and reports."""
        return ":".join(part for part in (self.provider or "s2s", self.model) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class S2SProvider:
    """Somebody who serves speech-to-speech models."""

    key_variable: str
    """Variable that holds the key."""
    url_variable: str
    """Variable that may name another address than theirs."""
    make: Callable[[S2SConfig, str, str | None], RealtimeAdapter]
    """Makes the adapter, of a configuration, a key and an address."""


def create_s2s_adapter(config: S2SConfig | None = None, environ: Mapping[str, str] | None = None) -> RealtimeAdapter:
    """Make the adapter that a configuration names. Nothing is connected.

    Args:
        config: what is wanted; it goes before the environment.
        environ: where ``S2S_…``, keys and addresses are looked up; usually the process's environment.

    Raises:
        RealtimeError: there is no such provider, none is named and no key is there, the key or the provider's package
            is missing, or a variable means nothing. Names the variable, and is not worth another try.
    """
    variables = environ or {}
    wanted = completed(config or S2SConfig(), variables)
    name = wanted.provider or _with_key(variables)
    if name in ELSEWHERE:
        raise RealtimeError(f"S2S_PROVIDER is {name!r}: {ELSEWHERE[name]}", retry=False)
    if (provider := S2S_PROVIDERS.get(name)) is None:
        known = " and ".join(S2S_PROVIDERS)
        raise RealtimeError(f"S2S_PROVIDER is {name!r}, and the providers are {known}", retry=False)
    if not (key := wanted.api_key or variables.get(provider.key_variable, "")):
        raise RealtimeError(f"{name!r} needs a key: set {provider.key_variable}", retry=False)
    return provider.make(wanted, key, variables.get(provider.url_variable) or None)


def completed(config: S2SConfig, environ: Mapping[str, str]) -> S2SConfig:
    """Fill in from the environment what a configuration leaves open; a key stays where it is."""
    return replace(
        config,
        provider=config.provider or environ.get("S2S_PROVIDER") or None,
        model=config.model or environ.get("S2S_MODEL") or None,
        voice=config.voice or environ.get("S2S_VOICE") or None,
        turn_detection=config.turn_detection or environ.get("S2S_TURN_DETECTION") or None,
        api_version=config.api_version or environ.get("S2S_API_VERSION") or None,
    )


def _with_key(variables: Mapping[str, str]) -> str:
    found = next((name for name, each in S2S_PROVIDERS.items() if variables.get(each.key_variable)), None)
    if found is None:
        keys = " or ".join(provider.key_variable for provider in S2S_PROVIDERS.values())
        raise RealtimeError(
            f"no speech-to-speech provider is named: set S2S_PROVIDER to {' or '.join(S2S_PROVIDERS)}, or only {keys}",
            retry=False,
        )
    return found


def _openai(config: S2SConfig, key: str, url: str | None) -> RealtimeAdapter:
    from pipelines.realtime.openai.adapter import OpenAIRealtime

    options = config.openai
    if options is None and config.turn_detection not in (None, OURS):
        detection = _DETECTIONS.get(config.turn_detection or "")
        if detection is None:
            known = ", ".join([*_DETECTIONS, OURS])
            raise RealtimeError(f"S2S_TURN_DETECTION is {config.turn_detection!r}, and can be {known}", retry=False)
        options = OpenAIOptions(turn_detection=detection())
    return OpenAIRealtime(config.model or DEFAULT_MODEL, api_key=key, base_url=url, options=options)


OURS = "ours"
"""Means our own turn detection, where one of a provider's could be named."""


def _gemini(config: S2SConfig, key: str, url: str | None) -> RealtimeAdapter:
    from pipelines.realtime.gemini.adapter import GeminiLive

    return GeminiLive(
        config.model or gemini.DEFAULT_MODEL,
        api_key=key,
        base_url=url,
        api_version=config.api_version,
        options=config.gemini,
        ssl=config.ssl,
    )


_DETECTIONS: Mapping[str, Callable[[], SemanticVad | ServerVad]] = {
    "semantic_vad": SemanticVad,
    "server_vad": ServerVad,
}

S2S_PROVIDERS: Mapping[str, S2SProvider] = {
    "openai": S2SProvider(key_variable="OPENAI_API_KEY", url_variable="OPENAI_BASE_URL", make=_openai),
    "gemini": S2SProvider(key_variable="GEMINI_API_KEY", url_variable="GEMINI_BASE_URL", make=_gemini),
}
"""In the order in which they are looked for."""

ELSEWHERE: Mapping[str, str] = {
    "openai-webrtc": "a browser's own connection is made with POST /api/realtime/secrets; for calls use 'openai'"
}
"""Names that others know, and what is meant by them here."""
