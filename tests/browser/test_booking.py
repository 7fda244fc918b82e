"""A trip is booked through the page: by typing, by speaking and with the card."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.caller import Caller
from tests.browser.server import serve

ROUTE = "I need flights from Nairobi to Lisbon on the second of November, two of us."
CONCIERGE = "agents.concierge.agent:create"

READ_BACK_MS = 40_000
"""Milliseconds: seven answers are read back in twenty seconds."""


def answer(caller: Caller, words: str) -> None:
    """Type, and hear the agent's next words begin: a question nobody heard was not asked."""
    caller.types(words)
    hear_a_word(caller)


def hear_a_word(caller: Caller) -> None:
    def heard() -> bool:
        turns = [number for number, event in enumerate(caller.events) if event["type"] == "turn"]
        return any(event["type"] == "heard" and event["data"]["text"] for event in caller.events[turns[-1] :])

    caller.wait(heard)


@pytest.fixture(scope="module")
def concierge(page_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the concierge, its address."""
    with serve(tmp_path_factory.mktemp("server"), agent=CONCIERGE) as url:
        yield url


def test_a_trip_is_booked_by_typed_words_and_the_form_and_the_goals_fill_up(
    concierge: str, sit_down: Callable[..., Caller], axe: str, pictures: Path
) -> None:
    caller = sit_down(concierge)
    caller.call()
    answer(caller, ROUTE)
    form = caller.page.get_by_role("region", name="Trip booking")
    expect(form.locator("[data-asked=true] dt")).to_have_text("Full name")
    expect(form.locator("div", has_text="Departure date").locator("dd")).to_contain_text("November")
    goals = caller.page.get_by_role("region", name="What is to be achieved")
    expect(goals.locator("[data-disposition=done]")).to_have_count(2)
    answer(caller, "Amina Odhiambo.")
    expect(form.locator("[data-asked=true] dt")).to_have_text("E-mail for the itinerary")
    caller.photograph(pictures, "form", whole=True)
    assert not caller.complaints(axe)
    answer(caller, "amina@acme.com")
    expect(form.locator("[data-asked=true] dt")).to_have_text("Loyalty number")
    answer(caller, "I don't have one.")

    expect(caller.page.get_by_role("heading", name="Is all of this right?")).to_be_visible()
    card = caller.page.locator("[data-renderer=confirmation]")
    expect(card.locator("dd")).to_contain_text(
        ["Nairobi", "Lisbon", "November", "2", "Amina Odhiambo", "amina@acme.com", "none"]
    )
    caller.photograph(pictures, "card", whole=True)
    assert not caller.complaints(axe)
    caller.button("Change something").click()
    expect(caller.page.get_by_placeholder("Say or type what is to be changed")).to_be_focused()
    answer(caller, "Actually, make it three.")
    expect(card.locator("div", has_text="Number of travellers").locator("dd")).to_have_text("3")

    caller.button("Confirm").click()
    expect(card).to_have_count(0)
    expect(form.locator("div", has_text="Booking reference").locator("dd")).not_to_have_text("–")
    assert caller.said("say")[-1]["text"] == "Yes."
    assert [turn["text"] for turn in caller.told("turn")][-1] == "Yes."
    expect(goals.locator("[data-status=completed]")).to_have_count(2)
    caller.photograph(pictures, "booked", whole=True)


def test_a_spoken_yes_books_what_the_card_shows_on_a_phone(
    concierge: str, sit_down: Callable[..., Caller], axe: str, pictures: Path
) -> None:
    caller = sit_down(concierge, size=(390, 844))
    caller.call()
    for words in (ROUTE, "Amina Odhiambo.", "amina@acme.com"):
        answer(caller, words)
    caller.photograph(pictures, "form-phone", whole=True)
    answer(caller, "I don't have one.")
    card = caller.page.locator("[data-renderer=confirmation]")
    expect(card).to_be_visible()
    caller.photograph(pictures, "card-phone", whole=True)
    assert not caller.complaints(axe)
    assert caller.page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(caller.page.locator(".status")).to_have_text("The agent listens", timeout=READ_BACK_MS)
    caller.speak("yes")
    expect(card).to_have_count(0)
    expect(caller.page.get_by_role("region", name="Trip booking")).to_contain_text("Booking reference")
    assert [turn["text"].strip(".!").lower() for turn in caller.told("turn")][-1] == "yes"
