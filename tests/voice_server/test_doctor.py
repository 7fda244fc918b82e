from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from tests.livekit.program import VERSION
from tests.livekit.server import LiveKitServer
from tests.realtime.gemini_service.service import GeminiService
from tests.realtime.mind import ScriptedMind
from voice_server.doctor import Check, Diagnosis, Finding, examine
from voice_server.settings import Settings
from voice_server.transcript import Ink

SECRET = "sk-never-show-this"

_LIGHT = {"stt": "silent", "tts": "pipelines.stt.silent:Silent", "model": "offline"}
"""Engines that load at once, where it does not matter which."""


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "GEMINI_API_KEY",
        "ANTHROPIC_API_KEY",
        "LIVEKIT_URL",
        "LIVEKIT_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)


def _check(name: str, **settings: Any) -> Check:
    diagnosis = examine(Settings.model_validate({**_LIGHT, **settings}))
    return next(check for check in diagnosis.checks if check.name == name)


@pytest.mark.parametrize(
    ("settings", "finding", "detail"),
    [
        ({}, Finding.GOOD, "is free, for this machine only"),
        ({"key": SECRET}, Finding.GOOD, "is free, for all who have the key"),
        ({"host": "0.0.0.0"}, Finding.NOTE, "a server without a key listens on this machine only"),
        ({"host": "203.0.113.1", "key": SECRET}, Finding.NOTE, "this machine has no such address"),
        ({"host": "no.such.host.invalid", "key": SECRET}, Finding.NOTE, "--host no.such.host.invalid"),
    ],
)
def test_where_the_server_would_listen_is_tried(settings: dict[str, str], finding: Finding, detail: str) -> None:
    check = _check("server", **{"port": "0", **settings})
    assert (check.finding, detail in check.detail) == (finding, True)
    assert SECRET not in f"{check}"


def test_a_port_that_is_taken_is_named_with_the_fix() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        check = _check("server", port=str(taken.getsockname()[1]))
    assert check.finding is Finding.NOTE
    assert "is taken by another program" in check.detail
    assert "--port" in check.fix


def test_without_a_speech_to_speech_model_nothing_is_wrong() -> None:
    assert _check("s2s").finding is Finding.GOOD


def test_the_realtime_pipeline_needs_a_provider_with_its_key_and_no_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = _check("s2s", pipeline="realtime")
    assert missing.finding is Finding.BAD
    assert "OPENAI_API_KEY" in missing.fix
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    found = _check("s2s", pipeline="realtime")
    assert (found.finding, "openai:" in found.detail) == (Finding.GOOD, True)
    assert SECRET not in f"{found}"
    assert _check("stt", pipeline="realtime", stt="nix").finding is Finding.GOOD
    voiceless = _check("tts", pipeline="realtime", tts="nix")
    assert (voiceless.finding, "only narrations" in voiceless.detail) == (Finding.NOTE, True)


def test_without_a_livekit_server_nothing_is_wrong() -> None:
    check = _check("livekit")
    assert (check.finding, check.fix) == (Finding.GOOD, "")


@pytest.mark.room
def test_a_livekit_server_says_its_version(livekit_server: LiveKitServer) -> None:
    check = _check("livekit", **livekit_server.settings)
    assert check.finding is Finding.GOOD
    assert check.detail == f"{VERSION} at {livekit_server.url}, takes our key"


@pytest.mark.room
@pytest.mark.parametrize(
    ("wrong", "detail", "fix"),
    [
        ({"livekit_api_secret": SECRET * 2}, "does not take our key", "set LIVEKIT_API_KEY and LIVEKIT_API_SECRET"),
        ({"livekit_api_key": "nobody"}, "does not take our key", "set LIVEKIT_API_KEY and LIVEKIT_API_SECRET"),
        ({"livekit_api_key": None}, "LIVEKIT_API_KEY is not set", "says to what"),
        ({"livekit_url": "ws://127.0.0.1:1"}, "does not answer (ConnectionRefusedError)", "set LIVEKIT_URL"),
        ({"livekit_url": "ws://nowhere.invalid"}, "does not answer", "set LIVEKIT_URL"),
    ],
)
def test_what_is_wrong_with_a_livekit_server_is_named_with_its_fix(
    livekit_server: LiveKitServer, wrong: dict[str, Any], detail: str, fix: str
) -> None:
    check = _check("livekit", **{**livekit_server.settings, **wrong})
    assert check.finding is Finding.NOTE
    assert detail in check.detail
    assert fix in check.fix
    assert SECRET not in f"{check}"


@pytest.mark.room
def test_what_is_no_livekit_server_is_told_from_one(livekit_server: LiveKitServer) -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.handle_request).start()
        url = f"ws://127.0.0.1:{other.server_port}"
        check = _check("livekit", **{**livekit_server.settings, "livekit_url": url})
    assert check.finding is Finding.NOTE
    assert "does not answer as a LiveKit server" in check.detail


