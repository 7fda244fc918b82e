"""Speech: on which pipeline a call is held, and what it is made of.

Above: ``turn`` and ``live`` hold calls. Below: the ``house``'s engines and provider, behind a pipeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from agents.core.glove import Glove
from pipelines.cascade import Cascade
from pipelines.clock import Clock
from pipelines.glove import GloveResponder, GloveToolHost
from pipelines.listener import Probe
from pipelines.pipeline import Begin
from pipelines.realtime.agent import RealtimePipeline
from pipelines.realtime.base import TurnDetection
from pipelines.responder import Expectation
from pipelines.tts.absent import Absent
from pipelines.turns.settings import TurnTaking
from pipelines.vad.base import VoiceActivity
from voice_server.house import House
from voice_server.records.journal import Heading
from voice_server.settings import PipelineKind, Settings

__all__ = ["Manner", "Speech"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a call wants to be held; what is ``None`` is as the server is set."""

    pipeline: PipelineKind | None = None
    mode: TurnTaking | None = None
    muted: bool | None = None
    detection: TurnDetection | None = None
    """Who hears whether the caller speaks, with a speech-to-speech model."""
    expects: Expectation | None = None
    """What the caller was asked before the call."""


class Speech:
    """How one call hears, thinks and speaks.

    Args:
        house: what there is.
        settings: the server's.
        manner: the call's.

    Attributes:
        pipeline: on which the call is held.
        activity: the call's own ears.
    """

    def __init__(self, house: House, settings: Settings, manner: Manner) -> None:
        self.pipeline = manner.pipeline or settings.pipeline
        self.activity: VoiceActivity = house.vad.open()
        self._house = house
        self._settings = settings
        self._manner = manner

    def heading(self, conversation: str, model: str, began_at: datetime) -> Heading:
        """Say what is known of the call when it begins.

        Args:
            conversation: what it goes on with.
            model: the agent's model, on the cascade.
            began_at: when it began, with its time zone.
        """
        settings = self._settings
        stt, tts = settings.stt, settings.tts
        if self.pipeline is PipelineKind.REALTIME and self._house.adapter is not None:
            stt = model = tts = self._house.adapter.name
        return Heading(
            conversation=conversation,
            pipeline=self.pipeline,
            agent=settings.agent,
            stt=stt,
            tts=tts,
            model=model,
            began_at=began_at,
        )

    def begin(self, agent: Glove, clock: Clock, probe: Probe) -> Begin:
        """Put the agent behind the pipeline.

        Args:
            agent: who is talked to.
            clock: the call's.
            probe: takes every speech probability.
        """
        house, manner = self._house, self._manner
        if self.pipeline is PipelineKind.REALTIME:
            assert house.adapter is not None, "calls that the house lacks something for are refused"
            return partial(
                RealtimePipeline,
                adapter=house.adapter,
                host=GloveToolHost(agent, clock),
                activity=self.activity,
                synthesizer=None if isinstance(house.synthesizer, Absent) else house.synthesizer,
                phrases=house.phrases,
                settings=house.realtime_settings(
                    self._settings,
                    turn_detection=manner.detection,
                    turn_taking=manner.mode,
                    start_muted=manner.muted,
                ),
                probe=probe,
            )
        return partial(
            Cascade,
            engines=house.engines(self.activity),
            responder=GloveResponder(agent, clock),
            settings=house.cascade_settings(
                self._settings, expects=manner.expects, turn_taking=manner.mode, start_muted=manner.muted
            ),
            probe=probe,
        )
