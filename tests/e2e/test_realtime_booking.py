"""The trip booked through speech-to-speech models: recorded callers, and stand-ins that hear and answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from pipelines.trace import Trace
from tests.e2e import agents
from tests.e2e.stage import Stage
from tests.fixtures.catalogue import fixture
from tests.realtime.brisk import BriskClock
from tests.realtime.local_mind import LocalMind
from tests.realtime.standing_in import PROVIDERS, standing_in
from voice_server.options import RecordedTurn, TurnOptions
from voice_server.report import TurnReport
from voice_server.settings import Settings
from voice_server.turn import run

pytestmark = [pytest.mark.wire, pytest.mark.realtime]

PACE = 4.0
"""How much faster than life the callers of these tests speak and hear: the stand-ins decide as fast as they can."""

SAYS = (
    "flights-for-two",
    "my-name-is-laura",
    "my-address",
    "i-do-not-have-one",
    "yes",
    "make-it-three",
    "yes-that-is-right",
    "yes-please",
)


@pytest.fixture(scope="module")
def mind() -> LocalMind:
    made = LocalMind(voiced=False)
    made.warm()
    return made


async def call(provider: str, mind: LocalMind, stage: Stage, *says: str, **settings: Any) -> TurnReport:
    """Hold a call as the command does, beside a stand-in."""
    async with standing_in(provider, mind) as stand_in:
        house = replace(stage.house, adapter=stand_in.adapter)
        options = TurnOptions(
            recordings=tuple(RecordedTurn(path=fixture(name).path) for name in says),
            settings=Settings.model_validate(
                {"agent": "tests.e2e.agents:concierge_with_books", "model": "offline", "pipeline": "realtime"}
                | settings
            ),
        )
        report = await asyncio.to_thread(run, options, Trace(), house, realtime=BriskClock(PACE))
        assert stand_in.refusals() == []
        return report


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_trip_is_booked_corrected_and_confirmed_again(provider: str, mind: LocalMind, stage: Stage) -> None:
    report = await call(provider, mind, stage, *SAYS)
    assert (report.pipeline, report.model.partition(":")[0]) == ("realtime", provider)
    assert len(report.turns) == len(SAYS), [turn.caller for turn in report.turns]
    (form,) = report.forms
    assert form["complete"]
    values = form["values"]
    assert {name: values[name] for name in ("origin", "destination", "travellers", "full_name", "email")} == {
        "origin": "London",
        "destination": "Lisbon",
        "travellers": 3,
        "full_name": "Laura Miller",
        "email": "laura@example.com",
    }
    booking = next(each for each in await agents.books.bookings() if each.reference == values["reference"])
    assert (booking.version, booking.details.travellers) == (2, 3)
    assert any(reference == booking.reference for reference, _ in await agents.books.itineraries())
    assert report.goals is not None
    assert [(each["goalKey"], each["itemKey"]) for each in report.goals["deferred"]] == [("aftercare", "seats")]
    read_back = report.turns[3]
    assert read_back.agent.strip().endswith("Is that right?")
    assert (read_back.heard.strip(), read_back.interrupted) == (read_back.agent.strip(), False)


async def test_our_own_ears_can_say_when_the_caller_speaks(mind: LocalMind, stage: Stage) -> None:
    says = ("flights-for-two", "my-name-is-laura")
    for provider in PROVIDERS:
        report = await call(provider, mind, stage, *says, s2s_turn_detection="ours")
        assert len(report.turns) == 2, [turn.caller for turn in report.turns]
        assert report.forms[0]["values"]["full_name"] == "Laura Miller", provider
