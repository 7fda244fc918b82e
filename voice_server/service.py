"""The service: what all routes share, once it is there; and until then, why it is not.

Above: routes take a :class:`Service` as a dependency. Below: engines, conversations and calls.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from agents.core.errors import ConfigurationError, StoreError
from agents.core.model import Model
from pipelines.clock import Clock, RealClock
from pipelines.engines import EngineError
from voice_server.calls import Calls
from voice_server.chat.chats import Chats
from voice_server.conversations import Conversations
from voice_server.device.devices import Devices
from voice_server.ending import Ending
from voice_server.errors import UsageError
from voice_server.house import House
from voice_server.livekit.rooms import Rooms
from voice_server.routes.problem import Refused
from voice_server.settings import Settings
from voice_server.telemetry.loop import LoopWatch
from voice_server.telemetry.metrics import Metrics

__all__ = ["RETRY_AFTER_S", "Front", "NotReadyError", "Readiness", "Running", "Service", "Shared"]

_log = logging.getLogger(__name__)

RETRY_AFTER_S = 5
"""Seconds after which a client that came too early may try again: engines load in about as long."""


class Readiness(Enum):
    """Whether calls are taken."""

    LOADING = auto()
    READY = auto()
    DRAINING = auto()
    """No new calls; the running ones may end."""
    FAILED = auto()
    """It will never be ready."""


class NotReadyError(Refused):
    """The service is not there yet, or not any more."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            HTTPStatus.SERVICE_UNAVAILABLE, "not_ready", reason, headers={"Retry-After": str(RETRY_AFTER_S)}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What all routes share."""

    settings: Settings
    house: House
    conversations: Conversations
    calls: Calls
    rooms: Rooms
    chats: Chats
    devices: Devices
    clock: Clock

    async def drain(self, seconds: float) -> None:
        """Let calls and answers end, and end them when it takes too long. Idempotent."""
        self.devices.drain()
        await asyncio.gather(self.calls.drain(seconds), self.chats.drain(seconds))


class Front:
    """Opens the service, says whether it is there, and closes it.

    Args:
        settings: what the environment said.
        load: loads the engines; blocking.
        watch: told whenever ``readiness`` has changed.
        clock: real by default.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        load: Callable[[Settings], House] = House.load,
        watch: Callable[[Front], None] = lambda _: None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.readiness = Readiness.LOADING
        self.reason = "the engines are being loaded; try again in a few seconds"
        """Why it is not ready; empty when it is."""
        self._load = load
        self._watch = watch
        self.clock = clock or RealClock()
        self._service: Service | None = None
        self._loop_watch: LoopWatch | None = None

    @property
    def service(self) -> Service:
        """The service.

        Raises:
            NotReadyError: it is not there, or takes nothing new any more.
        """
        if self._service is None or self.readiness is not Readiness.READY:
            raise NotReadyError(self.reason)
        return self._service

    @property
    def running(self) -> Service:
        """The service, also while it drains.

        Raises:
            NotReadyError: it is not there.
        """
        if self._service is None:
            raise NotReadyError(self.reason)
        return self._service

    async def open(self, group: asyncio.TaskGroup) -> None:
        """Load engines, agent and database. What cannot be had is said by ``reason``.

        Args:
            group: in which calls run.
        """
        try:
            conversations = await Conversations.connect(self.settings)
            try:
                house = await asyncio.to_thread(self._furnish, conversations.thinks)
            except BaseException:
                await conversations.aclose()
                raise
        except (EngineError, ConfigurationError, StoreError, UsageError) as error:
            self._turn(Readiness.FAILED, str(error))
            return
        except Exception as error:  # noqa: BLE001 - a task's boundary: a user's agent may raise anything
            _log.exception("the service could not be opened")
            self._turn(Readiness.FAILED, f"opening it raised {type(error).__name__}; the log says where")
            return
        calls = Calls(self.settings, house, conversations, self.clock, group, self.metrics)
        self._service = Service(
            settings=self.settings,
            house=house,
            conversations=conversations,
            calls=calls,
            rooms=Rooms(self.settings, calls),
            chats=Chats(self.settings, conversations, self.clock, group),
            devices=Devices(self.settings, conversations, house, self.clock, group),
            clock=self.clock,
        )
        self._loop_watch = LoopWatch(self.clock, self.metrics.loop_lag.observe)
        if self.readiness is Readiness.LOADING:
            self._turn(Readiness.READY, "")

    async def drain(self) -> None:
        """Take no new calls and messages, let those there are end, and end them when it takes too long. Idempotent."""
        if self.readiness is not Readiness.FAILED:
            self._turn(Readiness.DRAINING, "the server is going away; come back to another one, or in a while")
        if self._service is not None:
            await self._service.drain(self.settings.drain_s)

    def hurry(self) -> None:
        """Let calls that drain end now."""
        if self._service is not None:
            self._service.calls.end_all(Ending.DRAINING)
            self._service.chats.abort_all()

    async def aclose(self) -> None:
        """End everything. Idempotent."""
        if self._loop_watch is not None:
            self._loop_watch.close()
        service, self._service = self._service, None
        if service is not None:
            await service.drain(0.0)
            await service.conversations.aclose()

    def _furnish(self, model: Model) -> House:
        """Load the engines, and make the speech-to-speech provider's adapter if one is wanted. Blocking."""
        return self._load(self.settings).with_adapter(self.settings, model)

    def _turn(self, readiness: Readiness, reason: str) -> None:
        self.readiness, self.reason = readiness, reason
        self._watch(self)


def _shared(connection: HTTPConnection) -> Service:
    front: Front = connection.app.state.front
    return front.service


def _running(connection: HTTPConnection) -> Service:
    front: Front = connection.app.state.front
    return front.running


Shared = Annotated[Service, Depends(_shared)]
"""The service, as a route takes it that begins something; before it is ready and while it drains the answer is 503."""

Running = Annotated[Service, Depends(_running)]
"""The service, as a route takes it that only goes on with something: also while it drains."""
