"""The installed command itself: exit status, what it prints, what it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.e2e.stage import heard_by
from tests.e2e.test_answers import CONTRACT, assert_fits
from tests.fixtures.catalogue import fixture
from tests.fixtures.wer import normalised
from voice_server.records.opened import open_record

ROOT = Path(__file__).parents[2]


def voice_server(*arguments: str | Path, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it in a folder of its own, with the tests importable for its agents and engines."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VOICE_", "OPENAI_"))}
    environment = {**kept, "PYTHONPATH": str(ROOT), "VOICE_MODEL": "offline", **variables}
    command = [Path(sys.executable).with_name("voice-server"), *arguments]
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_barge_in_by_the_command_gives_the_report_the_audio_the_transcript_and_the_picture(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = voice_server(
        *("turn", fixture("what-can-you-do").path, f"{fixture('flights-for-two').path}@+3.0"),
        *("--json", "--out", out, "--plot", out / "turn.png"),
        folder=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    report: dict[str, Any] = json.loads(done.stdout)
    assert_fits(report, CONTRACT)
    assert report["agent"] == "agents.concierge:create"
    first, second = report["turns"]
    assert first["interrupted"] is True
    assert [tool["name"] for tool in second["tools"]][-1] == "glove_form_fill"
    assert {tool["status"] for tool in second["tools"]} == {"success"}
    (form,) = report["forms"]
    assert (form["id"], form["status"], form["values"]["destination"]) == ("trip-booking", "active", "Lisbon")
    assert (report["goals"]["program"], report["goals"]["status"]) == ("trip", "active")
    assert json.loads((out / "report.json").read_text()) == report
    kept = open_record(out).report
    assert json.loads(json.dumps([kept.goals, kept.forms])) == [report["goals"], report["forms"]]
    assert report["audio"]["path"] == str(out / "agent.wav")
    with wave.open(str(out / "agent.wav"), "rb") as written:
        assert (written.getnchannels(), written.getsampwidth(), written.getframerate()) == (1, 2, 24_000)
        assert written.getnframes() / 24_000 == pytest.approx(report["audio"]["seconds"], abs=0.001)
    assert second["agent"].strip() in (out / "transcript.txt").read_text().replace("\n", " ").replace("  ", " ")
    assert (out / "turn.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_runs_a_users_agent_and_engines_and_prints_the_conversation(tmp_path: Path) -> None:
    done = voice_server(
        *("turn", fixture("what-time-is-it").path, "--agent", "tests.e2e.agents:echo", "--out", tmp_path),
        *("--stt", "tests.e2e.faults:deaf_once", "--tts", "hibari", "--output", "late"),
        folder=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "What time is it?" in done.stdout
    assert "You said What time is it?" in done.stdout
    with wave.open(str(tmp_path / "agent.wav"), "rb") as written:
        said = np.frombuffer(written.readframes(written.getnframes()), "<i2")
    assert normalised(heard_by(said)) == normalised("you said what time is it")


def test_a_silent_recogniser_is_named_on_the_command_line(tmp_path: Path) -> None:
    done = voice_server("turn", fixture("near-speech").path, "--stt", "silent", "--json", folder=tmp_path)
    report = json.loads(done.stdout)
    assert (done.returncode, report["stt"], report["turns"]) == (0, "silent", [])
    assert [utterance["kind"] for utterance in report["utterances"]] == ["apology"]


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "empty"), (fixture("yes").path.read_bytes()[:9_000], "truncated"), (b"ID3 no wave at all", "not a WAV")],
)
def test_a_recording_that_cannot_be_used_is_one_sentence_and_status_2(
    tmp_path: Path, content: bytes, says: str
) -> None:
    (tmp_path / "caller.wav").write_bytes(content)
    done = voice_server("turn", "caller.wav", "--out", "out", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("voice-server: ")
    assert done.stderr.count("\n") == 1
    assert "caller.wav" in done.stderr
    assert says in done.stderr


@pytest.mark.parametrize(("option", "value"), [("--stt", "nix"), ("--tts", "no.such:engine"), ("--model", "nix")])
def test_an_unknown_engine_or_model_is_one_sentence_and_status_2(tmp_path: Path, option: str, value: str) -> None:
    done = voice_server("turn", fixture("yes").path, option, value, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert value.partition(":")[0].partition(".")[0] in done.stderr
