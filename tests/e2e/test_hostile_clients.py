"""Clients that mean harm, or mean nothing: refused with a code and a sentence, and nobody else is harmed.

Seconds of fuzzing in the suite; ``FUZZ_S=60`` takes its time.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from tests.voice_server.phone import calling
from tests.voice_server.serving import Served, serving
from voice_server.house import House

pytestmark = pytest.mark.realtime

FUZZ_S = float(os.environ.get("FUZZ_S", "4"))


@pytest.fixture(scope="module")
def served(house: House) -> Iterator[Served]:
    with serving(house, grace_s=0.0, key="open sesame") as served:
        yield served


START = json.dumps({"type": "start", "key": "open sesame"})


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ([START, *[bytes(640)] * 200], 4413),
        ([START, *["{}"] * 7], 4400),
        ([START, *[bytes(641)] * 7], 4400),
        ([START, bytes(70_000)], 1009),
        ([START, "x" * 70_000], 1009),
        ([bytes(640)], 4400),
        (["hello"], 4400),
        (['{"type": "start"}'], 4401),
    ],
)
async def test_who_does_not_keep_to_the_protocol_is_sent_away_with_a_reason(
    served: Served, said: list[str | bytes], code: int
) -> None:
    async with connect(served.voice, compression=None, max_size=None) as socket:
        for message in said:
            await socket.send(message)
        async with asyncio.timeout(5):
            await _drain(socket)
        assert socket.close_code == code
        assert socket.close_reason
    await _no_calls(served)


async def test_who_says_nothing_is_sent_away(served: Served) -> None:
    async with connect(served.voice) as socket, asyncio.timeout(8):
        await socket.wait_closed()
        assert socket.close_code == 4408


async def test_who_does_not_read_is_given_up(served: Served) -> None:
    started = time.monotonic()
    async with connect(served.voice, compression=None, max_queue=1) as socket:
        await socket.send(START)
        await socket.recv()
        (call,) = await _calls(served)
        socket.transport.pause_reading()
        text = "Once upon a time there was a caller who never listened to what they were told. " * 25
        while time.monotonic() - started < 60 and await _calls(served):
            await asyncio.to_thread(served.ask, "POST", f"/api/calls/{call['id']}/narrate", {"text": text}, **KEY)
            await socket.send(bytes(640))
            await asyncio.sleep(0.02)
    await _no_calls(served)


async def test_whatever_comes_the_server_lives_and_an_honest_caller_is_answered_in_time(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    dice = random.Random(20_261_201)
    over = time.monotonic() + FUZZ_S
    async with calling(served.voice, start={"key": "open sesame"}) as phone, asyncio.TaskGroup() as group:
        await phone.hears("ready")
        for _ in range(6):
            group.create_task(_misbehave(served, random.Random(dice.random()), over))
        turns = 0
        while time.monotonic() < over or turns == 0:
            asked = time.monotonic()
            phone.says("twelve-times-seven")
            turns += 1
            await phone.hears("utterance", 10, count=turns)
            assert time.monotonic() - asked < 6
            await phone.hears("spoken", 10, count=turns)
    await _no_calls(served)
    assert (await asyncio.to_thread(served.ask, "GET", "/ready")).status == 200
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


KEY = {"Authorization": "Bearer open sesame"}


async def _drain(socket: ClientConnection) -> None:
    with suppress(ConnectionClosed):
        async for _ in socket:
            pass


async def _no_calls(served: Served) -> None:
    async with asyncio.timeout(5):
        while await _calls(served):  # noqa: ASYNC110 - they are in another thread
            await asyncio.sleep(0.05)


async def _calls(served: Served) -> list[Any]:
    answer = await asyncio.to_thread(served.ask, "GET", "/api/calls", **KEY)
    calls: list[Any] = answer.body["calls"]
    return calls


async def _misbehave(served: Served, dice: random.Random, over: float) -> None:
    kinds: list[Callable[[Served, random.Random], Coroutine[Any, Any, None]]] = [_babble, _vanish, _garble]
    while time.monotonic() < over:
        await dice.choice(kinds)(served, dice)


async def _babble(served: Served, dice: random.Random) -> None:
    """Say all kinds of things, and leave in one way or another."""
    try:
        async with connect(served.voice, compression=None) as socket:
            if dice.random() < 0.9:
                await socket.send(START)
            for _ in range(dice.randrange(60)):
                await socket.send(_anything(dice))
                await asyncio.sleep(dice.choice((0.0, 0.0, 0.02)))
            if dice.random() < 0.3:
                socket.transport.abort()
    except (WebSocketException, OSError):
        pass


async def _vanish(served: Served, dice: random.Random) -> None:
    """Begin a connection and break it off in the middle of a frame."""
    _, writer = await asyncio.open_connection("127.0.0.1", served.port)
    handshake = (
        b"GET /api/voice HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    writer.write((handshake + dice.randbytes(dice.randrange(200)))[: dice.randrange(1, 400)])
    await asyncio.sleep(dice.random() * 0.05)
    writer.transport.abort()


async def _garble(served: Served, dice: random.Random) -> None:
    """Send what is no HTTP, or announce a gigabyte."""
    _, writer = await asyncio.open_connection("127.0.0.1", served.port)
    head = b"POST /api/calls/%032d/narrate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n" % 0
    writer.write(dice.choice((dice.randbytes(300), head + bytes(30_000))))
    await asyncio.sleep(dice.random() * 0.05)
    writer.close()


def _anything(dice: random.Random) -> str | bytes:
    match dice.randrange(8):
        case 0:
            return dice.randbytes(dice.randrange(4_000))
        case 1:
            return "".join(map(chr, (dice.randrange(0xD800) for _ in range(dice.randrange(100)))))
        case 2:
            return json.dumps({"type": "played", "epoch": dice.randrange(-2, 9), "ms": dice.uniform(-1e3, 1e9)})
        case 3:
            return json.dumps({"type": dice.choice(("mute", "unmute", "commit", "interrupt", "hangup", "start"))})
        case 4:
            return json.dumps({"type": dice.choice(("resolve", "reject")), "slot": "slot_1"})
        case _:
            return bytes(640)
