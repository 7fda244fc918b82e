"""What a client is told: one kind of event a class, the same over a socket, server-sent events and a data channel.

On the wire an event is ``{"v", "seq", "call", "t_ms", "type", "data"}``. Within ``v`` types and fields are only added.
Above: transports and routes send them. Below: ``telling`` makes them of what a call tells.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from voice_server.clients.shown import DeferralShown, FormShown, GoalShown

__all__ = [
    "EVENTS",
    "VERSION",
    "AgentState",
    "AgentStateChanged",
    "CallEnded",
    "CallReady",
    "CallerMuted",
    "CallerSpeech",
    "CallerTurn",
    "CallerWords",
    "ChatReady",
    "ClientEvent",
    "ContextCompacted",
    "Failure",
    "FormsShown",
    "GoalsShown",
    "IgnoredSound",
    "LevelHeard",
    "PlayoutOrdered",
    "ReplyText",
    "ScreenShown",
    "SlotShown",
    "ToolChanged",
    "TurnTimed",
    "UtteranceBegun",
    "UtteranceClosed",
    "UtteranceHeard",
]

VERSION = 1
"""Of the envelope and of every event in it."""

Milliseconds: TypeAlias = Annotated[int, Field(ge=0, description="milliseconds since the call began")]


class ClientEvent(BaseModel):
    """What all events have in common: their fields are the ``data`` of the wire."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: ClassVar[str]
    kept: ClassVar[bool] = True
    """Whether it has a number and is sent again to a client that comes back."""


class CallReady(ClientEvent):
    """The call begins, or goes on: the first event on every connection."""

    type: ClassVar[str] = "ready"
    kept: ClassVar[bool] = False

    conversation: str = Field(description="names what is durable; give it again to go on with it")
    resumed: bool = Field(description="whether the call was there already, and goes on")
    pipeline: str
    agent: str
    model: str
    stt: str
    tts: str
    hears: int = Field(description="hertz of the audio the server takes: mono int16, little endian")
    speaks: int = Field(description="hertz of the audio the server sends: mono int16, little endian")
    mode: Literal["automatic", "manual"]
    muted: bool


class ChatReady(ClientEvent):
    """A chat's stream begins, or goes on: the first event on every connection."""

    type: ClassVar[str] = "chat"
    kept: ClassVar[bool] = False

    conversation: str = Field(description="names what is durable; give it again to go on with it")
    agent: str
    model: str
    turn: int | None = Field(description="the turn of the message this stream answers; none: it answers none")


class AgentState(StrEnum):
    """What the agent is at; the words are those of LiveKit's `lk.agent.state`."""

    INITIALIZING = "initializing"
    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"


class AgentStateChanged(ClientEvent):
    """The agent does something else now."""

    type: ClassVar[str] = "state"

    state: AgentState


class CallerSpeech(ClientEvent):
    """Perhaps the caller speaks, or has stopped."""

    type: ClassVar[str] = "speech"

    speaking: bool
    segment: int


class CallerMuted(ClientEvent):
    """The caller's microphone is listened to, or not."""

    type: ClassVar[str] = "muted"

    muted: bool


class CallerWords(ClientEvent):
    """What was recognised of a stretch of the caller's speech; a later one replaces it."""

    type: ClassVar[str] = "words"

    segment: int
    text: str
    final: bool


class CallerTurn(ClientEvent):
    """The caller's words are a turn: they are being answered."""

    type: ClassVar[str] = "turn"

    turn: int
    text: str


class IgnoredSound(ClientEvent):
    """A sound that is no turn, and why."""

    type: ClassVar[str] = "sound"

    kind: str
    text: str


class ReplyText(ClientEvent):
    """More text of a reply, as the model writes it; in a chat."""

    type: ClassVar[str] = "text"

    text: str
    turn: int | None = Field(default=None, description="the turn it answers")


class UtteranceBegun(ClientEvent):
    """The first sample of something the agent says is on its way."""

    type: ClassVar[str] = "utterance"

    utterance: int
    kind: str
    turn: int | None = Field(description="the caller's turn it answers")


class UtteranceHeard(ClientEvent):
    """More of an utterance was played: all that was heard of it so far."""

    type: ClassVar[str] = "heard"

    utterance: int
    text: str


