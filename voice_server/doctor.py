"""The doctor: what is installed, configured and reachable, and the fix for what is not.

Above: ``cli``. Below: the engine table and the agent loader, tried as a call would use them. No secret is ever shown.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit

from voice_server.errors import UsageError
from voice_server.loading import load_factory
from voice_server.settings import MEMORY, PipelineKind, Settings
from voice_server.transcript import Ink

__all__ = ["Check", "Diagnosis", "Finding", "examine"]

_OLDEST_PYTHON = (3, 11)
_LIST_S = 10.0
"""Seconds to wait for a list of models; a healthy service takes one."""

_REACH_S = 3.0
"""Seconds to wait for a model's server to take a connection; a healthy one takes it within one."""


class Finding(StrEnum):
    """How a check went."""

    GOOD = "good"
    NOTE = "note"
    """Worth knowing; a recorded turn runs all the same."""
    BAD = "bad"
    """A recorded turn cannot run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    finding: Finding
    detail: str
    fix: str = ""
    """What to do, a clause; empty when there is nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Everything that was looked at."""

    checks: tuple[Check, ...]

    @property
    def fit(self) -> bool:
        """Whether a recorded turn can run."""
        return all(check.finding is not Finding.BAD for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Give ``{"v": 1, "fit": …, "checks": [{"name", "finding", "detail", "fix"}]}``."""
        return {"v": 1, "fit": self.fit, **asdict(self)}

    def render(self, ink: Ink) -> str:
        """Write it for a terminal."""
        signs = {Finding.GOOD: "✓", Finding.NOTE: "·", Finding.BAD: "✗"}
        lines = []
        for check in self.checks:
            lines.append(f"  {signs[check.finding]} {ink.bold(f'{check.name:<9}')} {check.detail}")
            if check.fix:
                lines.append(f"    {'':<9} → {check.fix}")
        verdict = "A recorded turn can run." if self.fit else "A recorded turn cannot run yet: see ✗."
        return "\n".join([*lines, "", verdict])


def examine(settings: Settings) -> Diagnosis:
    """Look at everything a recorded turn needs. Blocking, some seconds: the engines are really loaded.

    Args:
        settings: what would be used.
    """
    looks: tuple[Callable[[Settings], Check], ...] = (
        _python, _package, _vad, _stt, _tts, _agent, _model, _s2s, _database, _server, _livekit, _picture,
    )  # fmt: skip
    return Diagnosis(checks=tuple(look(settings) for look in looks))


