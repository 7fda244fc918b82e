from __future__ import annotations

import json
import shutil
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import webvtt

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Frame
from pipelines.audio.wav import read_wav
from tests.voice_server.records.story import HEADING, NOTED, entries
from voice_server.errors import UsageError
from voice_server.records.folder import FILES
from voice_server.records.opened import open_record
from voice_server.records.scribe import Batch, Scribe


def _batches() -> Iterator[Batch]:
    """The story, an event at a time, with the sound and the probabilities of the time before each."""
    done_s = 0.0
    for entry in entries():
        batch = Batch(entries=[entry])
        if (more_s := entry.at_s - done_s) > 0:
            batch.caller.append((entry.at_s, Frame(np.full(round(more_s * HEARING_RATE), 500, np.int16), HEARING_RATE)))
            batch.agent.append((entry.at_s, Frame(np.full(round(more_s * 24_000), 900, np.int16), SPEAKING_RATE)))
            batch.speech.append((entry.at_s, 0.75))
        done_s = entry.at_s
        yield batch


def _seconds(path: Path) -> float:
    with wave.open(str(path), "rb") as file:
        return file.getnframes() / file.getframerate()


def test_killed_after_any_event_the_folder_holds_the_call_up_to_it(tmp_path: Path) -> None:
    place, killed = tmp_path / "live", tmp_path / "killed"
    place.mkdir()
    scribe = Scribe(place, HEADING)
    told = 0
    for batch in (Batch(), *_batches()):
        scribe.write(batch)
        told += len(batch.entries)
        shutil.copytree(place, killed)  # what a killed process leaves
        at_s = NOTED[told - 1][0] - 100.0 if told else 0.0
        record = open_record(killed)
        assert not record.complete
        assert len(record.trace.probabilities) == sum(1 for one in _batches() if one.speech) or told < len(NOTED)
        for side in ("caller.wav", "agent.wav"):
            assert _seconds(killed / side) == pytest.approx(at_s, abs=0.001)
        assert len(record.report.turns) == sum(event.type == "turn_committed" for _, event in NOTED[:told])
        _check_transcripts(killed)
        shutil.rmtree(killed)
    scribe.close()
    assert told == len(NOTED)


def _check_transcripts(place: Path) -> None:
    """They may be behind, but what is there is whole."""
    if (place / "report.json").exists():
        json.loads((place / "report.json").read_text())
        json.loads((place / "transcript.json").read_text())
        assert "What does it cost" in (place / "transcript.txt").read_text()
        assert webvtt.read(str(place / "transcript.vtt")).captions


def test_while_a_call_goes_on_its_transcript_is_never_far_behind(tmp_path: Path) -> None:
    scribe = Scribe(tmp_path, HEADING)
    for batch in _batches():
        scribe.write(batch)
    scribe.close()
    assert "Stop, not Ann." in (tmp_path / "transcript.vtt").read_text()
    assert json.loads((tmp_path / "report.json").read_text())["turns"][1]["caller"] == "Stop, not Ann."


def test_a_call_that_is_over_leaves_everything(tmp_path: Path) -> None:
    scribe = Scribe(tmp_path, HEADING)
    for batch in _batches():
        scribe.write(batch)
    report = scribe.finish(15.0)
    scribe.mix()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)
    assert json.loads((tmp_path / "report.json").read_text()) == json.loads(json.dumps(report.to_json()))
    assert (report.audio.seconds, report.audio.path) == (15.0, str(tmp_path / "agent.wav"))
    assert [_seconds(tmp_path / side) for side in ("caller.wav", "agent.wav", "call.wav")] == [15.0] * 3
    record = open_record(tmp_path)
    assert record.complete
    assert record.report.turns == report.turns
    assert record.report.utterances == report.utterances
    assert len(record.trace.caller) == 15 * HEARING_RATE
    assert max(record.trace.probabilities) == (12_000.0, 0.75)


def test_both_sides_of_a_call_can_be_listened_to_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice_server.records.scribe._BLOCK_S", 1)
    scribe = Scribe(tmp_path, HEADING)
    tone = (8_000 * np.sin(np.arange(4 * HEARING_RATE) / 5)).astype(np.int16)
    scribe.write(
        Batch(
            caller=[(4.0, Frame(tone, HEARING_RATE))],
            agent=[(1.5, Frame(np.full(SPEAKING_RATE, 1_000, np.int16), SPEAKING_RATE))],
        )
    )
    scribe.finish(4.0)
    scribe.mix()
    both = read_wav(tmp_path / "call.wav").samples
    assert len(both) == 4 * SPEAKING_RATE
    assert abs(float(both[15_000:33_000].mean()) - 1_000) < 50
    assert abs(float(both[40_000:90_000].mean())) < 50
    assert both.max() > 8_500
    # Nothing is lost or doubled where blocks meet: the caller's tone goes on in phase.
    wanted = 8_000 * np.sin(np.arange(4 * SPEAKING_RATE) / SPEAKING_RATE * HEARING_RATE / 5)
    assert np.abs(both[40_000:95_000] - wanted[40_000:95_000]).max() < 400


def test_of_an_earlier_record_nothing_is_left(tmp_path: Path) -> None:
    for name in (*FILES, "mine.txt"):
        (tmp_path / name).write_text("earlier")
    scribe = Scribe(tmp_path, HEADING)
    scribe.close()
    assert not (tmp_path / "call.wav").exists()
    assert not (tmp_path / "report.json").exists()
    assert (tmp_path / "mine.txt").read_text() == "earlier"


@pytest.mark.parametrize("name", ["caller.wav", "agent.wav", "speech.csv"])
def test_what_is_missing_of_a_record_is_left_out(tmp_path: Path, name: str) -> None:
    scribe = Scribe(tmp_path, HEADING)
    for batch in _batches():
        scribe.write(batch)
    scribe.finish(15.0)
    (tmp_path / name).unlink()
    assert len(open_record(tmp_path).report.turns) == 2


def test_damaged_probabilities_are_left_out(tmp_path: Path) -> None:
    Scribe(tmp_path, HEADING).close()
    (tmp_path / "speech.csv").write_bytes(
        b"t_ms,probability\n32,0.5\nnonsense\n64,7\n-1,0.5\ninf,1\n\xff\n96,0.25\n128,0."
    )
    assert open_record(tmp_path).trace.probabilities == [(32.0, 0.5), (96.0, 0.25)]


def test_what_is_no_record_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is no record of a call: it has no events\.jsonl"):
        open_record(tmp_path / "nowhere")
    (tmp_path / "events.jsonl").write_text('{"v":1}\n')
    with pytest.raises(UsageError, match=r"events\.jsonl' cannot be used: its line 1 is no event"):
        open_record(tmp_path)
    (tmp_path / "events.jsonl").unlink()
    (tmp_path / "events.jsonl").mkdir()
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        open_record(tmp_path)
