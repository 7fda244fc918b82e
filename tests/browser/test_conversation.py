"""A conversation through the page, by voice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, expect

from pipelines.audio.frame import Frame
from pipelines.audio.wav import write_wav
from tests.browser.caller import Caller
from tests.browser.server import Cable
from tests.fixtures.catalogue import fixture


def test_four_turns_are_held_one_answer_is_interrupted_and_the_page_shows_what_was_heard(
    server: str, sit_down: Callable[..., Caller], axe: str, pictures: Path
) -> None:
    caller = sit_down(server)
    assert not caller.complaints(axe)
    caller.photograph(pictures, "start")
    caller.call()
    caller.photograph(pictures, "listening")
    caller.ask("what-time-is-it")
    caller.ask("three-miles")
    caller.speak("what-can-you-do")
    caller.sees("The agent speaks")
    caller.page.wait_for_timeout(1500)
    caller.photograph(pictures, "speaking")
    assert not caller.complaints(axe)
    caller.speak("stop-tell-me-the-time")
    caller.wait(lambda: len(caller.told("spoken")) == 4)
    caller.sees("The agent listens")

    asked = ["What time is it?", "How many kilometers are in 3 miles?", "What can you do for me?"]
    assert caller.lines("caller")[:3] == asked
    assert caller.lines("caller")[3].lower().endswith("tell me the time instead.")
    spoken = caller.told("spoken")
    assert [utterance["interrupted"] for utterance in spoken] == [False, False, True, False]
    assert caller.lines("agent") == [utterance["heard"].strip() for utterance in spoken]
    cut = spoken[2]
    unheard = cut["text"][len(cut["heard"]) :].split()
    assert cut["heard"] and len(unheard) > 10
    assert " ".join(unheard[:5]) not in caller.page.content()
    assert caller.page.locator(".line[data-state=interrupted]").count() == 1

    rows = caller.page.locator(".times .row")
    expect(rows).to_have_count(4)
    rows.nth(1).press("Enter")
    caller.photograph(pictures, "times", whole=True)
    timed = caller.told("latency")[1]
    shown = caller.page.locator("tbody tr").nth(1).locator("td").all_text_contents()
    stages = [
        timed[stage] - timed["speech_ended"] for stage in ("text_final", "committed", "first_text", "first_sound")
    ]
    assert shown[:4] == [str(stage) for stage in stages]
    expect(caller.page.locator(".tools li")).to_have_count(4)
    assert not caller.complaints(axe)

    caller.button("Hang up").click()
    caller.sees("Not in a call")
    assert [ended["reason"] for ended in caller.told("ended")] == ["hung_up"]


def test_what_is_acknowledged_is_what_was_played(server: str, sit_down: Callable[..., Caller]) -> None:
    caller = sit_down(server)
    caller.call()
    caller.ask("what-time-is-it")
    acks = [ack["ms"] for ack in caller.said("played")]
    assert acks == sorted(acks)
    seconds = acks[-1] / 1000
    assert 8 * seconds < len(acks) < 12 * seconds + 2


def test_the_browser_s_own_microphone_works(
    server: str, chromium: Callable[..., Browser], sit_down: Callable[..., Caller], tmp_path: Path
) -> None:
    # The recording begins with the microphone: the call has to be there before there is something to hear.
    recording = _after_silence("what-time-is-it", 4.0, tmp_path / "caller.wav")
    browser = chromium(
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={recording}%noloop",
    )
    caller = sit_down(server, browser, injected=False)
    caller.call()
    caller.wait(lambda: caller.told("spoken"))
    assert caller.lines("caller") == ["What time is it?"]
    assert caller.lines("agent")[0].startswith("It is")
    caller.page.get_by_text("Microphone", exact=True).first.click()
    expect(caller.page.get_by_role("option", name="Fake Default Audio Input")).to_have_count(1)
    caller.close()
    browser.close()


def test_a_connection_that_breaks_in_mid_sentence_comes_back_and_the_sentence_goes_on(
    server: str, sit_down: Callable[..., Caller], pictures: Path
) -> None:
    cable = Cable(server)
    try:
        caller = sit_down(cable.url)
        caller.call()
        caller.speak("what-time-is-it")
        caller.sees("The agent speaks")
        caller.page.wait_for_timeout(1000)
        cable.cut()
        caller.sees("The connection broke: reconnecting …")
        caller.photograph(pictures, "reconnecting")
        cable.mend()
        caller.sees("The agent listens")
        caller.ask("three-miles")
    finally:
        cable.close()
    broken, *_ = caller.told("spoken")
    assert not broken["interrupted"]
    assert caller.lines("agent")[0] == broken["text"]
    assert [ready["resumed"] for ready in caller.told("ready")] == [False, True]
    assert caller.lines("caller") == ["What time is it?", "How many kilometers are in 3 miles?"]
    first, *_, last = caller.said("start")
    assert "conversation" not in first
    assert last["conversation"] == caller.told("ready")[0]["conversation"]
    assert last["after"] > 0


def _after_silence(recording: str, seconds: float, path: Path) -> Path:
    spoken = fixture(recording)
    silence = np.zeros(round(seconds * spoken.rate), np.int16)
    write_wav(path, Frame(samples=np.concatenate([silence, spoken.samples(), silence]), rate=spoken.rate))
    return path
