"""One session of the service: it takes a client's messages one by one, refuses what is wrong, and does the rest."""

from __future__ import annotations

import asyncio
import base64
import binascii
import copy
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.audio.resample import Resampler
from tests.realtime.mind import Offer, View, contexts
from tests.realtime.openai_service.connection import Socket
from tests.realtime.openai_service.hearing import Hearing, Started
from tests.realtime.openai_service.items import RATE, Conversation, Item
from tests.realtime.openai_service.refused import Refused
from tests.realtime.openai_service.response import Response
from tests.realtime.openai_service.schema import EVENTS, SESSION, check, required

if TYPE_CHECKING:
    from tests.realtime.openai_service.service import OpenAIService

__all__ = ["Session"]

APPEND_BYTES = 15 * 1024 * 1024


class Session:
    """What the service holds of one connection.

    Attributes:
        conversation: its items.
        config: the session's configuration.
        received: every message of the client's, without its audio.
        refusals: every error that was sent.
        truncations: item and milliseconds of each.
        heard: each turn of the caller's, 24 kHz.
        response: the one being made.
        made: all that were begun because the client asked, or the caller had spoken.
    """

    def __init__(self, service: OpenAIService, socket: Socket, model: str, config: Mapping[str, Any]) -> None:
        self.conversation = Conversation()
        self.config: dict[str, Any] = _default(model)
        _merge(self.config, config)
        self.received: list[dict[str, Any]] = []
        self.refusals: list[dict[str, Any]] = []
        self.truncations: list[tuple[str, int]] = []
        self.heard: list[Samples] = []
        self.response: Response | None = None
        self.made = 0
        self.more = asyncio.Event()
        self.over = asyncio.Event()
        """Set when the connection is closed."""
        self.on_append: Callable[[int], None] | None = None
        """Told how many samples of the caller's voice came, as they come."""
        self.socket = socket
        self._service = service
        self._ids: Counter[str] = Counter()
        self._spoke = False
        self._making: asyncio.Task[None] | None = None
        self._late: list[dict[str, Any]] = []
        self.upcoming: str | None = None
        self._hearing = Hearing(service.voice_model, self.config["audio"]["input"]["turn_detection"])

    async def run(self) -> None:
        """Talk, until the connection is over."""
        self.emit({"type": "session.created", "session": self.config})
        while (message := await self.socket.receive()) is not None:
            self.take(message)
            self.more.set()
        self.response = None
        if self._making is not None:
            self._making.cancel()
        self.over.set()

    def emit(self, event: dict[str, Any]) -> None:
        """Send an event."""
        self.socket.send(json.dumps({"event_id": self.new_id("event"), **event}))

    def new_id(self, kind: str) -> str:
        """Make an id."""
        self._ids[kind] += 1
        return f"{kind}_{self._ids[kind]:06d}"

    def take(self, data: str | bytes) -> None:
        """Take a message."""
        event_id: object = None
        try:
            try:
                message = json.loads(data)
            except ValueError:
                raise Refused("invalid_json", "The message is no JSON.") from None
            if not isinstance(message, dict):
                raise Refused("invalid_type", "Invalid message: expected an object.")
            event_id = message.get("event_id")
            self.received.append({name: value for name, value in message.items() if name != "audio"})
            self._dispatch(message)
        except Refused as refused:
            self.refusals.append(refused.error(event_id))
            self.emit({"type": "error", "error": refused.error(event_id)})

    def view(self) -> View:
        """Show the mind what there is."""
        tools = [
            Offer(name=tool["name"], description=tool.get("description", ""), parameters=tool.get("parameters", {}))
            for tool in self.config["tools"]
        ]
        seen = [shown for item in self.conversation.items if (shown := item.seen()) is not None]
        return View(instructions=self.config["instructions"], tools=tools, items=seen)

    def snapshots(self) -> list[str]:
        """Find the runtime contexts that are in the conversation: there may be one."""
        return [found.text for found in contexts(self.view())]

    def begin(self, metadata: dict[str, str] | None = None, *, asked: bool = True) -> Response:
        """Begin a response."""
        self.made += asked
        response = Response(
            self.new_id("resp"), self.conversation, self.emit, self.new_id, pace=self._service.pace, metadata=metadata
        )
        self.response = response
        response.begin()
        limits = [{"name": "tokens", "limit": 40_000, "remaining": 39_000, "reset_seconds": 1.5}]
        self.emit({"type": "rate_limits.updated", "rate_limits": limits})
        return response

    def end(self, status: Any, details: dict[str, Any] | None = None) -> None:
        """End the response being made."""
        if self.response is not None:
            response, self.response = self.response, None
            self._spoke = self._spoke or any(item.said for item in response.output)
            response.end(status, details, self._usage(response))
            self.more.set()

    def cancel(self, reason: str) -> None:
        """Cancel the response being made, if there is one."""
        making, self._making = self._making, None
        self.end("cancelled", {"type": "cancelled", "reason": reason})
        if making is not None:
            making.cancel()

    def expire(self) -> None:
        """End the session as after an hour."""
        words = "Your session hit the maximum duration of 60 minutes."
        self.emit({"type": "error", "error": Refused("session_expired", words).error(None)})
        self.socket.close(1001, words)

    def release_transcripts(self, *, backwards: bool = False) -> None:
        """Send the transcripts that were held back."""
        late, self._late = self._late, []
        for event in reversed(late) if backwards else late:
            self.emit(event)

    def _dispatch(self, message: dict[str, Any]) -> None:
        required(message, "type")
        kind = message["type"]
        if kind not in EVENTS:
            known = ", ".join(f"'{name}'" for name in EVENTS)
            raise Refused("invalid_value", f"Invalid value: '{kind}'. Supported values are: {known}.", "type")
        for name, value in message.items():
            if name in ("type", "event_id"):
                continue
            if name not in EVENTS[kind]:
                raise Refused("unknown_parameter", f"Unknown parameter: '{name}'.", name)
            check(value, EVENTS[kind][name], name)
        getattr(self, "_on_" + kind.replace(".", "_"))(message)

    def _on_session_update(self, message: dict[str, Any]) -> None:
        required(message, "session")
        given = message["session"]
        required(given, "type", path="session.")
        check(given, SESSION, "session")
        if given.get("model", self.config["model"]) != self.config["model"]:
            raise Refused("invalid_value", "A session's model cannot be changed.", "session.model")
        voice = given.get("audio", {}).get("output", {}).get("voice", self.config["audio"]["output"]["voice"])
        if self._spoke and voice != self.config["audio"]["output"]["voice"]:
            raise Refused("cannot_update_voice", "Cannot update a conversation's voice if assistant audio is present.")
        for index, tool in enumerate(given.get("tools", ())):
            required(tool, "type", "name", path=f"session.tools[{index}].")
        _merge(self.config, given)
        detection = self.config["audio"]["input"]["turn_detection"]
        if detection != self._hearing.detection:
            self._hearing = Hearing(self._service.voice_model, detection)
        self.emit({"type": "session.updated", "session": self.config})

    def _on_input_audio_buffer_append(self, message: dict[str, Any]) -> None:
        required(message, "audio")
        if len(message["audio"]) > APPEND_BYTES:
            raise Refused("string_above_max_length", "Invalid 'audio': it takes at most 15 MiB.", "audio")
        wrong = "Invalid 'audio'. Expected base64-encoded audio bytes (mono PCM16 at 24kHz) but got {}."
        try:
            sound = base64.b64decode(message["audio"], validate=True)
        except binascii.Error:
            raise Refused("invalid_value", wrong.format("an invalid value"), "audio") from None
        if not sound or len(sound) % 2:
            raise Refused("invalid_value", wrong.format("half a sample" if sound else "empty bytes"), "audio")
        if self.on_append is not None:
            self.on_append(len(sound) // 2)
        for found in self._hearing.append(np.frombuffer(sound, "<i2").astype(np.int16)):
            if isinstance(found, Started):
                self.speech_started(found.ms)
            else:
                self.speech_stopped(found.ms, found.audio)

    def speech_started(self, ms: int) -> None:
        """Tell that the caller began, and do what follows from it."""
        self.upcoming = self.new_id("item")
        self.emit({"type": "input_audio_buffer.speech_started", "audio_start_ms": ms, "item_id": self.upcoming})
        if (self._hearing.detection or {}).get("interrupt_response", True):
            self.cancel("turn_detected")

    def speech_stopped(self, ms: int, audio: Samples) -> None:
        """Tell that the caller stopped, and do what follows from it."""
        item_id = self.upcoming or self.new_id("item")
        self.upcoming = None
        self.emit({"type": "input_audio_buffer.speech_stopped", "audio_end_ms": ms, "item_id": item_id})
        self._commit(audio, item_id)
        if (self._hearing.detection or {}).get("create_response", True) and self.response is None:
            self._respond(None)

    def hear_turn(self) -> None:
        """Hear the caller speak for a second, whatever was appended."""
        self.speech_started(0)
        self.speech_stopped(1_000, np.zeros(RATE, np.int16))

    def _on_input_audio_buffer_commit(self, message: dict[str, Any]) -> None:
        self._commit(self._hearing.commit(), self.upcoming or self.new_id("item"))
        self.upcoming = None

    def _on_input_audio_buffer_clear(self, message: dict[str, Any]) -> None:
        self._hearing.clear()
        self.emit({"type": "input_audio_buffer.cleared"})

    def _on_conversation_item_create(self, message: dict[str, Any]) -> None:
        required(message, "item")
        item = self.conversation.write(message["item"], self.new_id("item"))
        item.written.set()
        self._add(item, message.get("previous_item_id"))

    def _on_conversation_item_truncate(self, message: dict[str, Any]) -> None:
        required(message, "item_id", "content_index", "audio_end_ms")
        item_id, at_ms = message["item_id"], message["audio_end_ms"]
        self.conversation.truncate(item_id, message["content_index"], at_ms)
        self.truncations.append((item_id, at_ms))
        cut = {"item_id": item_id, "content_index": 0, "audio_end_ms": at_ms}
        self.emit({"type": "conversation.item.truncated", **cut})

    def _on_conversation_item_delete(self, message: dict[str, Any]) -> None:
        required(message, "item_id")
        self.conversation.delete(message["item_id"])
        self.emit({"type": "conversation.item.deleted", "item_id": message["item_id"]})

    def _on_conversation_item_retrieve(self, message: dict[str, Any]) -> None:
        required(message, "item_id")
        if (item := self.conversation.find(message["item_id"])) is None:
            raise Refused("item_retrieve_invalid_item_id", f"There is no item '{message['item_id']}'.", "item_id")
        self.emit({"type": "conversation.item.retrieved", "item": item.wire()})

    def _on_response_create(self, message: dict[str, Any]) -> None:
        if self.response is not None:
            raise Refused(
                "conversation_already_has_active_response",
                f"Conversation already has an active response in progress: {self.response.id}. "
                "Wait until the response is finished before creating a new one.",
            )
        metadata = message.get("response", {}).get("metadata")
        for name, value in (metadata or {}).items():
            if len(metadata) > 16 or len(name) > 64 or not isinstance(value, str) or len(value) > 512:
                raise Refused("invalid_value", "Metadata are at most 16 short texts.", "response.metadata")
        self._respond(metadata)

    def _on_response_cancel(self, message: dict[str, Any]) -> None:
        if self.response is None or message.get("response_id", self.response.id) != self.response.id:
            raise Refused("response_cancel_not_active", "Cancellation failed: no active response found")
        self.cancel("client_cancelled")

    def _respond(self, metadata: dict[str, str] | None) -> None:
        self._making = self._service.start(self._make(self.begin(metadata)))

    async def _make(self, response: Response) -> None:
        made = False
        try:
            for item in self.conversation.items:
                if item.audio is not None:
                    await item.written.wait()
            await response.make(self._service.mind.respond(self.view()))
            made = True
        finally:
            if self.response is response:
                error = {"type": "server_error", "code": None, "message": "The server had an error."}
                self.end("completed" if made else "failed", None if made else {"type": "failed", "error": error})

    def _commit(self, audio: Samples, item_id: str) -> None:
        item = Item(id=item_id, type="message", role="user", audio=audio)
        self.heard.append(audio)
        before = self.conversation.items[-1].id if self.conversation.items else None
        self.emit({"type": "input_audio_buffer.committed", "previous_item_id": before, "item_id": item_id})
        self._add(item, None)
        self._service.start(self._write_down(item, audio))

    async def _write_down(self, item: Item, audio: Samples) -> None:
        to_hear = Resampler(RATE, HEARING_RATE)
        samples = np.concatenate([to_hear.process(audio), to_hear.flush()])
        try:
            item.text = await self._service.mind.transcribe(samples, self.view())
        finally:
            item.written.set()
        if self.config["audio"]["input"]["transcription"] is not None:
            for event in transcription(item.id, item.text):
                self._late.append(event)
        if not self._service.late_transcripts:
            self.release_transcripts()

    def _add(self, item: Item, after: str | None) -> None:
        self.conversation.add(item, after)
        before = self.conversation.before(item)
        for stage in ("added", "done"):
            self.emit({"type": f"conversation.item.{stage}", "previous_item_id": before, "item": item.wire()})

    def _usage(self, response: Response) -> dict[str, Any]:
        """Count as OpenAI does: a token is 100 ms of the caller's voice, 50 ms of the model's."""
        audio_out = sum(len(part.samples) for item in response.output for part in item.said) * 20 // RATE
        text_out = sum(len((item.transcript or item.arguments).split()) for item in response.output)
        audio_in = sum(len(item.audio) for item in self.conversation.items if item.audio is not None) * 10 // RATE
        text_in = len(self.config["instructions"].split())
        return {
            "total_tokens": audio_in + text_in + audio_out + text_out,
            "input_tokens": audio_in + text_in,
            "output_tokens": audio_out + text_out,
            "input_token_details": {"audio_tokens": audio_in, "text_tokens": text_in, "cached_tokens": text_in},
            "output_token_details": {"audio_tokens": audio_out, "text_tokens": text_out},
        }


def transcription(item_id: str, text: str) -> list[dict[str, Any]]:
    """Write a transcript in two fragments and as a whole."""
    place = {"item_id": item_id, "content_index": 0}
    kind = "conversation.item.input_audio_transcription"
    half = len(text) // 2
    return [
        {"type": f"{kind}.delta", **place, "delta": text[:half]},
        {"type": f"{kind}.delta", **place, "delta": text[half:]},
        {
            "type": f"{kind}.completed",
            **place,
            "transcript": text,
            "usage": {"type": "tokens", "input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        },
    ]


def _default(model: str) -> dict[str, Any]:
    pcm = {"type": "audio/pcm", "rate": RATE}
    return {
        "type": "realtime",
        "object": "realtime.session",
        "id": "sess_1",
        "model": model,
        "expires_at": int(time.time()) + 3600,
        "output_modalities": ["audio"],
        "instructions": "Be helpful.",
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "truncation": "auto",
        "audio": {
            "input": {
                "format": pcm,
                "transcription": None,
                "noise_reduction": None,
                "turn_detection": {"type": "server_vad"},
            },
            "output": {"format": pcm, "voice": "marin", "speed": 1.0},
        },
    }


def _merge(
    into: dict[str, Any], given: Mapping[str, Any], *, deep: tuple[str, ...] = ("audio", "input", "output")
) -> None:
    for name, value in given.items():
        if name in deep and isinstance(value, Mapping) and isinstance(into.get(name), dict):
            _merge(into[name], value, deep=deep)
        else:
            into[name] = copy.deepcopy(value)
