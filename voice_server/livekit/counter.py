"""The counter: where participants hand in what they want. Each is understood or refused, to its sender alone.

Above: ``leg``. Below: ``commands`` reads them, and the call obeys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import ValidationError

from pipelines.clock import Clock
from voice_server.clients.allowance import Allowance
from voice_server.clients.commands import LONGEST_COMMAND, Command, CommandError, Say, Start, parse_command
from voice_server.clients.events import Failure
from voice_server.live import LiveCall
from voice_server.livekit.post import Letter, Pages
from voice_server.livekit.room import CHAT

if TYPE_CHECKING:
    from livekit import rtc

__all__ = ["Counter"]

MISTAKES = 5.0
"""Answers that somebody gets who makes mistakes, then one a minute: as on a socket, which is closed then."""

COMMANDS_PER_S = 50.0
"""Commands of one participant; acknowledgements, which mean nothing here, are ten of them."""

READ_S = 10.0
"""Seconds a text may take to arrive."""

MOST_READERS = 8
"""Texts that may arrive at the same time."""


class _Customer:
    """What one participant may still do."""

    def __init__(self, now: float) -> None:
        self.commands = Allowance(per_s=COMMANDS_PER_S, first=COMMANDS_PER_S, most=COMMANDS_PER_S, now=now)
        self.mistakes = Allowance(per_s=1 / 60, first=MISTAKES, most=MISTAKES, now=now)


class Counter:
    """One call's.

    Args:
        call: obeys.
        clock: the call's.
        post: takes what is answered.
        log: takes the identity of whoever made a mistake, and which.
    """

    def __init__(
        self, call: LiveCall, clock: Clock, post: Callable[[Letter], None], log: Callable[[str, str], None]
    ) -> None:
        self._call = call
        self._clock = clock
        self._post = post
        self._log = log
        self._customers: dict[str, _Customer] = {}
        self._reading = 0

    def forget(self, identity: str) -> None:
        """Somebody has left. Idempotent."""
        self._customers.pop(identity, None)

    def take(self, identity: str, text: str, *, caller: str | None) -> None:
        """Take a command.

        Args:
            identity: whose.
            text: as it came.
            caller: the identity that may say what is to be done.
        """
        if not self._customer(identity).commands.take(1.0, self._clock.now()):
            self._refuse(identity, "too_fast", f"more than {COMMANDS_PER_S:.0f} commands a second; say less")
            return
        try:
            self._obey(identity, parse_command(text), caller)
        except CommandError as error:
            self._refuse(identity, "bad_message", str(error))

    def read(
        self,
        identity: str,
        topic: str,
        reader: rtc.TextStreamReader,
        group: asyncio.TaskGroup,
        caller: Callable[[], str | None],
    ) -> None:
        """Read a command, or something typed, that comes as a text stream."""
        if self._reading >= MOST_READERS:
            reader.close()
            self._refuse(identity, "too_fast", f"{MOST_READERS} texts arrive just now; send one after the other")
            return
        self._reading += 1
        group.create_task(self._read(identity, topic, reader, caller), name="text stream")

    async def _read(
        self, identity: str, topic: str, reader: rtc.TextStreamReader, caller: Callable[[], str | None]
    ) -> None:
        from livekit.rtc import StreamError

        try:
            async with asyncio.timeout(READ_S):
                text = await reader.read_all()
        except (StreamError, TimeoutError):
            self._refuse(identity, "bad_message", f"a text did not arrive, or is longer than {LONGEST_COMMAND} bytes")
            return
        finally:
            self._reading -= 1
            reader.close()
        if topic == CHAT:
            self._type(identity, text, caller())
        else:
            self.take(identity, text, caller=caller())

    def _type(self, identity: str, text: str, caller: str | None) -> None:
        try:
            self._obey(identity, Say(text=text), caller)
        except ValidationError as error:
            self._refuse(identity, "bad_message", f"what was typed does not fit: {error.errors()[0]['msg']}")

    def _obey(self, identity: str, command: Command, caller: str | None) -> None:
        call = self._call
        if isinstance(command, Start):
            if command.screen and identity == caller and call.screen is not None:
                call.screen.show()
            if command.after is not None and (missed := call.missed(command.after)):
                self._post(Pages(pages=tuple(told.text for told in missed), to=(identity,)))
        elif identity == caller:
            call.obey(command)
        else:
            self._refuse(identity, "not_yours", f"{command.type!r} is for the participant to say who is listened to")

    def _refuse(self, identity: str, code: str, message: str) -> None:
        if self._customer(identity).mistakes.take(1.0, self._clock.now()):
            self._log(identity, message)
            told = self._call.aside(Failure(code=code, message=message))
            self._post(Pages(pages=(told.text,), to=(identity,)))

    def _customer(self, identity: str) -> _Customer:
        if (customer := self._customers.get(identity)) is None:
            customer = self._customers[identity] = _Customer(self._clock.now())
        return customer
