"""`voice-server worker` beside a real LiveKit server: it is dispatched to rooms, and their callers are answered."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from livekit import api, rtc

from tests.livekit.server import LiveKitServer
from tests.livekit.stage import Caller
from voice_server.livekit.access import Access
from voice_server.livekit.dispatch import LARGEST_METADATA
from voice_server.livekit.tokens import caller_token

pytestmark = [pytest.mark.room, pytest.mark.realtime, pytest.mark.engine]

NAME = "trips"
READY_S = 60.0
HOSTS = {"greeter": "tests.livekit.hosts:greeter", "broken": "tests.livekit.hosts:broken"}


class Worker:
    """A worker in a process of its own, and the rooms it works in."""

    def __init__(self, server: LiveKitServer, process: asyncio.subprocess.Process, log: Path) -> None:
        self.access = Access(url=server.url, api_key=server.api_key, api_secret=server.api_secret)
        self.process = process
        self.log = log
        self._callers: list[Caller] = []
        self._rooms = 0

    def room(self) -> str:
        self._rooms += 1
        return f"{NAME}-{self.process.pid}-{self._rooms}"

    async def dispatch(self, room: str, metadata: str | dict[str, Any] = "") -> None:
        text = metadata if isinstance(metadata, str) else json.dumps(metadata)
        async with api.LiveKitAPI(self.access.url, self.access.api_key, self.access.api_secret) as livekit:
            await livekit.agent_dispatch.create_dispatch(
                api.CreateAgentDispatchRequest(agent_name=NAME, room=room, metadata=text)
            )

    async def caller(self, room: str) -> Caller:
        caller = Caller("ann", rtc.Room())
        self._callers.append(caller)
        caller.attend()
        token = caller_token(self.access, room=room, identity="ann", conversation="of-no-matter", lasts_s=600.0)
        await caller.room.connect(self.access.url, token)
        return caller

    async def says(self, pattern: str, limit_s: float = READY_S) -> None:
        async with asyncio.timeout(limit_s):
            while not re.search(pattern, self.log.read_text()):
                assert self.process.returncode is None, self.log.read_text()
                await asyncio.sleep(0.05)

    async def leave(self) -> None:
        for caller in self._callers:
            await caller.leave()


@asynccontextmanager
async def working(server: LiveKitServer, folder: Path, **settings: str) -> AsyncIterator[Worker]:
    log = folder / "worker.log"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VOICE_", "LIVEKIT_"))}
    environment |= {
        "LIVEKIT_URL": server.url,
        "LIVEKIT_API_KEY": server.api_key,
        "LIVEKIT_API_SECRET": server.api_secret,
        "LIVEKIT_AGENT_NAME": NAME,
        "VOICE_WORKER_PORT": "0",
        "VOICE_MODEL": "offline",
        "VOICE_AGENT": "agents.desk:create",
        "VOICE_AGENTS": json.dumps(HOSTS),
        **settings,
    }
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("voice-server")),
            "worker",
            env=environment,
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    worker = Worker(server, process, log)
    try:
        await worker.says("ready: ")
        yield worker
    finally:
        await worker.leave()
        if process.returncode is None:
            process.kill()
        await process.wait()


def closed(caller: Caller) -> Callable[[], bool]:
    return lambda: not caller.room.isconnected()


async def test_rooms_are_answered_refused_with_a_reason_and_drained(
    livekit_server: LiveKitServer, tmp_path: Path
) -> None:
    async with working(livekit_server, tmp_path, VOICE_CALLS="12") as worker:
        # Ten at once.
        rooms = [worker.room() for _ in range(10)]
        callers = await asyncio.gather(*map(worker.caller, rooms))
        await asyncio.gather(*map(worker.dispatch, rooms))
        for caller in callers:
            assert (await caller.told("ready", 30.0))["agent"] == "agents.desk:create"
        await callers[0].publish()
        await asyncio.sleep(0.5)  # what a subscription takes
        callers[0].says("twelve-times-seven")
        assert "84" in (await callers[0].told("spoken", 30.0))["heard"]
        for caller in callers[1:]:
            await caller.commands("hangup")
            await caller.told("ended", reason="hung_up")

        # Whom the metadata names answers, with what it says, in the conversation it names.
        room = worker.room()
        named = await worker.caller(room)
        await worker.dispatch(room, {"agent": "greeter", "inputs": {"name": "Ann"}, "conversation": "ann-7"})
        ready = await named.told("ready")
        assert (ready["agent"], ready["conversation"]) == ("greeter", "ann-7")

        # Nobody can be had: the room is told why, and closed; the worker stays well.
        refusals: dict[str, str | dict[str, Any]] = {
            "its factory raised RuntimeError": {"agent": "broken"},
            "there is no agent 'unheard-of'; those that may be asked for are: broken, greeter": {"agent": "unheard-of"},
            "name: Field required": {"agent": "greeter"},
            "takes no inputs": {"inputs": {"name": "Ann"}},
            "is not what a dispatch says": '{"agent": ',
            "is longer than": "x" * (LARGEST_METADATA + 1),
        }
        for reason, metadata in refusals.items():
            room = worker.room()
            waiting = await worker.caller(room)
            await worker.dispatch(room, metadata)
            await waiting.until(closed(waiting))
            assert reason in waiting.all("error")[-1]["message"]
            assert waiting.all("ended")[-1]["reason"] == "failed"
            assert re.search(rf"room '{room}'.*{re.escape(reason)}", worker.log.read_text())
        assert "Ann" not in worker.log.read_text()

        # It goes when the calls are over, and takes none before.
        worker.process.send_signal(signal.SIGTERM)
        await worker.says("going away when calls are over")
        room = worker.room()
        late = await worker.caller(room)
        await worker.dispatch(room)
        callers[0].says("three-miles")
        assert "4.83" in (await callers[0].told("spoken", 30.0, count=2))["heard"]
        assert worker.process.returncode is None
        await callers[0].commands("hangup")
        await named.commands("hangup")
        assert await asyncio.wait_for(worker.process.wait(), 30.0) == 0
        assert not late.all("ready")
        assert "Traceback" not in worker.log.read_text()


async def test_a_worker_without_the_right_key_says_so_and_does_not_stay(
    livekit_server: LiveKitServer, tmp_path: Path
) -> None:
    with pytest.raises(AssertionError, match="set LIVEKIT_API_KEY and LIVEKIT_API_SECRET"):
        async with working(livekit_server, tmp_path, LIVEKIT_API_SECRET="s" * 48):
            pass
