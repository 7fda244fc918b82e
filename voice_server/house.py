"""The house: the engines, loaded once, and how the settings want turns to be taken. Every call is held in it.

Above: ``turn`` and ``live`` hold calls. Below: ``pipelines`` knows how.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from agents.core.model import Model
from pipelines.audio.frame import Samples
from pipelines.cascade import CascadeSettings, Engines
from pipelines.clock import RealClock
from pipelines.engines import EngineError, EngineKind, load_engine
from pipelines.realtime.base import RealtimeAdapter, TurnDetection
from pipelines.realtime.providers import OURS
from pipelines.realtime.settings import RealtimeSettings
from pipelines.responder import Expectation
from pipelines.stt.base import Recognizer
from pipelines.stt.silent import Silent
from pipelines.tts.absent import Absent
from pipelines.tts.base import Synthesizer
from pipelines.turns.endpointing import Endpointing
from pipelines.turns.settings import TurnSettings, TurnTaking
from pipelines.vad.base import ActivityModel, VoiceActivity
from voice_server.provider import adapter_for, voice_for
from voice_server.settings import PipelineKind, Settings

__all__ = ["House"]


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """The engines, loaded once; they serve any number of calls."""

    vad: ActivityModel
    recognizer: Recognizer
    synthesizer: Synthesizer
    phrases: dict[str, Samples]
    """Sentences rendered beforehand, so that a dead synthesiser can still be apologised for."""
    adapter: RealtimeAdapter | None = None
    """Whose speech-to-speech model there is, for calls on the realtime pipeline; it is not loaded with the rest."""
    voice: str | None = None
    """By which of its voices it speaks; ``None``: by its own choice."""
    hears: bool = True
    """Whether there is a recogniser, for calls on the cascade."""

    @classmethod
    def load(cls, settings: Settings) -> House:
        """Load what the settings name. Blocking, and not to be called on a loop.

        What is in memory afterwards is never looked at by the garbage collector again: a full collection that reads
        all of it stops every call for 25 to 45 ms, one that does not for 2 ms.

        Raises:
            EngineError: an engine cannot be had.
        """
        realtime = settings.pipeline is PipelineKind.REALTIME
        voice = _load_voice(settings.tts, needed=not realtime)
        loaded = cls(
            vad=cast(ActivityModel, load_engine(EngineKind.VAD, settings.vad)),
            recognizer=Silent() if realtime else cast(Recognizer, load_engine(EngineKind.STT, settings.stt)),
            synthesizer=voice,
            phrases={} if isinstance(voice, Absent) else asyncio.run(_render(voice, _apologies())),
            hears=not realtime,
        )
        gc.collect()
        gc.freeze()
        return loaded

    def with_adapter(self, settings: Settings, model: Model) -> House:
        """Add the provider for an agent with a model, if one is wanted, unless there is one already. Blocking.

        Raises:
            UsageError: it cannot be had.
        """
        adapter = self.adapter or adapter_for(settings, model)
        return replace(self, adapter=adapter, voice=voice_for(settings, model))

    def missing_for(self, pipeline: PipelineKind) -> str | None:
        """Say in a sentence what calls on a pipeline lack here; ``None``: nothing."""
        if pipeline is PipelineKind.REALTIME and self.adapter is None:
            return "this server has no speech-to-speech model; its host sets S2S_PROVIDER, or leave `pipeline` out"
        if pipeline is PipelineKind.CASCADE and not self.hears:
            return "this server has no recogniser, for it is set to `realtime`; leave `pipeline` out"
        return None

    def engines(self, activity: VoiceActivity) -> Engines:
        """What one call on the cascade hears and speaks with: its own ears, and the house's recogniser and voice."""
        return Engines(
            activity=activity,
            recognizer=self.recognizer,
            synthesizer=self.synthesizer,
            phrases=self.phrases,
        )

    def cascade_settings(
        self,
        settings: Settings,
        *,
        expects: Expectation | None = None,
        turn_taking: TurnTaking | None = None,
        start_muted: bool | None = None,
    ) -> CascadeSettings:
        """Make of the environment's settings how one call hears and takes turns.

        Args:
            settings: the environment's.
            expects: what the caller was asked before the call.
            turn_taking: the call's own; ``None``: the environment's.
            start_muted: the call's own; ``None``: the environment's.
        """
        endpointing = Endpointing(
            floor=settings.endpointing_floor_ms / 1000, ceiling=settings.endpointing_ceiling_ms / 1000
        )
        return CascadeSettings(
            detector=self.vad.detector,
            turns=TurnSettings(endpointing=endpointing, drafts=settings.drafts),
            gating=settings.gating,
            turn_taking=turn_taking or settings.turn_taking,
            start_muted=settings.start_muted if start_muted is None else start_muted,
            expects=expects,
        )

    def realtime_settings(
        self,
        settings: Settings,
        *,
        turn_detection: TurnDetection | None = None,
        turn_taking: TurnTaking | None = None,
        start_muted: bool | None = None,
    ) -> RealtimeSettings:
        """Make of the environment's settings how one call with a speech-to-speech model is held.

        Args:
            settings: the environment's.
            turn_detection: the call's own; ``None``: the environment's.
            turn_taking: the call's own; ``None``: the environment's.
            start_muted: the call's own; ``None``: the environment's.
        """
        ours = settings.s2s_turn_detection == OURS
        return RealtimeSettings(
            turn_detection=turn_detection or (TurnDetection.OURS if ours else TurnDetection.PROVIDER),
            turn_taking=turn_taking or settings.turn_taking,
            start_muted=settings.start_muted if start_muted is None else start_muted,
            voice=self.voice,
            detector=self.vad.detector,
        )


def _load_voice(name: str, *, needed: bool) -> Synthesizer:
    """Load the synthesiser; where a provider speaks, one that cannot be had is only missed when it fails."""
    try:
        return cast(Synthesizer, load_engine(EngineKind.TTS, name))
    except EngineError as error:
        if needed:
            raise
        return Absent(str(error))


def _apologies() -> tuple[str, ...]:
    turns, realtime = TurnSettings(), RealtimeSettings()
    return (turns.not_understood, turns.engine_failed, realtime.apology, realtime.failed, realtime.farewell)


async def _render(synthesizer: Synthesizer, texts: Iterable[str]) -> dict[str, Samples]:
    clock = RealClock()
    rendered = {}
    for text in texts:
        parts = [audio.samples async for audio in synthesizer.synthesize(text, clock)]
        rendered[text] = np.concatenate(parts)
    return rendered
