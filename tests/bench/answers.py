"""Answers heard with and without the knowledge of the question: how many turns a person's answer became, how soon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.concierge.trip import Traveller, Trip
from agents.forms.step import FormStep
from agents.reading.fields import expected_answer, field_schema
from pipelines.audio.frame import Frame
from pipelines.audio.wav import write_wav
from pipelines.responder import Expectation, ExpectationKind
from pipelines.trace import Trace
from tests.bench.figure import Figure
from tests.e2e.agents import Message
from tests.fixtures.catalogue import Fixture, fixture
from tests.fixtures.human import HumanCaller, day, digits, spelled
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
        for what, caller, question in _answers():
            path = _file(Path(folder), caller)
            told, untold = _heard(house, path, question), _heard(house, path, None)
            yield Figure(
                what=what,
                aim="one turn",
                measured=_measured(told),
                good=len(told) == 1,
                how=f"the question known; without it: {_measured(untold)}",
            )


def _answers() -> Iterator[tuple[str, Fixture | HumanCaller, Expectation | None]]:
    """What is said, by whom, and what was asked: each a form's own field."""
    yield "nine digits, pauses of 1.2 s", digits("142 975 386", group_gap_s=1.2), _asked(Message, "phone")
    yield "a date, pause of 1.2 s", day(11, 2, gap_s=1.2), _asked(Trip, "depart_date")
    yield "a spelled e-mail address", spelled("laura@acme.com"), _asked(Traveller, "email")
    yield "a spelled loyalty number", spelled("AB123456"), _asked(Traveller, "loyalty_number")
    yield "yes", fixture("yes"), _asked(Traveller, "confirmed")


def _asked(step: type[FormStep], name: str) -> Expectation | None:
    """What a form's field expects; ``None``: any words will do, and nothing is known."""
    answer = expected_answer(field_schema(step.model_json_schema(), name))
    if answer is None:
        return None
    return Expectation(kind=ExpectationKind(answer.kind), choices=answer.choices, length=answer.length)


def _file(folder: Path, caller: Fixture | HumanCaller) -> Path:
    if isinstance(caller, Fixture):
        return caller.path
    path = folder / f"{caller.name.replace(' ', '-')}.wav"
    write_wav(path, Frame(caller.samples(), caller.rate))
    return path


def _heard(house: House, path: Path, expects: Expectation | None) -> tuple[CallerTurn, ...]:
    settings = load_settings(model="offline", agent=_AGENT)
    options = TurnOptions(recordings=(RecordedTurn(path=path),), settings=settings, expects=expects)
    return run(options, Trace(), house).turns


def _measured(turns: tuple[CallerTurn, ...]) -> str:
    endpoint = turns[-1].latency_ms.endpoint if turns else None
    return f"{len(turns)} turn{'' if len(turns) == 1 else 's'}, {endpoint} ms"
