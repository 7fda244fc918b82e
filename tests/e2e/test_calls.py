"""Calls over a socket of a real server: engines, sockets and time are real."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from pipelines.audio.levels import rms
from pipelines.audio.wav import read_wav
from tests.fixtures.catalogue import fixture
from tests.voice_server.phone import calling
from tests.voice_server.serving import Served, ask, serving
from voice_server.house import House

pytestmark = pytest.mark.realtime

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def served(house: House) -> Iterator[Served]:
    with serving(house) as served:
        yield served


async def test_a_question_is_answered_and_all_of_the_answer_is_heard(served: Served) -> None:
    async with calling(served.voice) as phone:
        phone.says("twelve-times-seven")
        spoken = (await phone.hears("spoken"))["data"]
        await phone.hears("state", count=2, state="listening")
        await phone.send("hangup")
        assert await phone.closed() == (1000, "hung_up")
    assert "84" in spoken["text"]
    assert spoken["heard"] == spoken["text"]
    assert not spoken["interrupted"]
    states = [event["data"]["state"] for event in phone.all("state")]
    assert states == ["listening", "thinking", "speaking", "listening"]
    assert (phone.events[0]["type"], phone.events[-1]["type"]) == ("ready", "ended")
    numbers = [event["seq"] for event in phone.events if event["seq"] is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    assert phone.all("heard")[-1]["data"]["text"] == spoken["text"]
    timed = phone.all("latency")[0]["data"]
    assert timed["speech_ended"] < timed["committed"] <= timed["first_text"] <= timed["first_sound"]
    assert max(event["data"]["probability"] for event in phone.all("level")) > 0.9


@pytest.mark.parametrize("pauses", [True, False])
async def test_no_sample_of_an_interrupted_answer_comes_after_its_clear(served: Served, pauses: bool) -> None:
    async with calling(served.voice, start={"pauses": pauses}) as phone:
        phone.says("what-can-you-do")
        await phone.hears("utterance")
        await asyncio.sleep(1.5)
        phone.says("stop-tell-me-the-time")
        first = (await phone.hears("spoken"))["data"]
        await phone.hears("spoken", count=2)
    assert first["interrupted"]
    assert 0 < len(first["heard"]) < len(first["text"])
    clears = [
        (number, event["data"]["epoch"])
        for number, event in enumerate(phone.events)
        if event["type"] == "playout" and event["data"]["order"] == "clear"
    ]
    assert clears
    for epoch, events_before in phone.arrived:
        assert epoch >= max((cleared for number, cleared in clears if number < events_before), default=0)


async def test_the_forty_ninth_call_is_told_that_the_server_is_busy(house: House) -> None:
    with serving(house, calls=1) as served:
        async with calling(served.voice) as first:
            await first.hears("ready")
            async with calling(served.voice) as second:
                code, reason = await second.closed()
                assert code == 1013
                assert reason == "there are 1 calls, as many as are taken; try again later"
                assert second.all("error")[0]["data"]["code"] == "busy"
            first.says("twelve-times-seven")
            await first.hears("spoken")


async def test_a_second_client_of_a_call_is_refused_and_the_first_goes_on(served: Served) -> None:
    async with calling(served.voice) as first:
        conversation = (await first.hears("ready"))["data"]["conversation"]
        async with calling(served.voice, start={"conversation": conversation}) as second:
            assert (await second.closed())[0] == 4409
        first.says("twelve-times-seven")
        await first.hears("spoken")


async def test_who_comes_back_goes_on_where_the_line_broke(served: Served) -> None:
    async with calling(served.voice) as before:
        conversation = (await before.hears("ready"))["data"]["conversation"]
        before.says("what-day-is-it")
        await before.hears("heard", count=3)
        before.socket.transport.abort()
        await before.closed()
    heard_before = before.all("heard")[-1]["data"]["text"]
    last = max(event["seq"] for event in before.events if event["seq"] is not None)
    await asyncio.sleep(2)
    async with calling(served.voice, start={"conversation": conversation, "after": last}) as after:
        assert (await after.hears("ready"))["data"]["resumed"]
        spoken = (await after.hears("spoken"))["data"]
    assert heard_before
    assert spoken["heard"] == spoken["text"]
    assert not spoken["interrupted"]
    assert min(epoch for epoch, _ in after.arrived) > max(epoch for epoch, _ in before.arrived)
    numbers = [event["seq"] for event in after.events if event["seq"] is not None]
    assert numbers == list(range(last + 1, last + 1 + len(numbers)))


async def test_an_answer_made_while_nobody_was_there_is_said_when_somebody_is(served: Served) -> None:
    async with calling(served.voice) as before:
        conversation = (await before.hears("ready"))["data"]["conversation"]
        before.says("twelve-times-seven")
        await before.hears("turn")
        before.socket.transport.abort()
    await asyncio.sleep(3)
    async with calling(served.voice, start={"conversation": conversation}) as after:
        spoken = (await after.hears("spoken"))["data"]
    assert "84" in spoken["heard"]
    assert after.arrived


@pytest.mark.parametrize("grace_s", [0.0, 1.0])
async def test_a_client_that_is_killed_ends_its_call_in_time(house: House, grace_s: float) -> None:
    with serving(house, grace_s=grace_s) as served:
        command = [sys.executable, "-c", _CALLER, served.voice]
        caller = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: ASYNC220 - it begins at once
        assert caller.stdout is not None
        await asyncio.to_thread(caller.stdout.readline)
        assert len(_calls(served)) == 1
        caller.kill()
        killed = time.monotonic()
        await asyncio.to_thread(caller.wait)
        caller.stdout.close()
        while _calls(served):
            assert time.monotonic() - killed < grace_s + 2
            await asyncio.sleep(0.05)
        assert time.monotonic() - killed > grace_s


async def test_a_call_is_steered_from_outside(served: Served) -> None:
    async with calling(served.voice) as phone:
        call = (await phone.hears("ready"))["call"]
        steer = f"/api/calls/{call}"
        assert _shown(served, call)["attached"]
        assert (await _post(served, f"{steer}/mute")) == 204
        await phone.hears("muted", muted=True)
        assert _shown(served, call)["muted"]
        assert (
            await _post(served, f"{steer}/narrate", {"text": "Please hold the line, somebody will be with you."})
        ) == 204
        assert (await phone.hears("utterance"))["data"]["kind"] == "narration"
        assert (await _post(served, f"{steer}/interrupt")) == 204
        assert (await phone.hears("spoken"))["data"]["interrupted"]
        assert (await _post(served, f"{steer}/unmute")) == 204
        await phone.hears("muted", muted=False)
        answer = await asyncio.to_thread(served.ask, "DELETE", steer)
        assert answer.status == 204
        assert await phone.closed() == (1000, "ended")
        assert (await _post(served, f"{steer}/mute")) == 404


async def test_a_call_is_counted_and_recorded(house: House, tmp_path: Path) -> None:
    with serving(house, records=tmp_path, agent="agents.concierge:create") as served:
        async with calling(served.voice) as phone:
            phone.says("flights-for-two")
            await phone.hears("spoken")
            await phone.send("hangup")
            await phone.closed()
        counted = (await asyncio.to_thread(served.ask, "GET", "/metrics")).body
    _look_at_record(tmp_path)
    ended = 'voice_calls_ended_total{reason="hung_up"} 1.0'
    for line in ("voice_calls_started_total 1.0", ended, "voice_turns_total 1.0"):
        assert line in counted
    sent = re.search(r"voice_frame_lateness_seconds_count (\d+)", counted)
    assert sent is not None
    assert int(sent[1]) > 25


async def test_without_the_key_nobody_comes_in(house: House) -> None:
    with serving(house, key="open sesame") as served:
        for start in ({}, {"key": "open simsim"}):
            async with calling(served.voice, start=start) as phone:
                assert (await phone.closed())[0] == 4401
                assert phone.all("error")[0]["data"]["code"] == "unauthorized"
        async with calling(served.voice, start={"key": "open sesame"}) as phone:
            await phone.hears("ready")
        bearer = {"Authorization": "Bearer open sesame"}
        async with calling(served.voice, additional_headers=bearer) as phone:
            await phone.hears("ready")
        assert served.ask("GET", "/api/calls").status == 401
        assert served.ask("GET", "/api/calls", Authorization="Bearer open simsim").status == 401
        assert served.ask("GET", "/api/calls", **bearer).status == 200
        assert served.ask("GET", "/ready").status == 200


async def test_a_page_from_elsewhere_cannot_open_the_socket_of_a_server_without_key(served: Served) -> None:
    for headers in ({"Origin": "https://example.org"}, {"Host": "rebound.example.org"}):
        with pytest.raises(InvalidStatus) as refused:
            async with connect(served.voice, additional_headers=headers):
                pass
        assert refused.value.response.status_code == 403
    assert served.ask("GET", "/ready", Host="rebound.example.org").status == 403


async def test_the_readme_s_program_has_a_question_answered(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run the listing as a user would paste it."""
    listings = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    listing = next(code for code in listings if "/api/voice" in code)
    assert len(listing.splitlines()) <= 50
    scope: dict[str, Any] = {"__name__": "caller"}
    exec(compile(listing, "caller.py", "exec", dont_inherit=True), scope)
    answer = tmp_path / "answer.wav"
    async with asyncio.timeout(20):
        await scope["call"](served.voice, str(fixture("twelve-times-seven").path), str(answer))
    assert capsys.readouterr().out.splitlines() == [
        "caller: What is 12 times 7?",
        "agent:  12 times 7 is 84.",
        "ended: hung_up",
    ]
    voice = read_wav(answer)
    assert voice.duration > 1
    assert rms(voice.samples) > 0.01