@pytest.mark.engine
def test_a_machine_with_everything_is_fit() -> None:
    diagnosis = examine(Settings.model_validate({"model": "offline"}))
    assert diagnosis.fit, diagnosis.render(Ink())
    assert {"python", "package", "vad", "stt", "tts", "agent", "model"} <= {check.name for check in diagnosis.checks}


@pytest.mark.parametrize(
    ("name", "settings", "detail", "fix"),
    [
        ("vad", {"vad": "nix"}, "nix: not known", "silero"),
        ("stt", {"stt": "nix"}, "nix: not known", "whisper"),
        ("tts", {"tts": "no_such_module:make"}, "'no_such_module' is not installed", "check the name"),
        ("agent", {"agent": "no_such_module:create"}, "there is no module 'no_such_module'", ""),
        ("database", {"database": "calls.db"}, "'calls.db' is no database URL", "sqlite:///calls.db"),
        ("database", {"database": "sqlite:////nowhere/calls.db"}, "cannot be opened", "its folder has to exist"),
        (
            "database",
            {"database": f"postgresql://me:{SECRET}@127.0.0.1:1/x"},
            "127.0.0.1:1/x cannot be reached",
            "start",
        ),
        ("model", {"model": "nix"}, "there is no model 'nix'", "offline"),
        ("model", {"model": "openai:gpt"}, "needs a key", "OPENAI_API_KEY"),
    ],
)
def test_what_is_wrong_is_named_with_its_fix(name: str, settings: dict[str, str], detail: str, fix: str) -> None:
    check = _check(name, **settings)
    assert check.finding is Finding.BAD
    assert detail in check.detail
    assert fix in check.fix or fix in check.detail
    assert SECRET not in check.detail + check.fix


def test_a_database_is_opened_and_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/calls.db"
    check = _check("database", database=url)
    assert (check.finding, check.detail) == (Finding.GOOD, f"{url} opens")
    assert _check("database").finding is Finding.GOOD


def test_a_model_server_is_knocked_at_and_the_key_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://user:{SECRET}@127.0.0.1:{port}/v1")
        check = _check("model", model="openai:gpt")
    assert check.finding is Finding.GOOD
    assert f"127.0.0.1:{port} answers" in check.detail
    gone = _check("model", model="openai:gpt")
    assert gone.finding is Finding.BAD
    assert "OPENAI_BASE_URL" in gone.fix
    assert SECRET not in f"{check}{gone}"


@pytest.mark.parametrize("address", ["nonsense", "http://", "http://host:99999/v1"])
def test_an_address_that_is_none_is_said_to_be_none(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    check = _check("model", model="openai:gpt")
    assert check.finding is Finding.BAD
    assert "OPENAI_BASE_URL is no address" in check.detail


def test_a_package_that_claims_our_name_is_pointed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0.9" if name == "openai-agents" else version(name))
    check = _check("package")
    assert check.finding is Finding.NOTE
    assert "openai-agents 0.9" in check.detail
    assert "pip uninstall openai-agents" in check.fix


def test_a_note_does_not_make_a_machine_unfit_and_a_fault_does() -> None:
    note = Check(name="picture", finding=Finding.NOTE, detail="missing", fix="install it")
    fault = Check(name="stt", finding=Finding.BAD, detail="missing", fix="install it")
    assert Diagnosis(checks=(note,)).fit
    assert not Diagnosis(checks=(note, fault)).fit
    text = Diagnosis(checks=(note, fault)).render(Ink())
    assert "→ install it" in text
    assert "cannot run yet" in text
    assert json.loads(json.dumps(Diagnosis(checks=(fault,)).to_json())) == {
        "v": 1,
        "fit": False,
        "checks": [{"name": "stt", "finding": "bad", "detail": "missing", "fix": "install it"}],
    }


async def test_the_live_models_of_a_gemini_key_are_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async with GeminiService(ScriptedMind()) as service:
        (der,) = service.trust.get_ca_certs(binary_form=True)
        (tmp_path / "trusted.pem").write_text(ssl.DER_cert_to_PEM_cert(der))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
        monkeypatch.setenv("GEMINI_API_KEY", service.key)
        monkeypatch.setenv("GEMINI_BASE_URL", service.url)

        def examined(**settings: str) -> Check:
            return _check("s2s", pipeline="realtime", s2s_provider="gemini", **settings)

        found = await asyncio.to_thread(examined)
        assert (found.finding, "gemini-3.8-live" in found.detail) == (Finding.GOOD, True)
        unknown = await asyncio.to_thread(examined, s2s_model="gemini-of-old")
        assert unknown.finding is Finding.BAD
        assert "gemini-of-old is not among this key's live models" in unknown.detail
        monkeypatch.setenv("GEMINI_API_KEY", SECRET)
        refused = await asyncio.to_thread(examined)
        assert refused.finding is Finding.BAD
        assert SECRET not in f"{refused}"
