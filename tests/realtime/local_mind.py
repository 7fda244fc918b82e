"""A mind of the local engines: Whisper hears, the offline model decides, hibari speaks. No network, no key.

It is given what a language model behind a wire would be: instructions, descriptions and schemas of tools, items.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from agents.core.late import read_late
from agents.core.messages import Message, ToolCall, ToolResult, ToolResultData
from agents.core.model import ModelRequest, TextChunk, ToolCalled, ToolSpec
from agents.core.prompt import RESULTS_TEXT
from agents.offline.model import OfflineModel
from pipelines.audio.frame import Samples
from pipelines.clock import RealClock
from pipelines.playout.speakable import speakable
from pipelines.stt.whisper_model import WhisperModel
from pipelines.tts.hibari import HibariVoice
from tests.realtime.mind import (
    Call,
    Called,
    Item,
    Offer,
    Result,
    Said,
    Thought,
    View,
    Words,
    context_in,
    latest_context,
    tone,
)

__all__ = ["LocalMind", "as_request"]

_MAY_SAY = re.compile(r" A caller may say: (?P<examples>.*)\.$", re.DOTALL)
"""How the description of a tool ends that has examples."""

_EXAMPLE = re.compile(r'"([^"]*)"')
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_SPELLING = re.compile(r"\bspell", re.IGNORECASE)


class LocalMind:
    """Hears, decides and speaks. One for a process: it loads weights.

    Args:
        model: who decides.
        voiced: whether it speaks with a voice; else a note for each word, which takes no work.
        word_s: seconds of such a note.
    """

    def __init__(self, model: OfflineModel | None = None, *, voiced: bool = True, word_s: float = 0.05) -> None:
        self._model = model or OfflineModel()
        self._ear = WhisperModel()
        self._voice = HibariVoice() if voiced else None
        self._word_s = word_s
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mind")

    def warm(self) -> None:
        """Load the weights. Blocking, idempotent."""
        self._ear.warm()
        if self._voice is not None:
            self._voice.warm()

    async def transcribe(self, samples: Samples, view: View) -> str:
        """Write down an utterance; letter by letter when it has just asked for that."""
        spoken = [item.text for item in view.items if isinstance(item, Words) and item.role == "agent"]
        spelling = bool(spoken) and _SPELLING.search(spoken[-1]) is not None
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: self._ear.hear(samples, spelling=spelling))

    async def respond(self, view: View) -> AsyncIterator[Thought]:
        """Answer as the rules say, sentence by sentence."""
        async for event in self._model.stream(as_request(view)):
            if isinstance(event, TextChunk):
                for sentence in _SENTENCE_END.split(event.text.strip()):
                    yield Said(text=sentence, samples=await self._speak(sentence))
            elif isinstance(event, ToolCalled):
                yield Called(name=event.call.tool_name, arguments=event.call.input_args)

    async def _speak(self, sentence: str) -> Samples:
        if self._voice is None:
            return tone(sentence, word_s=self._word_s)
        spoken = self._voice.synthesize(speakable(sentence).text, RealClock())
        return np.concatenate([np.zeros(0, np.int16), *[audio.samples async for audio in spoken]])


def as_request(view: View) -> ModelRequest:
    """Write what was on the wire as a language model of ours reads it; of the contexts only the latest holds."""
    names = {item.call_id: item.name for item in view.items if isinstance(item, Call)}
    messages = [message for item in view.items for message in _messages(item, names)]
    if (context := latest_context(view)) is not None:
        messages.append(_framework(context.text))
    return ModelRequest(
        system_prompt=view.instructions, messages=tuple(messages), tools=tuple(_tool(offer) for offer in view.tools)
    )


def _messages(item: Item, names: dict[str, str]) -> Iterator[Message]:
    match item:
        case Call():
            call = ToolCall(id=item.call_id, tool_name=item.name, input_args=dict(item.arguments))
            yield Message(sender="agent", tool_calls=(call,))
        case Result():
            name = names.get(item.call_id, "")
            result = ToolResult(tool_name=name, call_id=item.call_id, result=_outcome(item.output))
            yield Message(sender="user", text=RESULTS_TEXT, tool_results=(result,))
        case Words() if context_in(item.text) is None:
            if item.role == "system":
                yield _framework(item.text)
            else:
                yield Message(sender=item.role, text=item.text)


def _framework(text: str) -> Message:
    late = Message(sender="user", text=text, framework_context="tool_result")
    is_late = text.startswith("The call of ") and read_late(late) is not None
    return late if is_late else Message(sender="user", text=text, framework_context="runtime")


def _outcome(output: str) -> ToolResultData:
    """Read a result: an object of ``status``, ``data`` and ``message``, or a text that holds one in ``output``."""
    try:
        read: Any = json.loads(output)
    except ValueError:
        return ToolResultData(status="success", data=output)
    if isinstance(read, dict) and "output" in read:
        inner = read["output"]
        return _outcome(inner if isinstance(inner, str) else json.dumps(inner))
    if isinstance(read, dict) and read.get("status") in ("success", "error", "aborted"):
        return ToolResultData(status=read["status"], data=read.get("data"), message=read.get("message"))
    return ToolResultData(status="success", data=read)


def _tool(offer: Offer) -> ToolSpec:
    """Read a tool; what a caller may say is told in its description."""
    said = _MAY_SAY.search(offer.description)
    return ToolSpec(
        name=offer.name,
        description=_MAY_SAY.sub("", offer.description),
        input_schema=dict(offer.parameters),
        examples=() if said is None else tuple(_EXAMPLE.findall(said["examples"])),
    )