def _python(_: Settings) -> Check:
    if sys.version_info < _OLDEST_PYTHON:
        return _bad("python", platform.python_version(), "use Python 3.11 or newer")
    return _good("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _package(_: Settings) -> Check:
    try:
        rival = metadata.version("openai-agents")
    except metadata.PackageNotFoundError:
        rival = None
    fix = "use a virtual environment without it: `pip uninstall openai-agents`"
    if importlib.util.find_spec("agents.core") is None or importlib.util.find_spec("agents.models") is None:
        return _bad("package", f"the import name 'agents' belongs to openai-agents {rival or ''}, not to us", fix)
    ours = f"glove-voice {metadata.version('glove-voice')}"
    if rival is not None:
        return _note("package", f"{ours}; openai-agents {rival} is installed too and claims the name 'agents'", fix)
    return _good("package", ours)


def _vad(settings: Settings) -> Check:
    return _engine("vad", settings.vad)


def _stt(settings: Settings) -> Check:
    if settings.pipeline is PipelineKind.REALTIME:
        return _good("stt", "not needed: the speech-to-speech model hears")
    return _engine("stt", settings.stt)


def _tts(settings: Settings) -> Check:
    check = _engine("tts", settings.tts)
    if settings.pipeline is PipelineKind.REALTIME and check.finding is Finding.BAD:
        missed = f"{check.detail}; only narrations and apologies need it"
        return replace(check, finding=Finding.NOTE, detail=missed)
    return check


def _engine(kind: str, name: str) -> Check:
    from pipelines.engines import EngineError, EngineKind, load_engine

    start = time.perf_counter()
    try:
        load_engine(EngineKind(kind), name)
    except EngineError as error:
        problem, _, fix = error.reason.partition("; ")
        return _bad(kind, f"{name}: {problem}", fix)
    return _good(kind, f"{name} loads in {time.perf_counter() - start:.1f} s")


def _agent(settings: Settings) -> Check:
    try:
        load_factory(settings.agent)
    except UsageError as error:
        problem, _, fix = str(error).removeprefix("agent ").rpartition("; ")
        return _bad("agent", problem, fix)
    return _good("agent", settings.agent)


def _model(settings: Settings) -> Check:
    from agents.core.errors import ConfigurationError
    from agents.models.providers import PROVIDERS, create_model

    try:
        create_model(settings.model, os.environ)
    except ConfigurationError as error:
        problem, _, fix = str(error).partition("; ")
        return _bad("model", problem, fix)
    provider = PROVIDERS.get(settings.model.partition(":")[0])
    if provider is None:
        return _good("model", f"{settings.model}: answers by rules; OPENAI_API_KEY or ANTHROPIC_API_KEY brings a model")
    variable = provider.base_url_variable or ""
    return _reach(settings.model, os.environ.get(variable) or provider.base_url, variable)


def _s2s(settings: Settings) -> Check:
    from voice_server.provider import configured_adapter

    wanted = settings.pipeline is PipelineKind.REALTIME
    if not wanted and settings.s2s_provider is None:
        return _good("s2s", "no speech-to-speech model is named; S2S_PROVIDER lets calls choose one")
    try:
        name = configured_adapter(settings).name
    except UsageError as error:
        problem, _, fix = str(error).partition(": ")
        return _bad("s2s", problem, fix) if wanted else _note("s2s", problem, fix)
    if name.startswith("gemini:"):
        return _live_models(name, wanted=wanted)
    return _good("s2s", f"{name}: its key is tried by the first call")


def _live_models(name: str, *, wanted: bool) -> Check:
    """Ask Gemini which live models the key may use."""
    from pipelines.realtime.base import RealtimeError
    from pipelines.realtime.gemini.catalog import list_live_models

    async def ask() -> list[str]:
        key, url = os.environ["GEMINI_API_KEY"], os.environ.get("GEMINI_BASE_URL") or None
        async with asyncio.timeout(_LIST_S):
            return [model.name for model in (await list_live_models(key, base_url=url)).models]

    complain = _bad if wanted else _note
    try:
        models = asyncio.run(ask())
    except TimeoutError:
        return complain("s2s", f"{name}: Google does not say which models there are", "mend the network")
    except RealtimeError as error:
        return complain("s2s", f"{name}: {error}", "check GEMINI_API_KEY and the network")
    listed = ", ".join(models) or "none"
    if name.removeprefix("gemini:") not in models:
        return complain("s2s", f"{name} is not among this key's live models: {listed}", "set S2S_MODEL to one of them")
    return _good("s2s", f"{name}; this key's live models: {listed}")


def _reach(model: str, base_url: str, variable: str) -> Check:
    """Knock at a model's server; nothing is sent."""
    try:
        parts = urlsplit(base_url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = parts.hostname or ""
    except ValueError:
        host, port = "", 0
    if not host:
        return _bad("model", f"{model}: {variable} is no address", "write it like http://127.0.0.1:11434/v1")
    try:
        socket.create_connection((host, port), timeout=_REACH_S).close()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        mend = f"start it, mend the network{f' or {variable}' if variable else ''}, or use VOICE_MODEL=offline"
        return _bad("model", f"{model}: {host}:{port} does not answer ({reason})", mend)
    return _good("model", f"{model}: {host}:{port} answers; a key, if one is needed, is tried by the first turn")


def _database(settings: Settings) -> Check:
    from agents.core.errors import ConfigurationError, StoreError
    from voice_server.keeping import check_database

    if settings.database == MEMORY:
        return _good("database", f"{MEMORY}: a conversation ends with its call; with VOICE_DATABASE it can go on")
    try:
        place = check_database(settings.database)
    except (ConfigurationError, StoreError) as error:
        problem, _, fix = str(error).removeprefix("the database ").partition("; ")
        return _bad("database", problem, fix)
    return _good("database", f"{place} opens")


def _server(settings: Settings) -> Check:
    from voice_server.serve import address, check_address, listen

    try:
        check_address(settings)
        listen(settings).close()
    except UsageError as error:
        problem, _, fix = str(error).partition("; ")
        return _note("server", problem, fix)
    where = address(settings.host, settings.port)
    if settings.key is None:
        return _good("server", f"{where} is free, for this machine only; with VOICE_KEY others may be let in")
    return _good("server", f"{where} is free, for all who have the key")


def _livekit(settings: Settings) -> Check:
    from voice_server.livekit.access import Access, NotConfiguredError
    from voice_server.livekit.server import TroubleError, identify

    given = (settings.livekit_url, settings.livekit_api_key, settings.livekit_api_secret)
    if given == (None, None, None):
        return _good("livekit", "none: calls come over sockets; with LIVEKIT_URL in rooms, too")
    try:
        access = Access.of(settings)
        version = asyncio.run(identify(access))
    except (NotConfiguredError, TroubleError) as error:
        problem, _, fix = str(error).partition("; ")
        return _note("livekit", problem, fix)
    return _good("livekit", f"{version} at {access.url}, takes our key")


def _picture(_: Settings) -> Check:
    if importlib.util.find_spec("matplotlib") is None:
        return _note("picture", "matplotlib is missing; only --plot needs it", "pip install 'glove-voice[plot]'")
    return _good("picture", f"matplotlib {metadata.version('matplotlib')}")


def _good(name: str, detail: str, fix: str = "") -> Check:
    return Check(name=name, finding=Finding.GOOD, detail=detail, fix=fix)


def _note(name: str, detail: str, fix: str = "") -> Check:
    return Check(name=name, finding=Finding.NOTE, detail=detail, fix=fix)


def _bad(name: str, detail: str, fix: str) -> Check:
    return Check(name=name, finding=Finding.BAD, detail=detail, fix=fix)
