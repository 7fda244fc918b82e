"""How much of what people say arrives: human prompts through whole calls, from frames to committed turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.audio.frame import Frame
from pipelines.clock import VirtualClock, fixed
from pipelines.events import TurnCommitted
from tests.bench.calls import HeldCall, engines_of
from tests.bench.figure import Figure
from tests.fixtures.human import HumanCaller, prompts
from tests.fixtures.wer import normalised, word_errors
from voice_server.house import House
from voice_server.transports.recorded import Recording

__all__ = ["ONE_TURN", "PROMPTS", "WER_PHONE", "WER_WIDE", "Arrived", "Hearing", "figures", "listen"]

PROMPTS = 60

WER_WIDE = 0.06
"""The aim for 16 kHz."""

WER_PHONE = 0.08
"""The aim for the telephone's band."""

ONE_TURN = 0.97
"""The aim: the share of prompts that are one turn, not two and not none."""

_DECODE_S = 0.15
"""Seconds charged for each decode, about what two seconds of speech take: the same every run, on any machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """One prompt, as it was committed."""

    caller: HumanCaller
    turns: tuple[TurnCommitted, ...]

    @property
    def errors(self) -> int:
        """Words that arrived wrong, did not arrive, or were never said."""
        return word_errors(normalised(self.caller.words), normalised(" ".join(turn.text for turn in self.turns)))

    def __str__(self) -> str:
        holds = ", ".join(turn.reason for turn in self.turns)
        heard = " / ".join(turn.text for turn in self.turns)
        pause = self.caller.longest_pause_s
        return f"{self.caller.name}: {self.caller.words!r} -> {heard!r} ({holds}; longest pause {pause:.2f} s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """A sample of prompts, as they were committed."""

    arrived: tuple[Arrived, ...]

    @property
    def wer(self) -> float:
        """Errors by words said, over the whole sample."""
        return sum(each.errors for each in self.arrived) / sum(
            len(normalised(each.caller.words)) for each in self.arrived
        )

    @property
    def one_turn(self) -> float:
        """The share of prompts that are one turn."""
        return sum(len(each.turns) == 1 for each in self.arrived) / len(self.arrived)

    def faults(self) -> Iterator[str]:
        """Show the prompts that arrived wrong."""
        return (str(each) for each in self.arrived if each.errors or len(each.turns) != 1)


def listen(house: House, *, phone: bool, count: int = PROMPTS) -> Hearing:
    """Hold a call for each prompt of the sample, with an agent that listens and says nothing.

    Args:
        house: the engines.
        phone: whether they are heard through a telephone.
        count: how many prompts.

    Raises:
        MissingPackageError: when the prompts are not installed.
    """
    callers = prompts(count, 1.0, 8.0, phone=phone)
    return Hearing(arrived=tuple(_arrive(house, caller) for caller in callers))


def figures(house: House) -> Iterator[Figure]:
    """Measure both bands."""
    for phone, aim in ((False, WER_WIDE), (True, WER_PHONE)):
        band = "phone band" if phone else "16 kHz"
        hearing = listen(house, phone=phone)
        how = f"{PROMPTS} human prompts of 1 to 8 s, each a call; frames to committed turns"
        yield Figure(
            what=f"word error rate, {band}",
            aim=f"≤ {aim:.2f}",
            measured=f"{hearing.wer:.3f}",
            good=hearing.wer <= aim,
            how=how,
        )
        yield Figure(
            what=f"one prompt, one turn, {band}",
            aim=f"≥ {ONE_TURN:.0%}",
            measured=f"{hearing.one_turn:.0%}",
            good=hearing.one_turn >= ONE_TURN,
            how=how,
        )


def _arrive(house: House, caller: HumanCaller) -> Arrived:
    call = HeldCall([Recording(frame=Frame(caller.samples(), caller.rate))])
    clock = VirtualClock(fixed(_DECODE_S))
    clock.run(call.run(clock, engines_of(house)))
    return Arrived(caller=caller, turns=tuple(call.told(TurnCommitted)))
