"""What a caller does with mouse, keyboard and screen."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.caller import Caller
from tests.browser.server import serve


@pytest.fixture(scope="module")
def desk_with_a_screen(page_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    agent = "tests.browser.agents:desk_with_a_screen"
    with serve(tmp_path_factory.mktemp("server"), agent=agent) as url:
        yield url


def test_who_is_muted_is_not_listened_to_but_sees_their_level(server: str, sit_down: Callable[..., Caller]) -> None:
    caller = sit_down(server)
    caller.call()
    caller.button("Mute").click()
    caller.sees("You are muted")
    before = len(caller.told("level"))
    caller.speak("what-time-is-it")
    loud = [level for level in caller.told("level")[before:] if level["level"] > 0.01]
    assert len(loud) >= 5
    assert max(level["probability"] for level in loud) > 0.5
    caller.button("Unmute").click()
    caller.sees("The agent listens")
    caller.ask("three-miles")
    assert caller.lines("caller") == ["How many kilometers are in 3 miles?"]
    assert [muted["muted"] for muted in caller.told("muted")] == [True, False]


def test_the_button_of_push_to_talk_is_held_or_tapped_and_so_is_the_space_bar(
    server: str, sit_down: Callable[..., Caller], axe: str, pictures: Path
) -> None:
    caller = sit_down(server)
    caller.page.get_by_role("radio", name="Push to talk").check()
    caller.button("Start talking").click()
    caller.sees("The agent waits for you to talk")
    caller.photograph(pictures, "push-to-talk")

    talk = caller.page.locator("button.talk")
    caller.page.keyboard.down("Space")
    expect(talk).to_have_text("Talking …")
    caller.speak("what-time-is-it")
    caller.page.keyboard.down("Space")  # the key repeats
    caller.page.keyboard.up("Space")
    caller.wait(lambda: len(caller.told("spoken")) == 1)
    assert caller.lines("caller") == ["What time is it?"]

    talk.click()  # shorter than the threshold: a switch
    expect(talk).to_have_text("Talking: press to send")
    assert not caller.complaints(axe)
    caller.speak("three-miles")
    talk.click()
    caller.wait(lambda: len(caller.told("spoken")) == 2)
    assert caller.lines("caller")[1] == "How many kilometers are in 3 miles?"

    talk.hover()
    caller.page.mouse.down()
    caller.speak("twelve-times-seven")
    caller.page.mouse.move(0, 0)  # leaving the button is letting it go
    caller.wait(lambda: len(caller.told("spoken")) == 3)
    caller.page.mouse.up()
    steered = [command["type"] for command in caller.commands if command["type"] not in ("played", "start")]
    assert steered == ["unmute", "mute", "commit"] * 3


def test_a_space_that_is_typed_is_no_hotkey(server: str, sit_down: Callable[..., Caller]) -> None:
    caller = sit_down(server)
    caller.page.get_by_role("radio", name="Push to talk").check()
    caller.button("Start talking").click()
    caller.sees("The agent waits for you to talk")
    caller.page.get_by_text("Microphone", exact=True).first.click()
    caller.page.get_by_role("checkbox", name="Automatic gain").press("Space")
    expect(caller.page.get_by_role("checkbox", name="Automatic gain")).to_be_checked()
    assert not caller.said("unmute")
    assert caller.page.evaluate("microphoneAsked.audio") == {
        "echoCancellation": True,
        "noiseSuppression": True,
        "autoGainControl": True,
        "channelCount": 1,
    }


def test_a_tool_that_needs_leave_asks_on_the_screen(
    desk_with_a_screen: str, sit_down: Callable[..., Caller], axe: str, pictures: Path
) -> None:
    caller = sit_down(desk_with_a_screen)
    caller.call()
    caller.speak("leave-a-message")
    caller.button("Allow").wait_for()
    caller.photograph(pictures, "slot")
    assert not caller.complaints(axe)
    caller.button("Allow").press("Enter")
    caller.wait(lambda: caller.told("spoken"))
    assert caller.lines("agent") == ["The message is kept."]
    expect(caller.page.locator(".slot")).to_have_count(0)
    assert [tool["status"] for tool in caller.told("tool")][-1] == "success"


def test_a_card_is_answered_by_one_of_its_buttons_or_dismissed(
    desk_with_a_screen: str, sit_down: Callable[..., Caller]
) -> None:
    caller = sit_down(desk_with_a_screen)
    caller.call()
    caller.speak("what-day-is-it")
    expect(caller.page.locator(".slot")).to_contain_text("Open from")
    caller.button("Tuesday").click()
    caller.wait(lambda: caller.told("spoken"))
    assert caller.lines("agent") == ["Tuesday it is."]
    caller.sees("The agent listens")
    caller.speak("what-day-is-it")
    caller.button("Dismiss").click()
    caller.wait(lambda: [tool["status"] for tool in caller.told("tool")][-1] == "error")


def test_the_page_fits_a_phone_and_the_dark(
    server: str, sit_down: Callable[..., Caller], axe: str, pictures: Path
) -> None:
    caller = sit_down(server, size=(360, 740), color_scheme="dark", has_touch=True, is_mobile=True)
    fits = "document.documentElement.scrollWidth <= 360"
    assert caller.page.evaluate(fits)
    caller.photograph(pictures, "phone-start")
    caller.call()
    caller.ask("three-miles")
    caller.page.locator(".times .row").first.click()
    caller.page.get_by_text("The same as a table").click()
    assert caller.page.evaluate(fits)
    assert not caller.complaints(axe)
    caller.photograph(pictures, "phone", whole=True)


def test_the_agent_stops_at_the_press_of_a_button(server: str, sit_down: Callable[..., Caller]) -> None:
    caller = sit_down(server)
    caller.call()
    caller.speak("what-can-you-do")
    caller.sees("The agent speaks")
    caller.page.wait_for_timeout(1000)
    caller.button("Stop speaking").click()
    caller.wait(lambda: caller.told("spoken"))
    (cut,) = caller.told("spoken")
    assert cut["interrupted"]
    assert 0 < len(cut["heard"]) < len(cut["text"]) / 4
    caller.sees("The agent listens")
    expect(caller.button("Stop speaking")).to_be_disabled()


def test_a_page_that_is_left_hangs_up(server: str, sit_down: Callable[..., Caller]) -> None:
    caller = sit_down(server)
    caller.call()
    before = _calls(server)
    caller.page.goto(f"{server}/health")
    caller.wait(lambda: _calls(server) == before - 1, within_ms=2_000)


def _calls(server: str) -> int:
    """Ask how many calls there are, with those that wait for their client to come back."""
    with urllib.request.urlopen(f"{server}/ready", timeout=5) as answer:
        return int(json.load(answer)["calls"])


def test_a_call_needs_no_mouse(server: str, sit_down: Callable[..., Caller]) -> None:
    caller = sit_down(server)
    _press_by_key(caller, "Start talking")
    caller.sees("The agent listens")
    caller.ask("what-time-is-it")
    _press_by_key(caller, "Hang up")
    caller.sees("Not in a call")
    caller.button("Go on talking").click()
    caller.sees("The agent listens")
    assert caller.said("start")[1]["conversation"] == caller.told("ready")[0]["conversation"]
    assert caller.lines("caller") == ["What time is it?"]


def _press_by_key(caller: Caller, label: str) -> None:
    """Walk to a button with the tabulator, once it is there, and press it."""
    expect(caller.button(label)).to_be_enabled()
    for _ in range(20):
        caller.page.keyboard.press("Tab")
        if caller.page.evaluate("document.activeElement.textContent") == label:
            break
    caller.page.keyboard.press("Enter")
