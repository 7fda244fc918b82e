"""Answers heard with and without the knowledge of the question: how many turns a person's answer became, how soon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.audio.frame import Frame
from pipelines.audio.wav import write_wav
from pipelines.responder import Expectation, ExpectationKind
from pipelines.trace import Trace
from tests.bench.figure import Figure
from tests.fixtures.catalogue import fixture
from tests.fixtures.human import HumanCaller, digits, spelled
from voice_server.house import House
from voice_server.options import RecordedTurn, TurnOptions
from voice_server.report import CallerTurn
from voice_server.settings import load_settings
from voice_server.turn import run

__all__ = ["figures"]

_AGENT = "tests.e2e.agents:echo"


def figures(house: House) -> Iterator[Figure]:
    """Hold each call twice."""
    with TemporaryDirectory() as folder:
        number = _file(Path(folder), digits("142 975 386", group_gap_s=1.2))
        address = _file(Path(folder), spelled("laura@acme.com"))
        for what, path, question in (
            ("nine digits, pauses of 1.2 s", number, Expectation(kind=ExpectationKind.DIGITS, length=9)),
            ("a spelled e-mail address", address, Expectation(kind=ExpectationKind.SPELLING)),
            ("yes", fixture("yes").path, Expectation(kind=ExpectationKind.YES_NO)),
        ):
            told, untold = _heard(house, path, question), _heard(house, path, None)
            yield Figure(
                what=what,
                aim="one turn",
                measured=_measured(told),
                good=len(told) == 1,
                how=f"the question known; without it: {_measured(untold)}",
            )


def _file(folder: Path, caller: HumanCaller) -> Path:
    path = folder / f"{len(caller.words)}.wav"
    write_wav(path, Frame(caller.samples(), caller.rate))
    return path


def _heard(house: House, path: Path, expects: Expectation | None) -> tuple[CallerTurn, ...]:
    settings = load_settings(model="offline", agent=_AGENT)
    options = TurnOptions(recordings=(RecordedTurn(path=path),), settings=settings, expects=expects)
    return run(options, Trace(), house).turns


def _measured(turns: tuple[CallerTurn, ...]) -> str:
    endpoint = turns[-1].latency_ms.endpoint if turns else None
    return f"{len(turns)} turn{'' if len(turns) == 1 else 's'}, {endpoint} ms"
