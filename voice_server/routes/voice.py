"""Where calls come in over a socket: docs/protocol.md says how to talk to it."""

from __future__ import annotations

from fastapi import APIRouter, WebSocket

from voice_server.clients.commands import Start
from voice_server.guard import fits, offered_key
from voice_server.service import Front, NotReadyError, Readiness
from voice_server.transports.websocket.leg import SocketLeg
from voice_server.transports.websocket.line import Line, LineRefusedError
from voice_server.transports.websocket.session import CloseCode

__all__ = ["router"]

router = APIRouter()


@router.websocket("/api/voice")
async def voice(socket: WebSocket) -> None:
    """Hold a call, or go on with one."""
    front: Front = socket.app.state.front

    def answer(start: Start, line: Line) -> SocketLeg:
        if not fits(front.settings.key, start.key or offered_key(socket)):
            raise LineRefusedError(
                CloseCode.UNAUTHORIZED, "unauthorized", "the key is missing or wrong; send it with `start`"
            )
        try:
            calls = front.service.calls
        except NotReadyError as error:
            going = front.readiness is Readiness.DRAINING
            close = CloseCode.GOING_AWAY if going else CloseCode.BUSY
            raise LineRefusedError(close, error.code, error.message) from None
        return calls.answer(start, line)

    line = Line(
        socket,
        front.clock,
        idle_s=front.settings.idle_s,
        answer=answer,
        lateness=front.metrics.frame_lateness.observe,
    )
    await line.run()
