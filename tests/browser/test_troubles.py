"""What a caller is told when something is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.caller import PATIENCE_MS, Caller
from tests.browser.server import Cable, serve

PLAIN = Path(__file__).parents[2] / "voice_server" / "web" / "plain"


@pytest.fixture(scope="module")
def guarded(page_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a key, and room for one call."""
    with serve(tmp_path_factory.mktemp("server"), key="open sesame", calls="1") as url:
        yield url


def _is_told(caller: Caller, sentence: str) -> None:
    expect(caller.page.get_by_role("alert")).to_contain_text(sentence, timeout=PATIENCE_MS)
    caller.sees("Not in a call")
    expect(caller.page.locator("button.large.primary")).to_be_enabled()


def test_a_page_without_leave_to_use_the_microphone_says_so(
    server: str, chromium: Callable[..., Browser], sit_down: Callable[..., Caller]
) -> None:
    # There is a microphone, and nobody to say yes to the browser's question.
    browser = chromium("--use-fake-device-for-media-stream", "--deny-permission-prompts")
    caller = sit_down(server, browser, injected=False)
    caller.button("Start talking").click()
    _is_told(caller, "This page may not use the microphone: allow it beside the address of the page, then start again.")
    assert not caller.commands
    browser.close()


def test_a_page_without_a_microphone_says_so(server: str, sit_down: Callable[..., Caller]) -> None:
    caller = sit_down(server, injected=False, permissions=["microphone"])
    caller.button("Start talking").click()
    _is_told(caller, "No microphone was found: connect one, then start again.")
    assert not caller.commands


def test_a_server_that_is_gone_is_named_as_the_trouble(server: str, sit_down: Callable[..., Caller]) -> None:
    cable = Cable(server)
    try:
        caller = sit_down(cable.url)
        caller.page.wait_for_load_state("networkidle")
        # The worklets are fetched at the start: they must be there, so that it is the server that is missed.
        caller.call()
        caller.button("Hang up").click()
        caller.sees("Not in a call")
        cable.cut()
        caller.button("New conversation").click()
        _is_told(caller, "The server does not answer: see whether it runs, then start again.")
    finally:
        cable.close()


def test_a_server_with_a_key_asks_for_it_and_one_that_is_full_says_so(
    guarded: str, sit_down: Callable[..., Caller], axe: str
) -> None:
    caller = sit_down(guarded)
    caller.button("Start talking").click()
    caller.page.get_by_label("This server wants a key").fill("wrong")
    assert not caller.complaints(axe)
    caller.button("Start with this key").click()
    caller.page.get_by_label("That key is not the server’s: try again").fill("open sesame")
    caller.button("Start with this key").click()
    caller.sees("The agent listens")
    assert caller.page.evaluate("[sessionStorage.length, localStorage.length]") == [1, 0]
    assert "sesame" not in caller.page.url

    another = sit_down(guarded)
    another.button("Start talking").click()
    another.page.get_by_label("This server wants a key").fill("open sesame")
    another.button("Start with this key").click()
    _is_told(another, "All lines are busy: try again in a moment.")
    caller.ask("what-time-is-it")


def test_where_no_page_was_built_a_plain_one_holds_a_conversation_and_says_what_it_lacks(
    sit_down: Callable[..., Caller], axe: str, pictures: Path, tmp_path: Path
) -> None:
    (tmp_path / "plain").symlink_to(PLAIN)
    with serve(tmp_path, web=tmp_path, agent="agents.concierge:create") as url:
        _talk_plainly(sit_down(url), axe, pictures)


def _talk_plainly(caller: Caller, axe: str, pictures: Path) -> None:
    expect(caller.page.locator("body")).to_contain_text("This is the plain page.")
    assert not caller.complaints(axe)
    caller.button("Start talking").click()
    status = caller.page.locator("#status")
    expect(status).to_have_text("The agent is listening", timeout=PATIENCE_MS)
    caller.speak("what-can-you-do")
    expect(status).to_have_text("The agent is speaking", timeout=PATIENCE_MS)
    caller.page.wait_for_timeout(1500)
    caller.speak("flights-for-two")
    caller.wait(lambda: len(caller.told("spoken")) == 2)
    cut, whole = caller.told("spoken")
    assert cut["interrupted"]
    shown = caller.page.locator("#transcript li[data-by=Agent]").all_inner_texts()
    assert shown == [cut["heard"].strip(), whole["heard"].strip()]
    goals = caller.page.get_by_role("region", name="What is to be achieved").locator("li")
    expect(goals.first).to_have_text(
        "Origin and destination (done), Departure date and party size (done), Lead traveller (pending)"
    )
    fields = caller.page.get_by_role("region", name="What has to be known").locator("li")
    expect(fields.nth(1)).to_have_text("Lisbon")
    expect(fields.nth(4)).to_have_text("–")
    assert fields.nth(4).get_attribute("data-by") == "Full name"
    assert not caller.complaints(axe)
    caller.photograph(pictures, "plain", whole=True)
    caller.button("Mute").click()
    caller.wait(lambda: caller.told("muted"))
    caller.button("Hang up").click()
    expect(status).to_have_text("The call is over: hung up.")
