"""One connection: what the client says is done, strictly; what the mind thinks is said."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import numpy as np
from aiohttp import WSMsgType, web

from pipelines.audio.frame import HEARING_RATE, SPEAKING_RATE, Samples
from tests.realtime.gemini_service.conversation import Conversation, words_of
from tests.realtime.gemini_service.grammar import Refused, check_message, decoded
from tests.realtime.gemini_service.hearing import Hearing
from tests.realtime.gemini_service.models import MODELS, Model
from tests.realtime.mind import Call, Called, Words, context_in

if TYPE_CHECKING:
    from tests.realtime.gemini_service.service import GeminiService

__all__ = ["Doing", "Session"]

CHUNK = SPEAKING_RATE // 5
"""Samples in one message."""


class Doing(Enum):
    """What the model is at."""

    NOTHING = auto()
    MAKING = auto()
    """An answer."""
    PLAYING = auto()
    """It takes an answer that is made to be playing."""
    CALLS = auto()
    """It waits for results."""


class Session:
    """A connection to one model.

    Args:
        service: whose.
        socket: the WebSocket.
        version: of the API.

    Attributes:
        conversation: what it knows.
        order: what arrived, as the conformance suite counts it.
        heard: what of the caller's voice was part of a turn.
        answers: how many answers were begun because of what arrived.
        refusal: why it closed the connection.
        received: all messages, sound without its data.
        more: set when something arrived.
        flowing: whether it reads what comes.
    """

    def __init__(self, service: GeminiService, socket: web.WebSocketResponse, version: str) -> None:
        self.service = service
        self.conversation = Conversation()
        self.order: list[str] = []
        self.heard: list[Samples] = []
        self.answers = 0
        self.refusal: Refused | None = None
        self.received: list[dict[str, Any]] = []
        self.more = asyncio.Event()
        self.doing = Doing.NOTHING
        self.closed = False
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.holds_interruptions = False
        self.interruption_held = asyncio.Event()
        self._socket = socket
        self._version = version
        self._model: Model | None = None
        self._setup: dict[str, Any] = {}
        self._hearing: Hearing | None = None
        self._activity: list[Samples] | None = None
        self._history = False
        self._unended = False
        self._open_calls: dict[str, str] = {}
        self._withdrawn: set[str] = set()
        self._called: list[dict[str, Any]] = []
        self._said = ""
        self._unwritten = ""
        self._spoken = 0
        self._work: asyncio.Task[None] | None = None

    # What the client says.

    async def run(self, token: dict[str, Any] | None) -> None:
        """Serve the connection to its end.

        Args:
            token: with which the client came; what it locks holds, whatever the client says.
        """
        try:
            async for message in self._socket:
                if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    continue
                await self.flowing.wait()
                kind, content = check_message(_read(message.data))
                if self._model is None:
                    if kind != "setup":
                        raise Refused("setup must be the first message and only the first")
                    await self._set_up(content if token is None else self._locked(content, token))
                elif kind == "setup":
                    raise Refused("setup must be the first message and only the first")
                else:
                    await self._take(kind, content)
                self.more.set()
        except Refused as refused:
            self.refusal = refused
            await self.close(refused.code, refused.reason)
        finally:
            self.closed = True
            self._stop_work()
            self.more.set()

    def _locked(self, setup: dict[str, Any], token: dict[str, Any]) -> dict[str, Any]:
        if "handle" not in setup.get("sessionResumption", {}):
            self.service.spend(token)
        return _as_locked(setup, token)

    async def _set_up(self, setup: dict[str, Any]) -> None:
        name = setup.get("model", "")
        model = MODELS.get(name)
        if model is None or self._version not in model.versions or not model.bidi:
            words = f"{name} is not found for API version {self._version}, or is not supported for bidiGenerateContent."
            raise Refused(words, 1008)
        functions = [each for tool in setup.get("tools", []) for each in tool.get("functionDeclarations", [])]
        if not model.takes_behavior and any("behavior" in each for each in functions):
            raise Refused()
        handle = setup.get("sessionResumption", {}).get("handle")
        if handle is not None:
            self.conversation = self.service.resume(handle)
        self.conversation.set_up(setup)
        self._model, self._setup = model, setup
        self._history = setup.get("historyConfig", {}).get("initialHistoryInClientContent", False)
        detection = setup.get("realtimeInputConfig", {}).get("automaticActivityDetection", {})
        if not detection.get("disabled"):
            self._hearing = Hearing(self.service.voice_model, detection)
        self.received.append({"setup": setup})
        await self.send({"setupComplete": {}})
        self.service.opened(self)
        await self._tell_handle()

    async def _take(self, kind: str, content: dict[str, Any]) -> None:
        if kind == "clientContent":
            self.received.append({kind: content})
            await self._take_content(content)
        elif kind == "toolResponse":
            self.received.append({kind: content})
            await self._take_results(content.get("functionResponses", []))
        else:
            if len(content) != 1:
                raise Refused()
            self.received.append({kind: {name: {} if name == "audio" else each for name, each in content.items()}})
            await self._take_input(content)

    async def _take_content(self, content: dict[str, Any]) -> None:
        assert self._model is not None
        turns = [
            (turn.get("role", ""), part.get("text", "")) for turn in content.get("turns", []) for part in turn["parts"]
        ]
        if any(not role for role, _ in turns):
            raise Refused()  # Newer models take no turn without a role.
        complete = content.get("turnComplete", False)
        if not self._model.takes_content:
            if not self._history:
                raise Refused()
            self._history = not complete
        await self.interrupt()
        for role, text in turns:
            self.conversation.items.append(words_of(role, text))
            if context_in(text) is not None:
                self.order.append("context")
        if not complete:
            self._unended = True
        elif not turns and not self._unended:
            raise Refused("No turn to complete")
        else:
            self._unended = False
        if complete and self._model.takes_content:
            self.order.append("trigger")
            self.answer()

    async def _take_results(self, responses: list[dict[str, Any]]) -> None:
        for each in responses:
            call_id, name = each.get("id", ""), each.get("name", "")
            if call_id in self._withdrawn:
                continue  # It was on its way.
            if call_id not in self._open_calls:
                raise Refused("Requested entity was not found.", 1008)
            if self._open_calls[call_id] != name:
                raise Refused()
            del self._open_calls[call_id]
            self.conversation.answer(call_id, each.get("response", {}))
            self.order.append("result")
        responses = [each for each in responses if each.get("id") not in self._withdrawn]
        if any(context_in(str(each.get("response", {}).get("context", ""))) is not None for each in responses):
            self.order.append("context")
        if responses and not self._open_calls:
            self.order.append("trigger")
            self.doing = Doing.NOTHING
            self.answer()

    async def _take_input(self, content: dict[str, Any]) -> None:
        if self._history:
            raise Refused()
        if (text := content.get("text")) is not None:
            await self.interrupt()
            self.conversation.items.append(words_of("user", text))
            self.order.append("trigger")
            self.answer()
        elif "activityStart" in content or "activityEnd" in content:
            if self._hearing is not None:
                raise Refused(
                    "Explicit activity control is not supported when automatic activity detection is enabled."
                )
            await self._mark(begins="activityStart" in content)
        elif "audioStreamEnd" in content:
            if self._hearing is not None and (turn := self._hearing.end()) is not None:
                self._end_turn(turn)
        elif (sound := content.get("audio")) is not None:
            rate = sound["mimeType"].partition("rate=")[2]
            assert int(rate or HEARING_RATE) == HEARING_RATE, "the service's ear does not resample"
            data = decoded(sound["data"])
            await self._hear(np.frombuffer(data, "<i2", count=len(data) // 2).astype(np.int16))

    async def _mark(self, *, begins: bool) -> None:
        if begins == (self._activity is not None):
            raise Refused()
        if begins:
            self._activity = []
            if self._setup.get("realtimeInputConfig", {}).get("activityHandling") != "NO_INTERRUPTION":
                await self.interrupt()
        else:
            turn, self._activity = np.concatenate([np.zeros(0, np.int16), *(self._activity or [])]), None
            self._end_turn(turn)

    async def _hear(self, samples: Samples) -> None:
        if self._hearing is None:
            if self._activity is not None:
                self._activity.append(samples)
            return
        for turn in self._hearing.feed(samples):
            if turn is not None:
                self._end_turn(turn)
            elif self._setup.get("realtimeInputConfig", {}).get("activityHandling") != "NO_INTERRUPTION":
                await self.interrupt()

    def _end_turn(self, turn: Samples) -> None:
        assert self._model is not None
        self.heard.append(turn)
        self._stop_work()
        waits = self._model.waits_for_end and self._unended
        self.answers += not waits
        self._work = self.service.start(self._understand(turn, answers=not waits))

    async def _understand(self, turn: Samples, *, answers: bool) -> None:
        text = await self.service.mind.transcribe(turn, self.conversation.view())
        if text:
            self.conversation.items.append(Words(role="user", text=text))
            self._unwritten = text
        if not self.service.late_transcripts:
            await self._write_down()
        if answers and (text or self.service.answers_silence):
            await self._make()

    # What the model does.

    def answer(self) -> None:
        """Begin an answer because of what arrived."""
        self._stop_work()
        self.answers += 1
        self._work = self.service.start(self._make())

    async def _write_down(self) -> None:
        """Tell what the caller said, in fragments."""
        text, self._unwritten = self._unwritten, ""
        if "inputAudioTranscription" in self._setup:
            for place, word in enumerate(text.split()):
                fragment = word if place == 0 else f" {word}"
                await self.send({"serverContent": {"inputTranscription": {"text": fragment}}})

    async def _make(self) -> None:
        await self.begin()
        async for thought in self.service.mind.respond(self.conversation.view()):
            if isinstance(thought, Called):
                self.call(thought.name, thought.arguments)
            else:
                await self.say(f"{thought.text.strip()} ", thought.samples)
        await self.finish()

    async def begin(self) -> None:
        """Begin an answer, unless one is being made."""
        if self.doing is not Doing.MAKING:
            self.doing = Doing.MAKING
            self._said, self._spoken, self._called = "", 0, []
            await self._tell_handle(resumable=False)

    async def say(self, text: str, samples: Samples) -> None:
        """Say something: its words, and its sound."""
        assert self._model is not None
        await self.begin()
        self._said += text
        self._spoken += len(samples)
        words: dict[str, Any] = {"outputTranscription": {"text": text}} if text else {}
        if not self._model.joins_parts and words:
            await self.send({"serverContent": words})
            words = {}
        for start in range(0, len(samples), CHUNK):
            await self.send({"serverContent": {**sound(samples[start : start + CHUNK]), **words}})
            words = {}
        if words:
            await self.send({"serverContent": words})
        await self._write_down()

    def call(self, name: str, arguments: Mapping[str, Any], call_id: str | None = None) -> str:
        """Want a tool called, with the others of the answer."""
        call_id = call_id or self.service.new_id("function-call")
        self._called.append({"id": call_id, "name": name, "args": dict(arguments)})
        return call_id

    async def finish(self) -> None:
        """End an answer: wait for results, or for its voice to be played."""
        self._keep_said(1.0)
        if self._called:
            self.doing = Doing.CALLS
            for each in self._called:
                if self.conversation.call(each["id"]) is None:
                    self.conversation.items.append(Call(call_id=each["id"], name=each["name"], arguments=each["args"]))
                self._open_calls[each["id"]] = each["name"]
            await self.send({"toolCall": {"functionCalls": self._called}})
            await self._write_down()
            return
        self.doing = Doing.PLAYING
        await self.send({"serverContent": {"generationComplete": True}})
        await asyncio.sleep(self._spoken / SPEAKING_RATE / self.service.pace)
        self.doing = Doing.NOTHING
        await self._complete()

    async def interrupt(self) -> None:
        """Stop what is being done, because of what arrived, or because the caller speaks."""
        if self.doing is Doing.NOTHING:
            self._stop_work()
            return
        if self.holds_interruptions:
            self._stop_work()
            self.interruption_held.set()
            return
        await self.break_off()

    async def break_off(self) -> None:
        """Tell that an answer is interrupted; of what was said only what can have been heard is kept."""
        self._stop_work()
        doing, self.doing = self.doing, Doing.NOTHING
        if doing is Doing.MAKING:
            self._keep_said(0.5)
        if doing is Doing.CALLS:
            withdrawn = list(self._open_calls)
            self._withdrawn.update(withdrawn)
            for call_id in withdrawn:
                self.conversation.forget_call(call_id)
            self._open_calls.clear()
            await self.send({"toolCallCancellation": {"ids": withdrawn}})
        await self.send({"serverContent": {"interrupted": True}})
        await self._complete()

    def _keep_said(self, share: float) -> None:
        """Remember what was said: a share of its words."""
        words = self._said.split()
        if kept := words[: round(len(words) * share)]:
            self.conversation.items.append(Words(role="agent", text=" ".join(kept)))
        self._said = ""

    async def _complete(self) -> None:
        usage = {
            "promptTokenCount": 100,
            "responseTokenCount": 25,
            "totalTokenCount": 125,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 60}, {"modality": "AUDIO", "tokenCount": 40}],
            "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 25}],
        }
        await self.send({"serverContent": {"turnComplete": True}, "usageMetadata": usage})
        await self._tell_handle()

    async def _tell_handle(self, *, resumable: bool = True) -> None:
        if "sessionResumption" in self._setup:
            update = {"newHandle": self.service.keep(self), "resumable": True} if resumable else {}
            await self.send({"sessionResumptionUpdate": update})

    # The connection.

    async def send(self, message: Mapping[str, Any] | str) -> None:
        """Send a message, in a binary frame, as Gemini does."""
        if not self._socket.closed:
            data = message if isinstance(message, str) else json.dumps(message)
            try:
                await self._socket.send_bytes(data.encode())
            except ConnectionError:
                return

    async def go_away(self, time_left_s: float) -> None:
        """Announce the end of the connection, and end it then."""
        await self.send({"goAway": {"timeLeft": f"{time_left_s:g}s"}})
        self.service.start(self._expire(time_left_s))

    async def _expire(self, time_left_s: float) -> None:
        await asyncio.sleep(time_left_s)
        words = "Connection aborted because the client failed to close the connection after receiving a GoAway signal"
        await self.close(1008, words)

    async def close(self, code: int, reason: str) -> None:
        """Close the connection."""
        await self._socket.close(code=code, message=reason.encode()[:123])

    def vanish(self) -> None:
        """Break the connection off without a word."""
        transport = self._socket._req.transport if self._socket._req is not None else None
        if transport is not None:
            transport.abort()

    def _stop_work(self) -> None:
        if self._work is not None and self._work is not asyncio.current_task():
            self._work.cancel()
        self._work = None


def sound(samples: Samples) -> dict[str, Any]:
    """Write a piece of an answer's voice."""
    data = base64.b64encode(samples.astype("<i2").tobytes()).decode("ascii")
    return {"modelTurn": {"parts": [{"inlineData": {"mimeType": f"audio/pcm;rate={SPEAKING_RATE}", "data": data}}]}}


def _as_locked(setup: dict[str, Any], token: Mapping[str, Any]) -> dict[str, Any]:
    """Put what a token locks in place of what the client says: fields of a mask, or all."""
    held: dict[str, Any] = token["bidiGenerateContentSetup"]
    if not token["fieldMask"]:
        return held
    made = {name: dict(inner) if isinstance(inner, dict) else inner for name, inner in setup.items()}
    for path in token["fieldMask"].split(","):
        name, _, inner = path.partition(".")
        if inner:
            made.setdefault(name, {})[inner] = held[name][inner]
        else:
            made[name] = held[name]
    return made


def _read(data: str | bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        raise Refused("Invalid JSON payload received. Parsing error.") from None
