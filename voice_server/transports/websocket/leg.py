"""A socket's leg: a call whose client comes over one connection, and may come back over another.

Above: ``calls`` attaches lines to it. Below: a :class:`~voice_server.live.LiveCall`, and the line there is just now.
"""

from __future__ import annotations

from collections.abc import Mapping

from agents.core.line import LineError
from pipelines.audio.frame import Frame
from voice_server.clients.commands import Command, Played, Start
from voice_server.clients.events import ClientEvent, PlayoutOrdered
from voice_server.clients.stream import Told
from voice_server.ending import Ending
from voice_server.leg import Transport
from voice_server.live import LiveCall
from voice_server.transports.websocket.line import Line, LineRefusedError
from voice_server.transports.websocket.output import Order, SocketOutput
from voice_server.transports.websocket.session import CloseCode

__all__ = ["SocketLeg"]


class SocketLeg:
    """A :class:`~voice_server.leg.Leg`; also what a line sees of the call.

    Args:
        call: whose.
        start: what its first client said.
    """

    transport = Transport.SOCKET

    def __init__(self, call: LiveCall, start: Start) -> None:
        self.call = call
        self.output = SocketOutput(
            rate=call.premises.house.synthesizer.rate, can_pause=start.pauses, order=self._order_playout
        )
        self._start = start
        self._line: Line | None = None

    @property
    def hears(self) -> int:
        """Hertz of what the client sends."""
        return self._start.rate

    @property
    def attached(self) -> bool:
        """Whether a client is connected."""
        return self._line is not None

    @property
    def caller(self) -> Mapping[str, str]:
        """What is known of the client: nothing but how it comes."""
        return {"kind": self.transport.value}

    async def transfer(self, to: str) -> None:
        """Refuse: there is no telephone.

        Raises:
            LineError: always.
        """
        raise LineError("this caller is not on a telephone, and cannot be put through; take a message instead")

    def begin(self) -> None:
        """The call hears from now on: whoever waits for that finds out by themselves."""

    def notice(self, event: ClientEvent) -> None:
        """Clients are told of something: a line reads it by itself."""

    async def run(self) -> None:
        """Do nothing: lines do it all."""

    async def aclose(self, ending: Ending) -> None:
        """Close the connection. Idempotent."""
        line, self._line = self._line, None
        if line is None:
            return
        if not self.call.hearing.is_set():  # it waits to be greeted
            self._catch_up(line, 0)
        self.call.stream.drop(line)
        line.close(ending.close, ending.value)

    # ------------------------------------------------------------------------------------------------------- its line

    def attach(self, line: Line, start: Start) -> None:
        """Talk to a client from now on; it is greeted when it waits for :meth:`ready`.

        Raises:
            LineRefusedError: there is one already, or this one differs in what cannot change in mid-call.
        """
        if self._line is not None:
            raise LineRefusedError(CloseCode.TAKEN, "taken", "this conversation's call has a client already")
        if start.pauses != self.output.can_pause or start.mode not in (None, self.call.mode.value):
            raise LineRefusedError(
                CloseCode.NOT_UNDERSTOOD, "bad_message", "a call goes on with the `mode` and `pauses` it began with"
            )
        self.call.stop_waiting()
        self._line = line
        self._start = start

    async def ready(self) -> None:
        """Wait until the call hears, then greet the client and tell it what it missed."""
        call = self.call
        resumed = call.hearing.is_set()
        await call.hearing.wait()
        line, controls = self._line, call.controls
        if line is None or controls is None:
            return
        line.offer(call.aside(call.greeting(resumed=resumed)))
        self._catch_up(line, self._start.after if resumed else 0)
        call.stream.add(line)
        if (screen := call.screen) is not None:
            screen.show() if self._start.screen else screen.tell_again()
        self.output.connect(line)
        if resumed:
            if self._start.after is None:
                call.tell_again()
            if self._start.muted not in (None, controls.muted):
                controls.mute() if self._start.muted else controls.unmute()
            controls.restore()

    def detach(self, line: Line) -> None:
        """The client is gone: wait for it a while, and be silent meanwhile. Idempotent."""
        if self._line is not line:
            return
        self._line = None
        self.call.stream.drop(line)
        self.output.connect(None)
        self.call.wait_for_caller(self.call.premises.settings.grace_s)

    def hear(self, frame: Frame) -> None:
        """Take the caller's audio."""
        self.call.hear(frame)

    def obey(self, command: Command) -> None:
        """Do what the client says."""
        if isinstance(command, Played):
            self.output.acknowledge(command)
        else:
            self.call.obey(command)

    def aside(self, event: ClientEvent) -> Told:
        """Put an event into its envelope for one connection alone."""
        return self.call.aside(event)

    def _catch_up(self, line: Line, after: int | None) -> None:
        if after is not None:
            for told in self.call.missed(after):
                line.offer(told)

    def _order_playout(self, order: Order, epoch: int) -> None:
        self.call.tell(PlayoutOrdered(order=order, epoch=epoch))
