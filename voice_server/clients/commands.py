"""What a client says, besides audio: one kind of command a class, as ``{"type": …}`` with its fields beside it.

Whatever does not fit is refused with a sentence: a client is not trusted.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipelines.call import LONGEST_TYPED

__all__ = [
    "COMMAND",
    "LONGEST_COMMAND",
    "Command",
    "CommandError",
    "CommitTurn",
    "HangUp",
    "Interrupt",
    "Mute",
    "Played",
    "RejectSlot",
    "ResolveSlot",
    "Say",
    "Start",
    "Unmute",
    "parse_command",
]

LONGEST_COMMAND = 64 * 1024
"""Bytes: an answer to a card is the longest thing a client says."""


_PLAIN = r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*"
_WRITTEN = rf"^{_PLAIN}[^\s\x00-\x1f\x7f]{_PLAIN}$"
"""Something that can be seen, and no control characters but tabs and line breaks."""


class CommandError(Exception):
    """A client said something that cannot be understood; the message may be sent back to it."""


class _Command(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Start(_Command):
    """Begin a call, or come back to one. The first thing a client says, within five seconds."""

    type: Literal["start"] = "start"
    key: str | None = Field(default=None, max_length=512, description="the server's key, if the request bore none")
    conversation: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9_.:-]{1,128}$", description="what to go on with; none: a new one"
    )
    after: int | None = Field(default=None, ge=0, description="the number of the last event seen; later ones are sent")
    rate: int = Field(default=16_000, ge=8_000, le=48_000, description="hertz of the audio that will be sent")
    mode: Literal["automatic", "manual"] | None = Field(default=None, description="none: as the server is set")
    muted: bool | None = Field(default=None, description="begin muted; none: as the server is set")
    pipeline: Literal["cascade", "realtime"] | None = Field(
        default=None,
        description="whether a recogniser, a language model and a voice answer, or a speech-to-speech model; none: as "
        "the server is set",
    )
    detection: Literal["provider", "ours"] | None = Field(
        default=None, description="who hears whether the caller speaks, with `realtime`; none: as the server is set"
    )
    pauses: bool = Field(default=True, description="whether `pause` stops at a sample and `unpause` goes on there")
    screen: bool = Field(default=False, description="whether slots can be shown and answered")


class Played(_Command):
    """How much of an epoch's audio was played; say it ten times a second, and after a clear."""

    type: Literal["played"] = "played"
    epoch: int = Field(ge=0)
    ms: float = Field(ge=0, allow_inf_nan=False, description="milliseconds of that epoch's audio, from its beginning")
    final: bool = Field(default=False, description="whether nothing more of that epoch will be played")


class Mute(_Command):
    """Do not listen; a word begun ends here."""

    type: Literal["mute"] = "mute"


class Unmute(_Command):
    """Listen."""

    type: Literal["unmute"] = "unmute"


class CommitTurn(_Command):
    """Answer what was said without waiting for more: the button of push-to-talk was let go."""

    type: Literal["commit"] = "commit"


class Say(_Command):
    """Say something in writing: with what was spoken before it, it is a turn at once."""

    type: Literal["say"] = "say"
    text: str = Field(max_length=LONGEST_TYPED, pattern=_WRITTEN)


class Interrupt(_Command):
    """Stop talking."""

    type: Literal["interrupt"] = "interrupt"


class ResolveSlot(_Command):
    """Answer what is shown."""

    type: Literal["resolve"] = "resolve"
    slot: str = Field(max_length=128)
    value: Any = None


class RejectSlot(_Command):
    """Refuse to answer what is shown."""

    type: Literal["reject"] = "reject"
    slot: str = Field(max_length=128)
    reason: str = Field(default="it was dismissed", max_length=500)


class HangUp(_Command):
    """End the call."""

    type: Literal["hangup"] = "hangup"


Command: TypeAlias = Annotated[
    Start | Played | Mute | Unmute | CommitTurn | Say | Interrupt | ResolveSlot | RejectSlot | HangUp,
    Field(discriminator="type"),
]

COMMAND: TypeAdapter[Command] = TypeAdapter(Command)


def parse_command(text: str) -> Command:
    """Read a command.

    Raises:
        CommandError: it is too long, no JSON, of no known type, or a field does not fit.
    """
    if len(text) > LONGEST_COMMAND:
        raise CommandError(f"a command of {len(text)} characters is too long; at most {LONGEST_COMMAND} are taken")
    try:
        return COMMAND.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CommandError(f"{where or 'command'}: {first['msg']}") from None
