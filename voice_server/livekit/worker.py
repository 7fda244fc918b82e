"""The command `worker`: LiveKit dispatches, balances and drains; what it gives us are the same calls as anywhere.

Above: ``cli``. Below: LiveKit Agents' ``AgentServer`` takes jobs and runs each in a thread; there a job only asks for a
call, which is held on the main loop among all others, and is over when the call is.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voice_server.calls import CallRefusedError
from voice_server.clients.events import CallEnded, Failure
from voice_server.clients.stream import EventStream
from voice_server.ending import Ending
from voice_server.errors import UsageError
from voice_server.live import LiveCall
from voice_server.livekit.access import Access
from voice_server.livekit.dispatch import Dispatch, DispatchError
from voice_server.livekit.leg import join
from voice_server.livekit.load import Load
from voice_server.livekit.room import GLOVE
from voice_server.livekit.server import TroubleError, close_room, identify
from voice_server.service import Front, Readiness
from voice_server.settings import Settings

if TYPE_CHECKING:
    from livekit.agents import AgentServer, JobContext, JobRequest

__all__ = ["run"]

_log = logging.getLogger(__name__)

ENDED_S = 10.0
"""Seconds a call may take to end when its job is told to: settling what was heard, and leaving the room."""


def run(settings: Settings, say: Callable[[str], None]) -> None:
    """Take jobs until a signal comes. Blocking.

    Args:
        settings: what was asked.
        say: tells whoever started it, in sentences.

    Raises:
        UsageError: there is no LiveKit server to work for, it does not take us, or the service cannot be opened; the
            sentence says why.
    """
    asyncio.run(_Worker(settings, Access.of(settings), say).run())


@dataclass(slots=True, kw_only=True)
class _Task:
    """What a job is about."""

    room: str
    identity: str
    """The agent's, in the room."""
    metadata: str
    call: LiveCall | None = None
    """Once it has begun."""

    def end(self) -> None:
        """End the call."""
        if self.call is not None:
            self.call.end(Ending.ENDED)


