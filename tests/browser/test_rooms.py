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
        caller.speak("i-do-not-have-one")
        card = caller.page.locator("[data-renderer=confirmation]")
        expect(card.locator("dd")).to_contain_text(["London", "Lisbon", "2", "Laura Miller", "laura@acme.com", "none"])
        caller.photograph(pictures, "room-card", whole=True)
        caller.button("Confirm").click()
        expect(card).to_have_count(0)
        expect(form.locator("div", has_text="Booking reference").locator("dd")).not_to_have_text("–")
        caller.button("Hang up").click()
        caller.sees("Not in a call")

        caller.page.get_by_text("Push to talk").click()
        caller.button("Go on talking").click()
        caller.sees("The agent waits for you to talk")
        expect(form.locator("div", has_text="Booking reference").locator("dd")).not_to_have_text("–")
        button = caller.button("Hold to talk")
        said = len(caller.lines("caller"))
        button.hover()
        caller.page.mouse.down()
        expect(caller.button("Talking …")).to_be_visible()
        caller.speak("make-it-three")
        caller.page.mouse.up()
        caller.wait(lambda: len(caller.lines("caller")) > said)
        expect(card.locator("div", has_text="Number of travellers").locator("dd")).to_have_text("3")


def test_whoever_cannot_have_a_room_is_told_why(
    page_built: None, sit_down: Callable[..., Caller], tmp_path: Path
) -> None:
    gone = {"LIVEKIT_URL": "ws://127.0.0.1:9", "LIVEKIT_API_KEY": "key", "LIVEKIT_API_SECRET": "s" * 32}
    with serve(tmp_path, livekit=gone) as url:
        caller = sit_down(url)
        caller.button("Start talking").click()
        expect(caller.page.get_by_role("alert")).to_contain_text("The server refused the call: LiveKit")
        caller.sees("Not in a call")
