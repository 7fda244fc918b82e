from __future__ import annotations

import pytest

from pipelines.cascade import CascadeSettings
from pipelines.gating import Gating
from pipelines.responder import OPEN_QUESTION
from pipelines.turns.settings import TurnTaking
from pipelines.vad.energy import EnergyModel
from tests.pipelines.scripted import ScriptedRecognizer, ScriptedVoice
from voice_server.house import House
from voice_server.settings import Settings

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
