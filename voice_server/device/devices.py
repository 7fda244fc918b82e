"""The calls of devices: opened, found by their ids, drained.

Above: the routes. Below: each is a :class:`~voice_server.device.call.DeviceCall`, run in the server's task group.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator

from pipelines.clock import Clock
from pipelines.realtime.base import RealtimeAdapter
from voice_server.conversations import Conversations
from voice_server.device.call import DeviceCall
from voice_server.ending import Ending
from voice_server.house import House
from voice_server.settings import Settings

__all__ = ["Devices", "FullError"]


class FullError(Exception):
    """There are as many calls as are taken, or the server is going away. The message is one sentence."""


class Devices:
    """All calls of devices.

    Args:
        settings: how many there may be: as many as other calls.
        conversations: what they go on with.
        house: whose provider's model devices talk to, if there is one.
        clock: real.
        group: in which they run.
    """

    def __init__(
        self,
        settings: Settings,
        conversations: Conversations,
        house: House,
        clock: Clock,
        group: asyncio.TaskGroup,
    ) -> None:
        self.adapter = house.adapter
        self.voice = house.voice
        self._settings = settings
        self._conversations = conversations
        self._clock = clock
        self._group = group
        self._calls: dict[str, DeviceCall] = {}
        self._draining = False

    def __iter__(self) -> Iterator[DeviceCall]:
        return iter(tuple(self._calls.values()))

    def find(self, identifier: str) -> DeviceCall | None:
        """Find a call by its id."""
        return self._calls.get(identifier)

    def open(self, conversation: str | None, adapter: RealtimeAdapter) -> DeviceCall:
        """Begin one more call.

        Args:
            conversation: what it goes on with; ``None``: a new one.
            adapter: whose model its device talks to.

        Raises:
            FullError: none are taken just now.
        """
        if self._draining:
            raise FullError("the server is going away; try another one")
        if len(self._calls) >= self._settings.calls:
            raise FullError(f"there are {self._settings.calls} calls of devices, as many as are taken; try again later")
        call = DeviceCall(
            self._conversations,
            conversation or uuid.uuid4().hex,
            self._clock,
            agent=self._settings.agent,
            model=adapter.name,
        )
        self._calls[call.id] = call
        self._group.create_task(self._run(call), name=f"device {call.id}")
        return call

    def drain(self) -> None:
        """Take no new calls, and end those there are: what is said goes on without us, but nothing it wants done does.

        Idempotent.
        """
        self._draining = True
        for call in self:
            call.end(Ending.DRAINING)

    async def _run(self, call: DeviceCall) -> None:
        try:
            await call.run()
        finally:
            del self._calls[call.id]
