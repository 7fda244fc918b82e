"""A caller who fills in a form whose executors book, for tests in which the process dies or is not alone."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Literal

from agents.forms.adapter import commit_between
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Patch
from agents.forms.errors import FormConflictError
from agents.forms.field import ask
from agents.forms.registry import FormRegistry
from agents.forms.runner import FormRunner
from agents.forms.step import FormStep
from agents.forms.writes import Stamp, fill
from agents.stores.sql.database import Database
from agents.stores.sql.forms import SqlForms
from tests.agents.stores.sql.booking import Moment, kill_at

SUBJECT = "caller"


class Trip(FormStep):
    origin: str = ask("Flying from")
    travellers: int = ask("How many people", ge=1, le=9)


class Traveller(FormStep):
    full_name: str = ask("Full name")
    loyalty_number: str | None = ask("Loyalty number", skippable=True)
    confirmed: Literal[True] = ask("Yes to the read-back", confirms=True)
    route: str | None = ask("Route", default=None)
    reference: str | None = ask("Reference", default=None, when=lambda form: form.checkpoint_fired("book"))


@dataclass
class Airline:
    """A service that honours keys: what is asked again under one is answered as before. It survives its callers."""

    ledger: Path
    """A line for each booking that was made: the key, what it is for, and for how many."""
    runs: Path
    """A line for each run of an executor: its key."""

    def note(self, key: str) -> None:
        _append(self.runs, key)

    def book(self, key: str, instance: str, travellers: int) -> str:
        made = [json.loads(line) for line in _lines(self.ledger)]
        if key not in (line[0] for line in made):
            _append(self.ledger, json.dumps([key, instance, travellers]))
        return f"GLV-{instance}"


trip = Form("trip", version=1, deps=Airline, steps=[Trip, Traveller], name="Trip")


@trip.on_complete(Trip)
def plan(ctx: FormContext[Airline], step: Trip) -> Patch:
    ctx.deps.note(ctx.idempotency_key)
    return Patch({"route": f"{step.origin} for {step.travellers}"})


@trip.on_skip("loyalty_number")
def shrug(ctx: FormContext[Airline], reason: str) -> None:
    ctx.deps.note(ctx.idempotency_key)


@trip.checkpoint("book", when=lambda form: form.complete, blocking=True, wait_message="One moment, I am booking.")
def book(ctx: FormContext[Airline]) -> Patch:
    ctx.deps.note(ctx.idempotency_key)
    return Patch({"reference": ctx.deps.book(ctx.idempotency_key, ctx.instance_id, ctx.step(Trip).travellers)})


@trip.on_fill("reference")
def tell(ctx: FormContext[Airline], reference: str) -> None:
    ctx.deps.note(ctx.idempotency_key)


SAID: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("origin", {"origin": "Nairobi"}),
    ("travellers", {"travellers": 2}),
    ("full_name", {"full_name": "Amina"}),
    ("loyalty_number", {"skip": "has none"}),
    ("confirmed", {"confirmed": True}),
    ("travellers", {"travellers": 3}),
    ("confirmed", {"confirmed": True}),
)
"""What the caller says, in order: answers, a refusal, a yes; then a correction, and a yes to that."""


def runner(database: Database, airline: Airline, *, later_s: float = 0.0) -> FormRunner:
    """Forms of a worker whose clock is ahead: by more than a lease, those who died are known to be dead."""
    return FormRunner(
        FormRegistry(trip),
        SqlForms(database, "namespace"),
        subject=SUBJECT,
        deps=airline,
        now=lambda: datetime.now(UTC) + timedelta(seconds=later_s),
    )


async def say(forms: FormRunner, what: Mapping[str, Any]) -> None:
    if "skip" in what:
        await forms.skip("loyalty_number", what["skip"])
    else:
        await forms.fill(what)


def die_while_filling(url: str, airline: Airline, heard: Path, moment: Moment, nth: int) -> None:
    """Fill in the form and be killed at the n-th commit; what was said and taken is a line in a file."""

    async def talk() -> None:
        async with aclosing(await Database.connect(url)) as database:
            kill_at(moment, nth)
            forms = runner(database, airline)
            await forms.start("trip")
            _append(heard, "start")
            for number, (_, what) in enumerate(SAID):
                await say(forms, what)
                _append(heard, str(number))

    asyncio.run(talk())


@dataclass
class Meeting(Airline):
    """A service that answers when the other process has seen what there is to do."""

    together: Barrier
    met: bool = False

    def note(self, key: str) -> None:
        super().note(key)
        self.meet()

    def meet(self) -> None:
        if not self.met:
            self.met = True
            self.together.wait(30)


def resume_at_once(url: str, name: str, airline: Airline, together: Barrier) -> None:
    """Resume what was left over at the same moment as another process."""

    async def resume() -> None:
        async with aclosing(await Database.connect(url)) as database:
            meeting = Meeting(airline.ledger, airline.runs, together)
            forms = runner(database, meeting)
            together.wait(30)
            await forms.resume_hooks()
            meeting.meet()

    asyncio.run(resume())


def fill_at_once(url: str, name: str, rounds: int, together: Barrier) -> None:
    """Write to a form at the same moments as another process, each to a field of its own."""

    async def write() -> None:
        async with aclosing(await Database.connect(url)) as database:
            forms = runner(database, Airline(Path(os.devnull), Path(os.devnull)))
            for number in range(rounds):
                together.wait(30)
                await forms.fill({name: f"{name} {number}"})

    asyncio.run(write())


def commit_at_once(url: str, name: str, rounds: int, notes: Path, together: Barrier) -> None:
    """Commit on the same version as another process; who comes second notes what it is told."""

    async def write() -> None:
        async with aclosing(await Database.connect(url)) as database:
            store = SqlForms(database, "namespace")
            for number in range(rounds):
                (read,) = await store.find(subject=SUBJECT, limit=1)
                stamp = Stamp(at=read.updated_at, provenance=read.entries["origin"].revisions[0].provenance)
                after = fill(trip, read, {name: f"{name} {number}"}, stamp).instance
                together.wait(30)
                try:
                    await store.commit(read.id, commit_between(read, after), if_version=read.version)
                except FormConflictError as conflict:
                    _append(notes, json.dumps([str(conflict), conflict.expected, conflict.actual]))
                together.wait(30)

    asyncio.run(write())


def _append(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line + "\n")


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
