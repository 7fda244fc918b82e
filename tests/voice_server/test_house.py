from __future__ import annotations

import pytest

from agents.models.driven import s2s_driven_model
from pipelines.cascade import CascadeSettings
from pipelines.gating import Gating
from pipelines.realtime.base import TurnDetection
from pipelines.realtime.providers import S2SConfig
from pipelines.responder import OPEN_QUESTION
from pipelines.tts.absent import Absent
from pipelines.turns.settings import TurnTaking
from pipelines.vad.energy import EnergyModel
from tests.pipelines.scripted import ScriptedRecognizer, ScriptedVoice
from voice_server.house import House
from voice_server.settings import PipelineKind, Settings

HOUSE = House(vad=EnergyModel(), recognizer=ScriptedRecognizer([]), synthesizer=ScriptedVoice(), phrases={})


def test_a_call_hears_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "GATING": "soft",
        "TURN_TAKING": "manual",
        "START_MUTED": "true",
        "ENDPOINTING_FLOOR_MS": "100",
        "DRAFTS": "1",
    }.items():
        monkeypatch.setenv(f"VOICE_{name}", value)
    settings = HOUSE.cascade_settings(Settings())
    assert (settings.gating, settings.turn_taking, settings.start_muted) == (Gating.SOFT, TurnTaking.MANUAL, True)
    assert (settings.turns.endpointing.floor, settings.turns.drafts) == (0.1, 1)


def test_what_a_call_says_itself_goes_before_the_environment() -> None:
    server = Settings(turn_taking=TurnTaking.MANUAL, start_muted=True)
    settings = HOUSE.cascade_settings(
        server, turn_taking=TurnTaking.AUTOMATIC, start_muted=False, expects=OPEN_QUESTION
    )
    assert (settings.turn_taking, settings.start_muted) == (TurnTaking.AUTOMATIC, False)
    assert settings.expects is OPEN_QUESTION


def test_a_detector_is_used_with_the_thresholds_it_was_made_for() -> None:
    assert HOUSE.cascade_settings(Settings()).detector == EnergyModel().detector != CascadeSettings().detector


def test_a_house_for_speech_to_speech_has_no_recogniser_and_may_lack_a_voice() -> None:
    house = House.load(Settings(pipeline=PipelineKind.REALTIME, vad="energy", stt="nix:nix", tts="nix:nix"))
    assert isinstance(house.synthesizer, Absent)
    assert house.phrases == {}
    lacking = house.missing_for(PipelineKind.CASCADE)
    assert lacking is not None
    assert "no recogniser" in lacking
    assert HOUSE.missing_for(PipelineKind.CASCADE) is None
    assert "S2S_PROVIDER" in str(HOUSE.missing_for(PipelineKind.REALTIME))


def test_an_agent_brings_its_provider_and_its_voice() -> None:
    model = s2s_driven_model(S2SConfig(provider="openai", model="gpt-ours", voice="marin", api_key="sk-ours"))
    house = HOUSE.with_adapter(Settings(s2s_voice="cedar"), model)
    assert house.adapter is not None
    assert (house.adapter.name, house.realtime_settings(Settings()).voice) == ("openai:gpt-ours", "marin")
    assert house.missing_for(PipelineKind.REALTIME) is None


def test_a_call_takes_its_turns_as_it_says_and_else_as_the_environment_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2S_TURN_DETECTION", "ours")
    assert HOUSE.realtime_settings(Settings()).turn_detection is TurnDetection.OURS
    theirs = HOUSE.realtime_settings(Settings(), turn_detection=TurnDetection.PROVIDER, start_muted=True)
    assert (theirs.turn_detection, theirs.start_muted) == (TurnDetection.PROVIDER, True)
