"""What an answer to a form costs."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from statistics import median
from typing import Any

from pydantic import create_model
from sqlalchemy import Connection, insert, update

from agents.forms.adapter import FormAdapter, MemoryForms
from agents.forms.definition import Form
from agents.forms.field import ask
from agents.forms.registry import FormRegistry
from agents.forms.runner import FormRunner
from agents.forms.step import FormStep
from agents.stores.sql.database import Database
from agents.stores.sql.forms import SqlForms
from agents.stores.sql.schema import form_revisions as revisions
from agents.stores.sql.schema import forms as table
from tests.bench.figure import Figure

__all__ = ["figures"]

FIELDS = 60
STEPS = 6
ROUNDS = 4
"""How often each field is answered: the first round fills the form, the others correct it."""


def figures() -> Iterator[Figure]:
    """Measure in memory, and on SQLite on the disk of the temporary folder."""
    cost, (short, long) = asyncio.run(_in_memory())
    yield Figure(
        what="an answer to a form of 60",
        aim="≤ 1 ms",
        measured=f"{cost * 1000:.2f} ms",
        good=cost <= 0.001,
        how=f"fill of one field, in memory; {STEPS} steps, conditions, executors; median of {FIELDS * ROUNDS}",
    )
    yield Figure(
        what="its status line",
        aim="does not grow",
        measured=f"{long} characters ({short})",
        good=long <= short,
        how=f"(when nothing was answered); after {FIELDS * ROUNDS} revisions",
    )
    filled, bare = asyncio.run(_in_a_file())
    yield Figure(
        what="an answer, in a file",
        aim="≤ 3 bare commits",
        measured=f"{filled * 1000:.1f} ms ({filled / bare:.1f}×)",
        good=filled <= 3 * bare,
        how=f"the same on SQLite, synced; a bare commit adds a row and changes one ({bare * 1000:.1f} ms)",
    )


def form_of(fields: int) -> Form[None]:
    """A form of text and numbers; every tenth field depends on another, every step has an executor."""
    steps: list[type[FormStep]] = []
    for step in range(STEPS):
        made: dict[str, Any] = {}
        for number in range(step * fields // STEPS, (step + 1) * fields // STEPS):
            if number % 10 == 9:
                made[f"field_{number}"] = (str | None, ask(f"Field {number}", when=_known(f"field_{number - 1}")))
            elif number % 2:
                made[f"field_{number}"] = (str, ask(f"Field {number}", min_length=1, max_length=80))
            else:
                made[f"field_{number}"] = (int, ask(f"Field {number}", ge=0))
        steps.append(create_model(f"Step{step}", __base__=FormStep, **made))
    form = Form("long", version=1, steps=steps, name="Long")
    form.checkpoint("half", when=lambda state: len(state.values) > fields // 2)(lambda ctx: None)
    for model in steps:
        form.on_complete(model)(lambda ctx, step: None)
    return form


def _known(field: str) -> Callable[[Any], bool]:
    return lambda state: field in state.values


def _answers() -> Iterator[dict[str, Any]]:
    for turn in range(ROUNDS):
        for number in range(FIELDS):
            odd = bool(number % 2) or number % 10 == 9
            yield {f"field_{number}": f"answer {turn} of some length" if odd else number + turn}


async def _in_memory() -> tuple[float, tuple[int, int]]:
    runner = _runner(MemoryForms())
    await runner.start("long")
    short = len(await runner.status_line())
    costs = [await _timed(runner, answer) for answer in _answers()]
    await runner.retract("field_0")
    return median(costs), (short, len(await runner.status_line()))


async def _in_a_file() -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        async with aclosing(await Database.connect(f"sqlite:///{folder}/forms.db")) as database:
            store = SqlForms(database, "bench")
            runner = _runner(store)
            await runner.start("long")
            instance = await runner.active_instance()
            assert instance is not None
            await store.create(replace(instance, id="form_bare", subject="nobody", entries={}))
            filled: list[float] = []
            bare: list[float] = []
            for answer in _answers():  # by turns, so that a busy moment meets both
                filled.append(await _timed(runner, answer))
                bare.append(await _bare(database, len(bare)))
    return median(filled), median(bare)


def _runner(store: FormAdapter) -> FormRunner:
    return FormRunner(FormRegistry(form_of(FIELDS)), store, subject="caller")


async def _timed(runner: FormRunner, answer: dict[str, Any]) -> float:
    began = time.perf_counter()
    report = await runner.fill(answer)
    took = time.perf_counter() - began
    assert report.captured
    return took


async def _bare(database: Database, number: int) -> float:
    """Write what an answer writes, and nothing else: a row added, a row changed."""
    answer = {"namespace": "bench", "instance": "form_bare", "seq": number, "payload": "x" * 200}
    # Another value each time: SQLite writes no page that stays the same, and then syncs nothing.
    change = update(table).where(table.c.instance == "form_bare").values(payload=f"{number}" + "x" * 1_500)

    def work(connection: Connection) -> None:
        connection.execute(change)
        connection.execute(insert(revisions), [answer])

    began = time.perf_counter()
    await database.write(work)
    return time.perf_counter() - began
