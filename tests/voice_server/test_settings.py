from __future__ import annotations

import pytest
from pydantic import ValidationError

from agents.models.providers import PROVIDERS
from voice_server.errors import UsageError
from voice_server.settings import Settings, load_settings, settings_table, variable


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(variable(name), raising=False)


def test_the_environment_is_read_and_the_command_line_lies_on_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_STT", "from-environment")
    monkeypatch.setenv("VOICE_TTS", "from-environment")
    monkeypatch.setenv("VOICE_ENDPOINTING_FLOOR_MS", "250")
    settings = load_settings(stt="from-command-line", tts=None)
    assert (settings.stt, settings.tts, settings.endpointing_floor_ms) == ("from-command-line", "from-environment", 250)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("VOICE_ENDPOINTING_FLOOR_MS", "soon"),
        ("VOICE_ENDPOINTING_FLOOR_MS", "-1"),
        ("VOICE_ENDPOINTING_CEILING_MS", "100"),
        ("VOICE_LOG_LEVEL", "loud"),
        ("VOICE_PIPELINE", "garden-hose"),
        ("VOICE_GATING", "iron"),
        ("VOICE_TURN_TAKING", "never"),
        ("VOICE_LIVEKIT_SUMMONS", "hoped"),
        ("LIVEKIT_URL", "127.0.0.1:7880"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=variable) as caught:
        load_settings()
    assert value in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("variable", ["VOICE_KEY", "LIVEKIT_API_SECRET"])
def test_a_secret_is_not_quoted(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "")
    with pytest.raises(UsageError, match=f"{variable} is not to be shown"):
        load_settings()


def test_livekit_s_variables_have_the_names_its_own_tools_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEKIT_URL", "wss://rooms.example")
    monkeypatch.setenv("LIVEKIT_API_KEY", "key")
    monkeypatch.setenv("LIVEKIT_API_SECRET", "a secret")
    settings = load_settings()
    assert (settings.livekit_url, settings.livekit_api_key) == ("wss://rooms.example", "key")
    assert settings.livekit_api_secret is not None
    assert settings.livekit_api_secret.get_secret_value() == "a secret"
    assert "a secret" not in repr(settings)


def test_settings_do_not_change_under_a_call() -> None:
    with pytest.raises(ValidationError):
        load_settings().stt = "other"


def test_the_table_has_a_row_with_default_and_meaning_for_every_variable() -> None:
    rows = settings_table().splitlines()[2:]
    assert len(rows) == len(Settings.model_fields)
    for row, (name, info) in zip(rows, Settings.model_fields.items(), strict=True):
        assert row.startswith(f"| `{variable(name)}` | `{info.default}` |")
        assert variable(name) in (f"VOICE_{name.upper()}", name.upper())
        assert info.description
        assert not name.endswith("_ms") or "| ms |" in row


@pytest.mark.parametrize(
    ("keys", "model"),
    [
        ({}, "offline"),
        ({"OPENAI_API_KEY": ""}, "offline"),
        ({"ANTHROPIC_API_KEY": "k"}, "anthropic:claude-haiku-5-5"),
        ({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "openai:gpt-4.1-mini"),
    ],
)
def test_a_key_in_the_environment_makes_a_real_model_answer(
    monkeypatch: pytest.MonkeyPatch, keys: dict[str, str], model: str
) -> None:
    for provider in PROVIDERS.values():
        monkeypatch.delenv(provider.key_variable or "", raising=False)
    for name, key in keys.items():
        monkeypatch.setenv(name, key)
    assert load_settings().model == model
    assert load_settings(model="ollama:llama3.2").model == "ollama:llama3.2"
