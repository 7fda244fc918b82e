"""A handset: what an agent's tools may do to the call they are used in.

Above: ``live`` gives it to the agent, as :class:`~agents.core.line.Line`. Below: the call's controls, and its leg.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from agents.core.line import LineError
from pipelines.call import Call
from pipelines.clock import Clock, Timer
from pipelines.events import CallEvent, TurnCommitted
from voice_server.ending import Ending
from voice_server.leg import Leg

__all__ = ["Handset", "Held"]

LOOK_EVERY_S = 0.1
"""Seconds between two looks at whether all has been heard: nobody notices how long the line stays open behind it."""

FAREWELL_S = 30.0
"""Seconds after which it is hung up whatever there is still to be heard: longer than any goodbye."""

_PLACE = re.compile(r"(tel:\+?[0-9*#().-]{3,32}|sips?:[^\s<>\"]{3,200})")


class Held(Protocol):
    """A call, as its handset sees it."""

    @property
    def controls(self) -> Call | None:
        """What it is steered by."""
        ...

    @property
    def idle(self) -> bool:
        """Whether nobody speaks, and nothing waits to be said or heard."""
        ...

    def end(self, ending: Ending) -> None:
        """End it."""
        ...


class Handset:
    """One call's.

    Args:
        call: the call.
        leg: the way to its caller.
        clock: the call's.
    """

    def __init__(self, call: Held, leg: Leg, clock: Clock) -> None:
        self._call = call
        self._leg = leg
        self._clock = clock
        self._hung_up_at: float | None = None
        """Since when all that is being said is to be the last; ``None``: it is not."""
        self._timer: Timer | None = None

    @property
    def caller(self) -> Mapping[str, str]:
        """What is known of the caller's end."""
        return self._leg.caller

    @property
    def on_hold(self) -> bool:
        """Whether the caller is not listened to."""
        return (controls := self._call.controls) is not None and controls.muted

    def hang_up(self) -> None:
        """End the call when all has been heard, unless the caller says something before that."""
        self._hung_up_at = self._clock.now()
        self._look_later()

    def hold(self) -> None:
        """Do not listen to the caller. Idempotent."""
        if (controls := self._call.controls) is not None:
            controls.mute()

    def unhold(self) -> None:
        """Listen to them again. Idempotent."""
        if (controls := self._call.controls) is not None:
            controls.unmute()

    async def transfer(self, to: str) -> None:
        """Put the caller through.

        Raises:
            LineError: the line cannot, the place is none, or nobody answered.
        """
        if _PLACE.fullmatch(to) is None:
            raise LineError("a call is put through to a place such as tel:+431234567 or sip:desk@example.com")
        await self._leg.transfer(to)
        self._call.end(Ending.TRANSFERRED)

    def tell(self, event: CallEvent) -> None:
        """Take an event: a ``Tell``. Who still has something to say is not hung up on."""
        if isinstance(event, TurnCommitted):
            self._hung_up_at = None

    def close(self) -> None:
        """The call is over. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_later(self) -> None:
        self.close()
        self._timer = self._clock.call_at(self._clock.now() + LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._hung_up_at is None:
            return
        if self._call.idle or self._clock.now() - self._hung_up_at >= FAREWELL_S:
            self._call.end(Ending.ENDED)
        else:
            self._look_later()
