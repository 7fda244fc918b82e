"""Which models there are, by name: a table, read on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from agents.core.errors import ConfigurationError
from agents.core.model import Model

__all__ = ["PROVIDERS", "Provider", "create_model"]

_CHAT_COMPLETIONS = "agents.models.openai_compat:OpenAICompatible"
_MESSAGES = "agents.models.anthropic:AnthropicModel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Somebody who serves models."""

    target: str
    """``module:Class`` of the adapter, called with (model, provider, base_url, api_key) and the facts."""
    base_url: str
    base_url_variable: str | None = None
    """Variable that may name another address."""
    key_variable: str | None = None
    """Variable that holds the key; ``None`` when none is needed."""
    example: str
    """A model of theirs, for messages."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Where the service differs from others on its wire, as the adapter's arguments."""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        target=_CHAT_COMPLETIONS,
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        key_variable="OPENAI_API_KEY",
        example="gpt-4.1-mini",
    ),
    "anthropic": Provider(
        target=_MESSAGES,
        base_url="https://api.anthropic.com",
        base_url_variable="ANTHROPIC_BASE_URL",
        key_variable="ANTHROPIC_API_KEY",
        example="claude-haiku-5-5",
    ),
    "openrouter": Provider(
        target=_CHAT_COMPLETIONS,
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        example="meta-llama/llama-3.3-70b-instruct",
        facts={"thoughts": "reasoning_details"},
    ),
    "groq": Provider(
        target=_CHAT_COMPLETIONS,
        base_url="https://api.groq.com/openai/v1",
        key_variable="GROQ_API_KEY",
        example="llama-3.3-70b-versatile",
    ),
    "together": Provider(
        target=_CHAT_COMPLETIONS,
        base_url="https://api.together.ai/v1",
        key_variable="TOGETHER_API_KEY",
        example="openai/gpt-oss-20b",
    ),
    "deepseek": Provider(
        target=_CHAT_COMPLETIONS,
        base_url="https://api.deepseek.com",
        key_variable="DEEPSEEK_API_KEY",
        example="deepseek-v4-flash",
        facts={"thoughts": "reasoning_content"},
    ),
    "kimi": Provider(
        target=_CHAT_COMPLETIONS,
        base_url="https://api.moonshot.ai/v1",
        key_variable="MOONSHOT_API_KEY",
        example="kimi-k2.6",
        facts={"thoughts": "reasoning_content"},
    ),
    "gemini": Provider(
        target=_CHAT_COMPLETIONS,
        base_url="https://generativelanguage.googleapis.com/v1beta/openai/",
        key_variable="GEMINI_API_KEY",
        example="gemini-3.5-flash",
    ),
    "ollama": Provider(
        target=_CHAT_COMPLETIONS,
        base_url="http://localhost:11434/v1",
        base_url_variable="OLLAMA_BASE_URL",
        example="llama3.2",
        facts={"thoughts": "reasoning"},
    ),
    "lmstudio": Provider(
        target=_CHAT_COMPLETIONS,
        base_url="http://localhost:1234/v1",
        base_url_variable="LMSTUDIO_BASE_URL",
        example="qwen2.5-7b-instruct",
    ),
}


def create_model(spec: str, environ: Mapping[str, str]) -> Model:
    """Make a model by name.

    Args:
        spec: ``offline``, or ``provider:model`` as in ``openai:gpt-4.1-mini``.
        environ: where keys and addresses are looked up; usually the process's environment.

    Raises:
        ConfigurationError: the name is unknown, or the provider's key or package is missing. Names the fix.
    """
    if spec == "offline":
        from agents.offline.model import OfflineModel

        return OfflineModel()
    name, _, model = spec.partition(":")
    provider = PROVIDERS.get(name)
    if provider is None:
        known = ", ".join(["offline", *(f"{known}:MODEL" for known in PROVIDERS)])
        raise ConfigurationError(f"there is no model {spec!r}; the models are {known}")
    if not model:
        raise ConfigurationError(f"{spec!r} does not say which model; write for example '{name}:{provider.example}'")
    key = environ.get(provider.key_variable, "") if provider.key_variable else "none"
    if not key:
        raise ConfigurationError(f"{spec!r} needs a key; set {provider.key_variable}, or use the model 'offline'")
    override = environ.get(provider.base_url_variable, "") if provider.base_url_variable else ""
    module, _, factory = provider.target.partition(":")
    adapter = getattr(import_module(module), factory)
    made: Model = adapter(model, provider=name, base_url=override or provider.base_url, api_key=key, **provider.facts)
    return made