class _Worker:
    """A worker, from its registration to its last call.

    Args:
        settings: what was asked.
        access: to the LiveKit server.
        say: tells whoever started it.
    """

    def __init__(self, settings: Settings, access: Access, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._access = access
        self._say = say
        self._front = Front(settings)
        self._load = Load(settings.calls, len(os.sched_getaffinity(0)))
        self._expected = 0
        """Jobs that were accepted and have no call yet."""
        self._going = asyncio.Event()
        """Set when somebody wants us to go, or we cannot stay."""
        self._failure: UsageError | None = None

    async def run(self) -> None:
        """Work until somebody wants us to go.

        Raises:
            UsageError: it cannot be done.
        """
        self._loop = asyncio.get_running_loop()
        try:
            await identify(self._access)
        except TroubleError as error:
            raise UsageError(error.message) from None
        async with asyncio.TaskGroup() as group:
            await self._front.open(group)
            try:
                await self._serve(group)
            except UsageError as error:
                self._failure = error
            finally:
                await self._front.aclose()
        if self._failure is not None:
            raise self._failure

    async def _serve(self, group: asyncio.TaskGroup) -> None:
        if self._front.readiness is Readiness.FAILED:
            raise UsageError(self._front.reason)
        server = await asyncio.to_thread(self._make_server)
        server.once("worker_registered", self._registered)
        with self._signals():
            try:
                group.create_task(self._work(server), name="worker")
                await self._going.wait()
                if self._failure is None:
                    within = f"in {self._settings.drain_s:g} s at the latest"
                    self._say(f"going away when calls are over, {within}; again: at once")
                    await asyncio.gather(server.drain(timeout=None), self._front.drain())
            finally:
                await server.aclose()

    async def _work(self, server: AgentServer) -> None:
        try:
            await server.run()
        except Exception as error:  # noqa: BLE001 - the SDK's boundary; `run` raises it
            self._failure = UsageError(f"LiveKit's server at {self._access.url} is not to be worked for: {error}")
        finally:
            self._going.set()

    def _make_server(self) -> AgentServer:
        from livekit.agents import AgentServer, JobExecutorType

        logging.getLogger("livekit.agents").addFilter(_to_the_point)
        server = AgentServer(
            ws_url=self._access.url,
            api_key=self._access.api_key,
            api_secret=self._access.api_secret,
            job_executor_type=JobExecutorType.THREAD,
            num_idle_processes=0,
            # Whom we take is said in `_decide`, where calls that are about to begin count, too.
            load_threshold=float("inf"),
            load_fnc=self._measure,
            shutdown_process_timeout=ENDED_S,
            host=self._settings.host,
            port=self._settings.worker_port,
        )
        server.rtc_session(self._begin, agent_name=self._settings.livekit_agent_name or "", on_request=self._decide)
        return server

    def _registered(self, worker: str, _info: object) -> None:
        name = self._settings.livekit_agent_name
        rooms = f"rooms that ask for {name!r}" if name else "every room that is opened"
        self._say(f"ready: {worker} at {self._access.url} takes {rooms}")

    def _measure(self) -> float:
        """Called in a thread."""
        calls = len(self._front.running.calls) + self._expected
        return self._load.measure(calls, time.process_time(), self._loop.time())

    # --------------------------------------------------------------------------------------------------------- a job

    async def _decide(self, request: JobRequest) -> None:
        """Take a job, or leave it to another worker. On the main loop."""
        calls = self._front.running.calls
        if self._front.readiness is not Readiness.READY or len(calls) + self._expected >= calls.limit:
            await request.reject(terminate=False)
            return
        self._expected += 1
        try:
            await request.accept(identity=f"agent-{request.id}")
        except BaseException:
            self._expected -= 1
            raise

    async def _begin(self, job: JobContext) -> None:
        """Have the call of a job held. In the job's thread and on its loop; the job ends when the call does."""
        loop = asyncio.get_running_loop()
        task = _Task(room=job.job.room.name, identity=job.local_participant_identity, metadata=job.job.metadata)
        holding = asyncio.run_coroutine_threadsafe(self._hold(task), self._loop)

        def over(held: Future[Ending]) -> None:
            reason = Ending.FAILED if held.exception() is not None else held.result()
            loop.call_soon_threadsafe(job.shutdown, reason.value)

        async def stop(_reason: str) -> None:
            """LiveKit ends the job: so ends its call, if it has not ended by itself."""
            self._loop.call_soon_threadsafe(task.end)
            await asyncio.wrap_future(holding)

        job.add_shutdown_callback(stop)
        holding.add_done_callback(over)

    async def _hold(self, task: _Task) -> Ending:
        """Hold a call to its end. On the main loop."""
        try:
            invitation = Dispatch.read(task.metadata).invitation(task.room, task.identity)
            call = task.call = join(self._front.service.calls, self._access, invitation)
        except DispatchError as error:
            return await self._refuse(task.room, Failure(code="bad_dispatch", message=str(error)))
        except CallRefusedError as refused:
            return await self._refuse(task.room, Failure(code=refused.refusal.value, message=refused.message))
        finally:
            self._expected -= 1
        await call.over.wait()
        if call.ending is Ending.FAILED and call.failure is not None:
            return await self._refuse(task.room, call.failure, call.id)
        return call.ending or Ending.FAILED

    async def _refuse(self, room: str, failure: Failure, call: str = "") -> Ending:
        """Close a room nobody can be answered in: whoever waits there is told why."""
        _log.warning("room %r: no agent comes (%s): %s", room, failure.code, failure.message)
        stream = EventStream(call, self._front.clock.now)
        parting = [stream.aside(event).text for event in (failure, CallEnded(reason=Ending.FAILED.value))]
        try:
            await close_room(self._access, room, GLOVE, parting)
        except TroubleError as error:
            _log.warning("room %r cannot be closed: %s", room, error.message)
        return Ending.FAILED

    # ------------------------------------------------------------------------------------------------------- signals

    @contextmanager
    def _signals(self) -> Iterator[None]:
        signals = (signal.SIGINT, signal.SIGTERM)
        for number in signals:
            self._loop.add_signal_handler(number, self._asked_to_go)
        try:
            yield
        finally:
            for number in signals:
                self._loop.remove_signal_handler(number)

    def _asked_to_go(self) -> None:
        if self._going.is_set():
            self._front.hurry()
        self._going.set()


def _to_the_point(record: logging.LogRecord) -> bool:
    """Drop what the SDK complains of and is meant so: calls are on the main loop, and a thread needs no warming."""
    return not record.getMessage().startswith(
        ("The job task completed without establishing a connection", "no warmed process available")
    )
