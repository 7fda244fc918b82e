"""Which live models there are for a key: they differ between the versions of the API."""

from __future__ import annotations

import asyncio
import ssl as tls
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.realtime.base import RealtimeError
from pipelines.realtime.gemini.client import asking
from pipelines.realtime.gemini.options import API_VERSIONS

__all__ = ["LiveModel", "LiveModels", "list_live_models"]

PAGE = 200
"""Models in one answer."""

MODELS_LIMIT = 2_000
"""How many models are looked at; there are a few dozen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveModel:
    """A model of the Live API."""

    name: str
    """Without ``models/``."""
    title: str
    """For people; perhaps empty."""
    api_versions: tuple[str, ...]
    """Where it is; not empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveModels:
    """What there is, as far as could be told."""

    models: tuple[LiveModel, ...]
    """By name."""
    failures: Mapping[str, str]
    """Why a version of the API could not be asked, by version."""


async def list_live_models(
    api_key: str, *, base_url: str | None = None, ssl: tls.SSLContext | None = None
) -> LiveModels:
    """Ask which live models a key may use.

    Args:
        api_key: the key.
        base_url: where the API is; Google's own by default.
        ssl: how the connection is trusted, where the machine's certificates will not do.

    Raises:
        RealtimeError: no version of the API could be asked.
    """
    asked = [_list(version, api_key, base_url, ssl) for version in API_VERSIONS]
    answers = dict(zip(API_VERSIONS, await asyncio.gather(*asked, return_exceptions=True), strict=True))
    titles: dict[str, str] = {}
    versions: dict[str, list[str]] = {}
    failures: dict[str, RealtimeError] = {}
    for version, answer in answers.items():
        if isinstance(answer, RealtimeError):
            failures[version] = answer
        elif isinstance(answer, BaseException):
            raise answer
        else:
            for name, title in answer.items():
                titles.setdefault(name, title)
                versions.setdefault(name, []).append(version)
    if len(failures) == len(API_VERSIONS):
        raise failures[API_VERSIONS[0]]
    models = tuple(
        LiveModel(name=name, title=titles[name], api_versions=tuple(versions[name])) for name in sorted(titles)
    )
    return LiveModels(models=models, failures={version: str(failure) for version, failure in failures.items()})


async def _list(version: str, api_key: str, base_url: str | None, ssl: tls.SSLContext | None) -> dict[str, str]:
    found = {}
    async with asking("models", api_key, base_url=base_url, api_version=version, ssl=ssl) as client:
        seen = 0
        async for model in await client.models.list(config={"page_size": PAGE}):
            if model.name and "bidiGenerateContent" in (model.supported_actions or ()):
                found[model.name.removeprefix("models/")] = model.display_name or ""
            seen += 1
            if seen >= MODELS_LIMIT:
                break
    return found
