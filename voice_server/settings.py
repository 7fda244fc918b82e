"""Settings: what the environment may say, each variable with a default, a unit and a line in the README's table.

A provider's own variables (`OPENAI_API_KEY`, `OPENAI_BASE_URL`) are read by its SDK and are not repeated here;
LiveKit's have the names its own tools know.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self, get_args, get_origin

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from agents.models.providers import PROVIDERS
from pipelines.gating import Gating
from pipelines.realtime.gemini.options import DEFAULT_MODEL as GEMINI_MODEL
from pipelines.realtime.openai.options import DEFAULT_MODEL as OPENAI_MODEL
from pipelines.turns.settings import TurnTaking
from voice_server.errors import UsageError

__all__ = [
    "AUTO",
    "MEMORY",
    "PREFIX",
    "PipelineKind",
    "Settings",
    "Summons",
    "load_settings",
    "settings_table",
    "variable",
]

PREFIX = "VOICE_"
"""Before the upper-case name of every variable that is ours alone."""

AUTO = "auto"
"""Stands for the best model that the environment has a key for."""

MEMORY = "memory"
"""Stands for conversations that end with the process."""


_SECRET = ("VOICE_KEY", "LIVEKIT_API_SECRET")
"""Variables that no message quotes."""


class PipelineKind(StrEnum):
    """How speech becomes answers."""

    CASCADE = "cascade"
    """A recogniser, the agent's language model, a synthesiser."""
    REALTIME = "realtime"
    """A speech-to-speech model, with the agent in charge of what is true."""


class Summons(StrEnum):
    """What brings the agent into a room."""

    ASKED = "asked"
    JOINED = "joined"


def _setting(default: Any, description: str, *, unit: str = "", **bounds: Any) -> Any:
    """Describe a setting; the unit goes into the README's table."""
    return Field(default=default, description=description, json_schema_extra={"unit": unit}, **bounds)


def _either(choices: type[StrEnum]) -> str:
    return " / ".join(f"`{choice}`" for choice in choices)


