from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from agents.core.line import LineError
from pipelines.clock import VirtualClock
from pipelines.events import TurnCommitted
from voice_server.ending import Ending
from voice_server.handset import FAREWELL_S, Handset


@dataclass
class Controls:
    muted: bool = False

    def mute(self) -> None:
        self.muted = True

    def unmute(self) -> None:
        self.muted = False


@dataclass
class Call:
    """A call, and its leg."""

    controls: Any = field(default_factory=Controls)
    idle: bool = False
    endings: list[Ending] = field(default_factory=list)
    caller: Mapping[str, str] = field(default_factory=lambda: {"kind": "sip", "number": "+431"})
    put_through: list[str] = field(default_factory=list)

    def end(self, ending: Ending) -> None:
        self.endings.append(ending)

    async def transfer(self, to: str) -> None:
        if to == "tel:000":
            raise LineError("nobody answered")
        self.put_through.append(to)


def _handset(clock: VirtualClock) -> tuple[Call, Handset]:
    call: Any = Call()
    return call, Handset(call, call, clock)


_TURN = TurnCommitted(turn=1, utterance=2, text="One more thing.", ended_at=0.0, heard_at=0.0, reason="")


def test_it_is_hung_up_when_all_has_been_heard_and_not_before() -> None:
    clock = VirtualClock()

    async def story() -> None:
        call, handset = _handset(clock)
        handset.hang_up()
        await clock.sleep(5.0)
        assert not call.endings
        call.idle = True
        await clock.sleep(0.2)
        assert call.endings == [Ending.ENDED]

    clock.run(story())


def test_who_says_something_before_that_is_answered() -> None:
    clock = VirtualClock()

    async def story() -> None:
        call, handset = _handset(clock)
        handset.hang_up()
        await clock.sleep(1.0)
        handset.tell(_TURN)
        call.idle = True
        await clock.sleep(60.0)
        assert not call.endings
        handset.hang_up()
        await clock.sleep(0.2)
        assert call.endings == [Ending.ENDED]

    clock.run(story())


def test_a_noise_does_not_keep_the_line_open_for_ever() -> None:
    clock = VirtualClock()

    async def story() -> None:
        call, handset = _handset(clock)
        handset.hang_up()
        await clock.sleep(FAREWELL_S + 0.2)
        assert call.endings == [Ending.ENDED]

    clock.run(story())


def test_when_the_call_is_over_nothing_is_waited_for() -> None:
    clock = VirtualClock()

    async def story() -> None:
        call, handset = _handset(clock)
        handset.hang_up()
        handset.close()
        call.idle = True
        await clock.sleep(60.0)
        assert not call.endings

    clock.run(story())


def test_on_hold_the_caller_is_not_listened_to() -> None:
    call, handset = _handset(VirtualClock())
    handset.hold()
    assert handset.on_hold and call.controls.muted
    handset.unhold()
    assert call.controls.muted is False


def test_a_call_that_has_not_begun_cannot_be_put_on_hold() -> None:
    call, handset = _handset(VirtualClock())
    call.controls = None
    handset.hold()
    assert not handset.on_hold


async def test_who_was_put_through_is_gone() -> None:
    call, handset = _handset(VirtualClock())
    await handset.transfer("tel:+431234567")
    assert call.put_through == ["tel:+431234567"]
    assert call.endings == [Ending.TRANSFERRED]


@pytest.mark.parametrize("place", ["", "somewhere", "tel:", "tel:000", "sip:a b", "javascript:1", "tel:+43\n1"])
async def test_who_could_not_be_put_through_stays(place: str) -> None:
    call, handset = _handset(VirtualClock())
    with pytest.raises(LineError):
        await handset.transfer(place)
    assert not call.endings
