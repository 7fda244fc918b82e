"""The page where there is a LiveKit server: the same call, in a room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.caller import Caller
from tests.browser.server import serve
from tests.livekit.server import LiveKitServer

pytestmark = pytest.mark.room

CONCIERGE = "agents.concierge:create"

ANSWERED_MS = 40_000
"""Milliseconds: seven answers are read back in twenty seconds."""


def keys(livekit: LiveKitServer) -> dict[str, str]:
    return {
        "LIVEKIT_URL": livekit.url,
        "LIVEKIT_API_KEY": livekit.api_key,
        "LIVEKIT_API_SECRET": livekit.api_secret,
    }


def says(caller: Caller, recording: str) -> None:
    """Say a recording into the room, and hear the answer to its end."""
    said, heard = len(caller.lines("caller")), len(caller.lines("agent"))
    caller.speak(recording)
    caller.wait(lambda: len(caller.lines("caller")) > said)
    caller.wait(lambda: len(caller.lines("agent")) > heard, ANSWERED_MS)
    expect(caller.page.locator(".status")).to_have_text("The agent listens", timeout=ANSWERED_MS)


def test_a_trip_is_booked_by_voice_in_a_room(
    page_built: None,
    livekit_server: LiveKitServer,
    sit_down: Callable[..., Caller],
    pictures: Path,
    tmp_path: Path,
) -> None:
    with serve(tmp_path, agent=CONCIERGE, livekit=keys(livekit_server)) as url:
        caller = sit_down(url)
        caller.photograph(pictures, "room-start", whole=True)
        caller.call()
        assert not caller.events, "there is a socket to the agent beside the room"
        says(caller, "flights-for-two")
        says(caller, "my-name-is-laura")
        form = caller.page.get_by_role("region", name="Trip booking")
        expect(form.locator("[data-asked=true] dt")).to_have_text("E-mail for the itinerary")
        caller.photograph(pictures, "room-form", whole=True)
        caller.page.get_by_label("Type instead of speaking").fill("laura@acme.com")
        caller.page.keyboard.press("Enter")
        expect(form.locator("[data-asked=true] dt")).to_have_text("Loyalty number")
        expect(caller.page.locator(".status")).to_have_text("The agent listens", timeout=ANSWERED_MS)
        says(caller, "i-do-not-have-one")
        card = caller.page.locator("[data-renderer=confirmation]")
        expect(card.locator("dd")).to_contain_text(["London", "Lisbon", "2", "Laura Miller", "laura@acme.com", "none"])
        caller.photograph(pictures, "room-card", whole=True)
        says(caller, "yes")
        expect(card).to_have_count(0)
        expect(form.locator("div", has_text="Booking reference").locator("dd")).not_to_have_text("–")
        caller.button("Hang up").click()
        caller.sees("Not in a call")