class Settings(BaseSettings):
    """What the server was told by its environment; immutable."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore", populate_by_name=True)

    agent: str = _setting("agents.concierge:create", "who answers", unit="module:factory")
    agents: dict[str, str] = _setting(
        {},
        "who else may be asked for, by name, when the agent is called into a room",
        unit="JSON: name to module:factory",
    )
    pipeline: PipelineKind = _setting(
        PipelineKind.CASCADE,
        "how speech becomes answers: `cascade`, by a recogniser, a language model and a synthesiser; `realtime`, by a "
        "speech-to-speech model",
        unit=_either(PipelineKind),
    )
    model: str = _setting(
        AUTO,
        "the language model; `auto` is that of the first provider whose key is set, OpenAI before others, "
        "else `offline`, which answers by rules",
        unit="`offline` or provider:model",
    )
    stt: str = _setting("whisper", "the recogniser", unit="name or module:factory")
    tts: str = _setting("hibari", "the synthesiser", unit="name or module:factory")
    vad: str = _setting(
        "silero", "the voice activity detector; `energy` goes by loudness alone", unit="name or module:factory"
    )
    gating: Gating = _setting(
        Gating.HARD,
        "what of the caller's sounds is recognised and believed: `hard`, what the detector is sure of; "
        "`soft`, all of them, and what is recognised is checked; `off`, all of them unchecked",
        unit=_either(Gating),
    )
    turn_taking: TurnTaking = _setting(
        TurnTaking.AUTOMATIC,
        "who says where a caller's turn ends: what is heard, or, `manual`, the caller with a button",
        unit=_either(TurnTaking),
    )
    start_muted: bool = _setting(
        False, "whether a caller is heard only when they have unmuted; with `manual` always so", unit="`true` / `false`"
    )
    database: str = _setting(
        MEMORY,
        "where conversations are kept; in `memory` they end with the process",
        unit="`memory`, `sqlite:///FILE` or `postgresql://…`",
    )
    endpointing_floor_ms: int = _setting(
        300, "shortest silence after which an utterance may be a turn", unit="ms", ge=0, le=10_000
    )
    endpointing_ceiling_ms: int = _setting(
        2_800, "longest silence that is waited for more words", unit="ms", ge=0, le=60_000
    )
    drafts: int = _setting(
        2,
        "how often in a turn the model is asked already while more words are waited for; 0 costs no tokens in vain",
        unit="per turn",
        ge=0,
        le=2,
    )
    records: Path | None = _setting(
        None, "folder in which every call of the server is recorded; without one, none is", unit="folder"
    )
    host: str = _setting("127.0.0.1", "address the server listens on; without a key, one of this machine only")
    port: int = _setting(8_080, "port the server listens on", ge=0, le=65_535)
    key: SecretStr | None = _setting(
        None, "what clients of the server must know; without one it talks to this machine only", min_length=8
    )
    calls: int = _setting(48, "calls at once; one more is told that the server is busy", ge=1, le=10_000)
    grace_s: float = _setting(
        10.0, "how long a call waits for its client when the connection breaks; 0 ends it", unit="s", ge=0, le=3_600
    )
    idle_s: float = _setting(
        600.0, "how long a connection may be without audio before it is closed", unit="s", ge=1, le=86_400
    )
    drain_s: float = _setting(
        30.0, "how long calls may go on when the server is told to go away", unit="s", ge=0, le=3_600
    )
    s2s_provider: Literal["openai", "gemini"] | None = _setting(
        None,
        "whose speech-to-speech model takes the turns with `realtime`; without one, OpenAI's if `OPENAI_API_KEY` is "
        "set, else Gemini's if `GEMINI_API_KEY` is",
        unit="`openai` / `gemini`",
        validation_alias="S2S_PROVIDER",
    )
    s2s_model: str | None = _setting(
        None,
        f"which of their models; without one, `{OPENAI_MODEL}` or `{GEMINI_MODEL}`",
        validation_alias="S2S_MODEL",
    )
    s2s_voice: str | None = _setting(
        None, "by which of their voices it speaks; without one, as they have it", validation_alias="S2S_VOICE"
    )
    s2s_turn_detection: Literal["semantic_vad", "server_vad", "ours"] | None = _setting(
        None,
        "who says when the caller speaks: OpenAI's `semantic_vad` or `server_vad`, or `ours`, the detector of the "
        "cascade; without one, as the provider has it",
        unit="`semantic_vad` / `server_vad` / `ours`",
        validation_alias="S2S_TURN_DETECTION",
    )
    s2s_api_version: str | None = _setting(
        None, "of Gemini's interface; without one, `v1beta`", validation_alias="S2S_API_VERSION"
    )
    livekit_url: str | None = _setting(
        None,
        "LiveKit's server, for calls in rooms; `make livekit` starts one",
        unit="`ws://…` or `wss://…`",
        validation_alias="LIVEKIT_URL",
        pattern=r"^(ws|http)s?://[^\s/]+/?$",
    )
    livekit_api_key: str | None = _setting(
        None, "the name of the key that server knows us by", validation_alias="LIVEKIT_API_KEY", min_length=1
    )
    livekit_api_secret: SecretStr | None = _setting(
        None, "that key", validation_alias="LIVEKIT_API_SECRET", min_length=1
    )
    livekit_summons: Summons = _setting(
        Summons.ASKED,
        "what brings the agent into a room: being `asked`, or, told by LiveKit's webhook, that somebody has `joined`",
        unit=_either(Summons),
    )
    livekit_agent_name: str | None = _setting(
        None,
        "what rooms ask for when they want a `worker`; without one it comes into every room that is opened",
        validation_alias="LIVEKIT_AGENT_NAME",
        pattern=r"^[A-Za-z0-9_.-]{1,100}$",
    )
    worker_port: int = _setting(
        8081, "on which a `worker` says whether it is well; 0: any that is free", ge=0, le=65_535
    )
    livekit_token_s: float = _setting(
        600.0, "how long a token opens its room; who is inside stays", unit="s", ge=1, le=86_400
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting("warning", "what is logged, to stderr")

    @model_validator(mode="after")
    def _floor_below_ceiling(self) -> Self:
        if self.endpointing_floor_ms > self.endpointing_ceiling_ms:
            raise ValueError(
                f"{PREFIX}ENDPOINTING_FLOOR_MS is {self.endpointing_floor_ms} and "
                f"{PREFIX}ENDPOINTING_CEILING_MS {self.endpointing_ceiling_ms}: the floor may not be above the ceiling"
            )
        return self


def load_settings(**overrides: str | None) -> Settings:
    """Read the environment, with the command line on top.

    Args:
        overrides: settings by field name; ``None`` leaves what the environment says.

    Raises:
        UsageError: a variable cannot be used; the sentence names it and what it takes.

    Returns:
        The settings, with a model in the place of ``auto``.
    """
    given: dict[str, Any] = {name: value for name, value in overrides.items() if value is not None}
    try:
        settings = Settings(**given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if not first["loc"]:
            raise UsageError(str(first["ctx"]["error"])) from None
        name = variable(str(first["loc"][0]))
        shown = "not to be shown" if name in _SECRET else repr(first["input"])
        raise UsageError(f"{name} is {shown}: {first['msg'].lower()}; see the README's table") from None
    return settings.model_copy(update={"model": _which_model()}) if settings.model == AUTO else settings


def variable(name: str) -> str:
    """Give the variable of a setting, or of the variable it was found by."""
    info = Settings.model_fields.get(name)
    alias = name if info is None else info.validation_alias
    return alias if isinstance(alias, str) else f"{PREFIX}{name}".upper()


def _which_model() -> str:
    with_key = (name for name, provider in PROVIDERS.items() if os.environ.get(provider.key_variable or ""))
    name = next(with_key, None)
    return f"{name}:{PROVIDERS[name].example}" if name else "offline"


def settings_table() -> str:
    """Write the README's table of settings, one row per variable, as Markdown."""
    rows = [_row(name, info) for name, info in Settings.model_fields.items()]
    return "\n".join(["| variable | default | unit | what |", "|---|---|---|---|", *rows])


def _row(name: str, info: FieldInfo) -> str:
    extra = info.json_schema_extra
    unit = str(extra.get("unit", "")) if isinstance(extra, dict) else ""
    values = get_args(info.annotation) if get_origin(info.annotation) is Literal else ()
    unit = unit or " / ".join(f"`{value}`" for value in values)
    return f"| `{variable(name)}` | `{info.default}` | {unit} | {info.description} |"
