from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.clock import VirtualClock
from tests.bench.peers import driver, trial
from tests.bench.peers.environments import EnvironmentMissingError, Peer
from tests.bench.peers.ours import Ours
from tests.bench.peers.sink import FRAME_S, Sink
from tests.bench.peers.trial import Outcome, Trial
from tests.bench.peers.vendors import LATENCY_S, RATE, seconds_of, speak, think
from tests.fixtures.human import MissingPackageError

FRAME = round(RATE * FRAME_S)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("prompts")
    try:
        driver.write_prompts(driver.callers(), folder)
    except MissingPackageError as missing:
        pytest.skip(str(missing))
    return str(folder)


def test_our_side_answers_and_falls_silent_and_loses_no_turn(recordings: str) -> None:
    asked = replace(driver.TURNS, prompts=recordings, calls=2, warm_up_s=1.0, measured_s=60.0)
    outcome = VirtualClock().run(trial.put_to(asked, Ours))
    assert len(outcome.overhead_s) == len(outcome.after_s) >= 10
    assert len(outcome.silent_s) >= 10
    assert outcome.lost == 0
    assert all(0 < overhead_s < 0.2 for overhead_s in outcome.overhead_s)
    assert all(0 < silent_s < 0.1 for silent_s in outcome.silent_s)
    assert outcome.lateness_s == [pytest.approx(0, abs=1e-6)] * 4, "on virtual time nothing is late"


@pytest.mark.realtime
def test_our_side_runs_as_the_driver_runs_it(recordings: str) -> None:
    asked = replace(driver.LOAD, prompts=recordings, calls=4, warm_up_s=1.0, measured_s=2.0)
    outcome = driver.run(driver.OURS, asked)
    assert outcome.lost == 0
    assert len(outcome.lateness_s) == 4
    assert 0 < outcome.cpu < 1


def test_what_was_seen_is_told_beside_the_others(recordings: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where 40 calls of ours and 20 of theirs are on time, and everything of theirs takes twice."""
    asked: list[tuple[str, int]] = []

    def run(system: driver.System, asked_for: Trial) -> Outcome:
        ours = system is driver.OURS
        if asked_for.trial == "load":
            asked.append((system.name, asked_for.calls))
        late_s = 0.001 if asked_for.calls <= (40 if ours else 20) else 0.2
        seen = 0.01 if ours else 0.02
        return Outcome(
            overhead_s=[seen, seen], after_s=[seen], silent_s=[seen], lateness_s=[late_s] * 4, cpu=seen, call_kb=100
        )

    monkeypatch.setattr(driver, "run", run)
    monkeypatch.setattr(Peer, "prepare", lambda peer: None)
    here = [replace(system, interpreter=driver.OURS.interpreter, imports=("json",)) for system in driver.SYSTEMS[1:]]
    monkeypatch.setattr(driver, "SYSTEMS", (driver.OURS, *here))
    told = {figure.what: figure for figure in driver.figures()}
    assert sorted(asked) == [
        ("LiveKit Agents", 16),
        ("LiveKit Agents", 24),
        ("Pipecat", 12),
        ("Pipecat", 16),
        ("ours", 32),
        ("ours", 48),
    ]
    assert told["calls in one process"].measured == "32"
    assert told["calls in one process"].good is False, "it is ahead, and short of the aim"
    assert "LiveKit Agents 16 (0.5 ×), Pipecat 16 (0.5 ×)" in told["calls in one process"].how
    overhead = told["overhead, as it comes, p50"]
    assert (overhead.measured, overhead.good) == ("10 ms", True)
    assert "LiveKit Agents 20 ms (2.0 ×), Pipecat 20 ms (2.0 ×)" in overhead.how


def test_a_sink_says_how_late_each_frame_was() -> None:
    async def story() -> tuple[list[float], bool]:
        sink = Sink()
        sink.play(2 * FRAME)
        await asyncio.sleep(2 * FRAME_S + 0.03)  # the third frame comes 30 ms after it was due
        sink.play(FRAME)
        return sink.lateness, sink.playing

    lateness, playing = VirtualClock().run(story())
    assert lateness == [0.0, pytest.approx(0.0), pytest.approx(0.03)]
    assert not playing, "it should have been over by now"


def test_a_sink_falls_silent_at_once_and_goes_on_where_it_was() -> None:
    async def story() -> None:
        sink = Sink()
        dry: list[float] = []
        sink.play(4 * FRAME)
        await asyncio.sleep(0.03)
        sink.pause()
        assert sink.stopped_at == pytest.approx(0.03)
        await asyncio.sleep(1)
        assert sink.played == 2 * FRAME
        sink.when_dry(lambda: dry.append(asyncio.get_running_loop().time()))
        sink.resume()
        await asyncio.sleep(1)
        assert dry == [pytest.approx(1.03 + 2 * FRAME_S)]
        sink.play(FRAME)
        sink.clear()
        assert not sink.playing

    VirtualClock().run(story())


def test_the_vendors_take_their_time_and_no_more() -> None:
    async def story() -> None:
        loop = asyncio.get_running_loop()
        tokens = [(loop.time(), token) async for token in think("It is noon.")]
        assert [token for _, token in tokens] == ["It ", "is ", "noon."]
        assert [at for at, _ in tokens] == [pytest.approx(at) for at in (0.1, 0.105, 0.11)]
        began = loop.time()
        chunks = [(loop.time() - began, len(chunk) / 2 / RATE) async for chunk in speak("It is noon.")]
        assert chunks[0][0] == pytest.approx(LATENCY_S - 0.1)
        assert sum(seconds for _, seconds in chunks) == pytest.approx(seconds_of("It is noon."), abs=1e-3)

    VirtualClock().run(story())


def test_a_peer_that_cannot_be_had_is_refused_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("UV_OFFLINE", "1")
    peer = Peer(name="Nobody", module="nobody", requirements=("no-such-thing-at-all==1.0",), imports=())
    with pytest.raises(EnvironmentMissingError, match=r"Nobody \(no-such-thing-at-all==1.0\) cannot be installed: .*"):
        peer.prepare()
    assert not peer.ready
