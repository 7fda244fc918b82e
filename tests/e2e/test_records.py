"""Records, of real calls by the installed command: what is in the folder, and what is when the process is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import wave
from pathlib import Path

import pytest
import webvtt

from tests.e2e.stage import heard_by
from tests.e2e.test_command import ROOT, voice_server
from tests.fixtures.catalogue import fixture
from tests.fixtures.wer import normalised
from voice_server.records.folder import FILES
from voice_server.records.opened import open_record


def test_a_recorded_call_has_both_voices_captions_and_a_picture(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = voice_server(
        *("turn", fixture("what-can-you-do").path, f"{fixture('stop-tell-me-the-time').path}@+3.0", "--out", out),
        *("--agent", "agents.desk:create"),
        folder=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES)
    record = open_record(out)
    assert record.complete
    cues = webvtt.read(str(out / "transcript.vtt")).captions
    for cue in cues:
        samples, rate = (record.trace.agent, 24_000) if cue.voice == "Agent" else (record.trace.caller, 16_000)
        part = samples[round(cue.start_in_seconds * rate) : round(cue.end_in_seconds * rate)]
        assert part.any(), f"{cue.voice} is silent while {cue.text!r} is shown"
    asked, answered = cues[0], cues[1]
    question = record.trace.caller[: round((asked.end_in_seconds + 0.3) * 16_000)]
    assert normalised(heard_by(question, 16_000)) == normalised(asked.text)
    answer = record.trace.agent[round(answered.start_in_seconds * 24_000) : round(answered.end_in_seconds * 24_000)]
    assert normalised(heard_by(answer))[:4] == normalised(answered.text)[:4]
    picture = voice_server("picture", out, folder=tmp_path)
    assert (picture.returncode, picture.stdout) == (0, f"written: {out / 'picture.png'}\n")
    assert (out / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.realtime
def test_a_call_that_is_killed_in_the_middle_of_a_word_can_be_heard_read_and_drawn(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [Path(sys.executable).with_name("voice-server"), "turn", fixture("what-can-you-do").path]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VOICE_MODEL": "offline", "VOICE_AGENT": "agents.desk:create"}
    with subprocess.Popen(
        [str(part) for part in (*command, "--realtime-clock", "--out", out)], env=environment, cwd=tmp_path
    ) as process:
        journal = out / "events.jsonl"
        while not (journal.exists() and '"heard":"I am the front desk' in journal.read_text(errors="replace")):
            with pytest.raises(subprocess.TimeoutExpired):  # else the call ended before it could be killed
                process.wait(0.1)
        process.kill()
    record = open_record(out)
    assert not record.complete
    assert [normalised(turn.caller) for turn in record.report.turns] == [normalised("what can you do for me")]
    for side in ("caller.wav", "agent.wav"):
        with wave.open(str(out / side), "rb") as file:
            assert file.getnframes() > file.getframerate()
    assert normalised(heard_by(record.trace.agent))[:4] == normalised("I am the front")
    picture = voice_server("picture", out, "--out", tmp_path / "killed.svg", folder=tmp_path)
    assert (picture.returncode, picture.stderr) == (0, "")
    assert (tmp_path / "killed.svg").stat().st_size > 10_000
