from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from livekit.api import TokenVerifier

from pipelines.audio.wav import WavError
from pipelines.engines import EngineError, EngineKind
from pipelines.responder import ExpectationKind
from pipelines.trace import Trace
from tests.voice_server.test_report import REPORT
from voice_server import turn
from voice_server.cli import main
from voice_server.errors import UsageError
from voice_server.options import OutputKind, TurnOptions
from voice_server.report import TurnReport


class _Run:
    """Stands where a call is held: keeps what was asked and says what it is told to."""

    def __init__(self) -> None:
        self.options: TurnOptions | None = None
        self.error: BaseException | None = None

    def __call__(self, options: TurnOptions, trace: Trace) -> TurnReport:
        self.options = options
        if self.error is not None:
            raise self.error
        return REPORT


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> _Run:
    for name in ("VOICE_STT", "VOICE_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    stand_in = _Run()
    monkeypatch.setattr(turn, "run", stand_in)
    return stand_in


def test_every_option_reaches_the_call(run: _Run) -> None:
    arguments = (
        "turn a.wav b.wav@+1.2 --agent m:f --stt s --tts t --vad v --model ollama:x --output late --expect digits:9 "
        "--conversation c-1 --database sqlite:///calls.db --realtime-clock"
    )
    status = main(shlex.split(arguments))
    assert status == 0
    options = run.options
    assert options is not None
    assert [(str(one.path), one.after_s) for one in options.recordings] == [("a.wav", None), ("b.wav", 1.2)]
    settings = options.settings
    assert (settings.agent, settings.stt, settings.tts, settings.vad) == ("m:f", "s", "t", "v")
    assert (settings.model, settings.database) == ("ollama:x", "sqlite:///calls.db")
    assert (options.output, options.conversation, options.realtime) == (OutputKind.LATE, "c-1", True)
    assert options.expects is not None
    assert (options.expects.kind, options.expects.length) == (ExpectationKind.DIGITS, 9)


def test_the_environment_decides_where_the_command_line_is_silent(run: _Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_STT", "mine:make")
    assert main(["turn", "a.wav"]) == 0
    assert run.options is not None
    assert run.options.settings.stt == "mine:make"
    assert run.options.settings.model == "offline"
    assert (run.options.output, run.options.realtime) == (OutputKind.PAUSING, False)


def test_json_is_one_object_and_nothing_else(run: _Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["turn", "a.wav", "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out)["turns"][0]["caller"] == "What time is it?"


def test_without_json_the_conversation_is_told(run: _Run, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["turn", "a.wav", "--plot", str(tmp_path / "turn.svg")]) == 0
    out = capsys.readouterr().out
    assert "caller  What time is it?" in out
    assert f"written: {REPORT.audio.path}\nwritten: {tmp_path / 'turn.svg'}\n" in out


def test_a_folder_for_the_record_is_made_and_reaches_the_call(run: _Run, tmp_path: Path) -> None:
    assert main(["turn", "a.wav", "--out", str(tmp_path / "new" / "out")]) == 0
    assert run.options is not None
    assert run.options.out == tmp_path / "new" / "out"
    assert list(run.options.out.iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [
        WavError("a.wav", "is empty", "record it again"),
        EngineError(EngineKind.STT, "nix", "not known; use whisper"),
    ],
)
def test_a_users_mistake_is_one_sentence_and_status_2(
    run: _Run, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    run.error = error
    assert main(["turn", "a.wav"]) == 2
    captured = capsys.readouterr()
    assert captured.err == f"voice-server: {error}\n"
    assert captured.out == ""


def test_what_an_earlier_run_wrote_stays_when_a_call_never_begins(run: _Run, tmp_path: Path) -> None:
    (tmp_path / "agent.wav").write_text("kept")
    run.error = UsageError("no such agent")
    assert main(["turn", "a.wav", "--out", str(tmp_path)]) == 2
    assert (tmp_path / "agent.wav").read_text() == "kept"


def test_ctrl_c_leaves_without_a_traceback(run: _Run) -> None:
    run.error = KeyboardInterrupt()
    assert main(["turn", "a.wav"]) == 130


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "the following arguments are required: COMMAND; see `voice-server --help`"),
        (["dance"], "invalid choice: 'dance'"),
        (["turn"], "WAV[@+SECONDS]; see `voice-server turn --help`"),
        (["turn", "a.wav", "--loud"], "unrecognized arguments: --loud"),
        (["turn", "a.wav", "--output", "tape"], "invalid choice: 'tape'"),
        (["turn", "a.wav", "--pipeline", "x"], "invalid choice: 'x'"),
        (["turn", "a.wav@+soon"], "stand seconds from 0 to 600"),
        (["turn", "a.wav", "--expect", "miracles"], "--expect 'miracles'"),
        (["turn", "a.wav", "--conversation", "a b"], "--conversation 'a b'"),
        (["turn", "a.wav", "--database", "calls.db"], "'calls.db' is no database URL; write sqlite:///calls.db"),
        (["turn", "a.wav", "--database", "sqlite:///a.wav"], "sqlite:///a.wav is no SQLite database; it was left"),
        (["turn", "a.wav", "--plot", "turn.gif"], "--plot 'turn.gif': the name ends in none of .png, .svg, .pdf"),
        (["turn", "a.wav", "--out", "a.wav/out"], "--out 'a.wav/out': cannot write there (Not a directory)"),
        (["turn", "a.wav", "--plot", "a.wav/x.png"], "--plot 'a.wav': cannot write there"),
        (["picture", "."], "'.' is no record of a call: it has no events.jsonl"),
        (["picture", "a.wav"], "'a.wav' is no record of a call"),
        (["picture", ".", "--out", "x.gif"], "--out 'x.gif': the name ends in none of"),
        (["picture", ".", "--from", "soon"], "argument --from: invalid"),
        (["picture", ".", "--to", "nan"], "argument --to: invalid"),
        (["token", "lobby"], "LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET are not set; `make livekit`"),
        (["turn", "a.wav", "--agent", "nobody"], "agent 'nobody' is not of the form module:factory"),
        (["turn", "a.wav", "--agent", "no.such:thing"], "there is no module 'no'"),
    ],
)
def test_bad_input_is_one_sentence_naming_the_thing(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.wav").write_bytes((Path(__file__).parents[1] / "fixtures/audio/yes.wav").read_bytes())
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"):
        monkeypatch.delenv(name, raising=False)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.startswith("voice-server: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("command", [[], ["turn"], ["picture"], ["token"], ["doctor"]])
def test_help_teaches(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*command, "--help"])
    assert caught.value.code == 0
    assert "voice-server" in capsys.readouterr().out


@pytest.fixture
def livekit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEKIT_URL", "http://127.0.0.1:7880")
    monkeypatch.setenv("LIVEKIT_API_KEY", "devkey")
    monkeypatch.setenv("LIVEKIT_API_SECRET", "a-secret-of-more-than-32-characters")


def test_a_token_names_the_room_the_caller_and_the_conversation(
    livekit: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split("token lobby --identity ann --conversation ann-7")) == 0
    claims = TokenVerifier("devkey", "a-secret-of-more-than-32-characters").verify(capsys.readouterr().out.strip())
    assert claims.video is not None
    assert (claims.video.room, claims.identity) == ("lobby", "ann")
    assert claims.attributes == {"glove.conversation": "ann-7"}
    assert main(shlex.split("token lobby --json")) == 0
    ticket = json.loads(capsys.readouterr().out)
    assert (ticket["server_url"], ticket["room_name"], ticket["lasts_s"]) == ("ws://127.0.0.1:7880", "lobby", 600.0)
    assert ticket["participant_identity"].startswith("caller-")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["token", "lob by"], "room 'lob by': a name is 1 to 128 letters"),
        (["token", "lobby", "--identity", "agent"], "identity 'agent' is an agent's"),
        (["token", "lobby", "--conversation", "a b"], "--conversation 'a b': an id is"),
    ],
)
def test_a_token_that_cannot_be_is_one_sentence(
    livekit: None, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.out == ""


def test_the_doctor_exits_1_when_a_turn_cannot_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOICE_STT", "nix")
    monkeypatch.setenv("VOICE_TTS", "nix")
    assert main(["doctor", "--json"]) == 1
    diagnosis = json.loads(capsys.readouterr().out)
    assert diagnosis["fit"] is False
    assert {check["name"] for check in diagnosis["checks"] if check["finding"] == "bad"} >= {"stt", "tts"}


def test_an_agent_is_found_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "my_agent.py").write_text("def create(*args, **kwargs):\n    raise RuntimeError('found me')\n")
    wav = Path(__file__).parents[1] / "fixtures/audio/yes.wav"
    command = [Path(sys.executable).with_name("voice-server"), "turn", wav, "--agent", "my_agent:create"]
    done = subprocess.run(
        [*map(str, command), "--model", "offline"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert (
        done.stderr
        == "voice-server: agent 'my_agent:create': its factory raised RuntimeError: found me; mend the factory\n"
    )


def test_a_reader_that_goes_away_is_no_fault() -> None:
    silent = "pipelines.stt.silent:Silent"
    environment = {**os.environ, "VOICE_STT": silent, "VOICE_TTS": silent, "VOICE_MODEL": "offline"}
    command = [str(Path(sys.executable).with_name("voice-server")), "doctor"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, env=environment, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 0