async def test_on_sigterm_calls_are_told_and_the_server_goes(tmp_path: Path) -> None:
    environment = {**os.environ, "VOICE_DRAIN_S": "8", "VOICE_MODEL": "offline"}
    running = subprocess.Popen(  # noqa: ASYNC220 - it begins at once
        [Path(sys.executable).parent / "voice-server", "serve", "--port", "0"],
        stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert running.stderr is not None
    try:
        port = await asyncio.to_thread(_port, running.stderr)
        async with calling(f"ws://127.0.0.1:{port}/api/voice") as phone:
            await phone.hears("ready")
            running.send_signal(signal.SIGTERM)
            asked = time.monotonic()
            await asyncio.sleep(0.5)
            assert (await asyncio.to_thread(ask, port, "GET", "/ready")).status == 503
            async with calling(f"ws://127.0.0.1:{port}/api/voice") as late:
                assert (await late.closed())[0] == 1001
            phone.says("twelve-times-seven")
            await phone.hears("turn", 7)
            assert await phone.closed() == (1001, "draining")
            assert 7.5 < time.monotonic() - asked < 10
        assert await asyncio.to_thread(running.wait, 10) == 0
    finally:
        running.kill()
        running.wait()
        running.stderr.close()


def _port(said: IO[str]) -> int:
    """Read what a server says until it is ready."""
    for line in said:
        if ready := re.search(r"ready: http://127.0.0.1:(\d+)", line):
            return int(ready[1])
    raise AssertionError("it was never ready")


_CALLER = """
import json, sys, time
from websockets.sync.client import connect
socket = connect(sys.argv[1])
socket.send(json.dumps({"type": "start"}))
socket.recv()
print("ready", flush=True)
while True:
    socket.send(bytes(640))
    time.sleep(0.02)
"""


def _look_at_record(records: Path) -> None:
    (transcript,) = records.glob("*/transcript.txt")
    assert "What is the lead traveller's full name?" in transcript.read_text()
    assert read_wav(transcript.parent / "agent.wav").duration > 1
    report = json.loads((transcript.parent / "report.json").read_text())
    assert report["goals"]["program"] == "trip"
    assert [form["values"]["destination"] for form in report["forms"]] == ["Lisbon"]


def _calls(served: Served) -> list[Any]:
    calls: list[Any] = served.ask("GET", "/api/calls").body["calls"]
    return calls


def _shown(served: Served, call: str) -> Any:
    return next(shown for shown in _calls(served) if shown["id"] == call)


async def _post(served: Served, path: str, body: Any = None) -> int:
    answer = await asyncio.to_thread(served.ask, "POST", path, body)
    return answer.status
