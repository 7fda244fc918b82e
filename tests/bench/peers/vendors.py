"""The vendors of the comparison: a recogniser, a model and a voice that take a fixed time and cost nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

__all__ = [
    "LATENCY_S",
    "LONG_REPLY",
    "RATE",
    "SHORT_REPLY",
    "TRANSCRIPT",
    "VendorVoice",
    "seconds_of",
    "speak",
    "think",
]

TRANSCRIPT = "Could you tell me when it will be ready?"
"""What the recogniser understands, whatever is said, the moment it is told that the speech is over."""

LONG_REPLY = "That can be done for you. It will be ready on Tuesday at noon, and we shall call you before."
"""Five seconds. The first sentence has six words, of which a voice that takes whole sentences waits for all."""

SHORT_REPLY = "That can be done for you. Goodbye."
"""A second and a half."""

MODEL_S = 0.1
"""From the request to the first token."""

TOKEN_S = 0.005
"""From one token to the next."""

VOICE_S = 0.08
"""From the first text to the first sound."""

LATENCY_S = MODEL_S + VOICE_S
"""What of a turn is the vendors'."""

RATE = 24_000
"""Hertz of the voice."""

_SPEED = 10.0
"""Seconds of sound made in a second."""

_CHUNK_S = 0.1
"""Seconds of sound in a chunk."""

_CHARACTERS_PER_S = 15.0

_SAMPLE = (1000).to_bytes(2, "little")


def seconds_of(text: str) -> float:
    """How long a text is spoken; by its characters without white space, so that it is the same however it is cut."""
    return len("".join(text.split())) / _CHARACTERS_PER_S


async def think(text: str) -> AsyncIterator[str]:
    """Give a text token by token, as a model's vendor would."""
    loop = asyncio.get_running_loop()
    due = loop.time() + MODEL_S
    for token in re.findall(r"\S+\s*", text):
        await asyncio.sleep(due - loop.time())
        yield token
        due += TOKEN_S


async def speak(text: str) -> AsyncIterator[bytes]:
    """Give the sound of a whole text: int16 mono at ``RATE``."""
    voice = VendorVoice()
    voice.write(text)
    voice.finish()
    async for chunk in voice.chunks():
        yield chunk


class VendorVoice:
    """A voice that takes text as it comes and speaks what it has."""

    def __init__(self) -> None:
        self._written_s = 0.0
        self._finished = False
        self._more = asyncio.Event()

    def write(self, text: str) -> None:
        """Give it more text."""
        self._written_s += seconds_of(text)
        self._more.set()

    def finish(self) -> None:
        """There is no more text."""
        self._finished = True
        self._more.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Give the sound: int16 mono at ``RATE``."""
        loop = asyncio.get_running_loop()
        await self._more.wait()
        due = loop.time() + VOICE_S
        spoken_s = 0.0
        while True:
            await asyncio.sleep(due - loop.time())
            ready_s = self._written_s - spoken_s
            if ready_s > 1e-6:
                chunk_s = min(ready_s, _CHUNK_S)
                spoken_s += chunk_s
                due += chunk_s / _SPEED
                yield _SAMPLE * round(chunk_s * RATE)
            elif self._finished:
                return
            else:
                self._more.clear()
                await self._more.wait()
                due = max(due, loop.time())