class UtteranceClosed(ClientEvent):
    """An utterance is over, and what was heard of it is final."""

    type: ClassVar[str] = "spoken"

    utterance: int
    kind: str
    turn: int | None
    text: str = Field(description="all the agent wanted to say")
    heard: str = Field(description="what was played of it: a beginning of the text that ends with a word")
    interrupted: bool
    message: str | None = Field(default=None, description="the id of the message it is in the history; in a chat")


class ToolChanged(ClientEvent):
    """A tool is called, or has ended."""

    type: ClassVar[str] = "tool"

    call_id: str
    name: str
    turn: int | None
    status: Literal["running", "success", "error", "aborted"]
    input: dict[str, Any] | None = Field(default=None, description="when it is called")
    duration_ms: float | None = Field(default=None, description="when it has ended")
    message: str | None = Field(default=None, description="what went wrong, when something did; in a chat")
    render_data: Any = Field(default=None, description="what the tool gave for the screen; in a chat")


class SlotShown(BaseModel):
    """One thing the agent shows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    renderer: str = Field(description="which component draws it")
    input: dict[str, Any] = Field(description="what the component is given")
    owner: str | None = Field(description="the tool that pushed it")
    state: Literal["shown", "waiting", "answered"]


class ScreenShown(ClientEvent):
    """All that is shown now, oldest first."""

    type: ClassVar[str] = "slots"

    slots: tuple[SlotShown, ...]


class GoalsShown(ClientEvent):
    """How the agent's goals stand, after every change; before there are any, nothing is told."""

    type: ClassVar[str] = "goals"

    program: str | None = Field(description="names the goals; none: there are none")
    version: int = Field(description="ascending")
    status: Literal["active", "completed"]
    active_goal: str | None = Field(description="the key of the goal that is worked on")
    goals: tuple[GoalShown, ...]
    deferred: tuple[DeferralShown, ...] = Field(description="what was put off, of all goals")


class FormsShown(ClientEvent):
    """How the forms stand that are being filled in, after every change; the one that was written to last, first."""

    type: ClassVar[str] = "forms"

    forms: tuple[FormShown, ...]


class ContextCompacted(ClientEvent):
    """The agent sums up a conversation that has become long, or has done so; it answers when it has."""

    type: ClassVar[str] = "compaction"

    turn: int | None = Field(description="the turn that waits for it")
    running: bool


class TurnTimed(ClientEvent):
    """When the stages of a turn were over; ``None``: it never came to that."""

    type: ClassVar[str] = "latency"

    turn: int
    speech_ended: Milliseconds
    text_final: Milliseconds
    committed: Milliseconds
    first_text: Milliseconds | None
    first_sound: Milliseconds | None
    reason: str = Field(description="why it was waited as long as it was before the turn was committed")


class Failure(ClientEvent):
    """Something failed, and what that means; the call goes on unless it is followed by its end."""

    type: ClassVar[str] = "error"

    code: str = Field(description="stable: `engine`, `busy`, `bad_message`, `unauthorized` …")
    message: str
    turn: int | None = Field(default=None, description="the turn that is not answered because of it; in a chat")


class CallEnded(ClientEvent):
    """Nothing follows: of the call, of the chat's stream or, with a turn, of the answer to it."""

    type: ClassVar[str] = "ended"

    reason: str
    turn: int | None = Field(default=None, description="the turn whose answer is whole; in a chat")


class LevelHeard(ClientEvent):
    """How loud the caller's line is, and how much like speech; about ten times a second, also while muted."""

    type: ClassVar[str] = "level"
    kept: ClassVar[bool] = False

    level: float = Field(ge=0, le=1, description="root mean square of full scale")
    probability: float = Field(ge=0, le=1)


class PlayoutOrdered(ClientEvent):
    """What a client is to do with the audio it was sent; in order with that audio."""

    type: ClassVar[str] = "playout"
    kept: ClassVar[bool] = False

    order: Literal["clear", "pause", "unpause"]
    epoch: int = Field(ge=0, description="after a clear: audio of an older epoch is not to be played any more")


EVENTS: tuple[type[ClientEvent], ...] = (
    CallReady,
    ChatReady,
    AgentStateChanged,
    CallerSpeech,
    CallerMuted,
    CallerWords,
    CallerTurn,
    IgnoredSound,
    ReplyText,
    UtteranceBegun,
    UtteranceHeard,
    UtteranceClosed,
    ToolChanged,
    ScreenShown,
    GoalsShown,
    FormsShown,
    ContextCompacted,
    TurnTimed,
    Failure,
    CallEnded,
    LevelHeard,
    PlayoutOrdered,
)
"""Every kind of event there is."""
