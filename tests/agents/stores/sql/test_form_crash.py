from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import aclosing
from itertools import count
from pathlib import Path
from typing import Any

from agents.forms.adapter import commit_between
from agents.forms.engine import advance
from agents.forms.evaluation import evaluate
from agents.forms.leases import LEASE_S
from agents.forms.record import DispatchStatus, Instance, InstanceStatus, Provenance
from agents.forms.runner import FormRunner
from agents.forms.writes import Stamp, fill
from agents.stores.sql.database import Database
from tests.agents.stores.sql.booking import Moment, processes
from tests.agents.stores.sql.filling import (
    SAID,
    Airline,
    commit_at_once,
    die_while_filling,
    fill_at_once,
    resume_at_once,
    runner,
    say,
    trip,
)


async def test_killed_before_any_commit_a_form_goes_on_at_the_right_question_and_books_once(
    database_url: str, tmp_path: Path
) -> None:
    await die_and_go_on(database_url, tmp_path, "before")


async def test_killed_right_after_any_commit_a_form_goes_on_as_well(database_url: str, tmp_path: Path) -> None:
    await die_and_go_on(database_url, tmp_path, "after")


async def die_and_go_on(url: str, tmp_path: Path, moment: Moment) -> None:
    async with aclosing(await Database.connect(url)) as database:
        waiting = []
        for nth in count(1):
            airline = Airline(tmp_path / f"ledger{nth}", tmp_path / f"runs{nth}")
            heard = tmp_path / f"heard{nth}"
            child = processes.Process(target=die_while_filling, args=(url, airline, heard, moment, nth), daemon=True)
            child.start()
            child.join(30)
            assert child.exitcode in (0, -signal.SIGKILL), f"at commit {nth}"
            await leaves_alone(runner(database, airline), airline)
            forms = runner(database, airline, later_s=LEASE_S + 1)
            waiting.append(await goes_on(forms, airline, lines_of(heard)))
            if child.exitcode == 0:
                break
        assert nth > 20, "many deaths were died"
        assert {InstanceStatus.AWAITING, InstanceStatus.ACTIVE} <= set(waiting), "also while a checkpoint was at work"


async def leaves_alone(forms: FormRunner, airline: Airline) -> None:
    """Nobody can know yet whether what was going on has ended."""
    ran = lines_of(airline.runs)
    await forms.resume_hooks()
    assert lines_of(airline.runs) == ran


async def goes_on(forms: FormRunner, airline: Airline, heard: list[str]) -> InstanceStatus | None:
    """Go on with a form whose process died, and look for what is lost or double.

    Returns:
        How the form was found; ``None``: there was none yet.
    """
    before = await forms.active_instance()
    ended = set() if before is None else ended_runs(before)
    ran = Counter(lines_of(airline.runs))
    await forms.resume_hooks()
    assert_heard(await forms.active_instance(), heard)
    if before is None:
        assert not heard
        await forms.start("trip")
    done = await said_so_far(forms)
    await assert_asks_on(forms, done)
    for _, what in SAID[done:]:
        await say(forms, what)
    after = await forms.active_instance()
    assert after is not None
    assert not after.pending and after.status is InstanceStatus.COMPLETE
    if before is not None:
        for field_id, entry in before.entries.items():
            assert after.entries[field_id].revisions[: len(entry.revisions)] == entry.revisions, "an answer was lost"
    again = Counter(lines_of(airline.runs))
    assert {key for key in ended if again[key] > ran[key]} == set(), "what had ended was run again"
    assert set(again) == ended_runs(after), "every executor that rose has ended"
    bookings = [json.loads(line) for line in lines_of(airline.ledger)]
    assert [(key.removeprefix(after.id), travellers) for key, _, travellers in bookings] == [
        (":checkpoint:book:1", 2),
        (":checkpoint:book:2", 3),
    ], "booked once, and amended once"
    assert [one.written for one in after.entries["route"].revisions] == ['"Nairobi for 2"']
    assert (await forms.values())["reference"] == f"GLV-{after.id}"
    await forms.abandon("The next one is another's.")
    return None if before is None else before.status


def ended_runs(instance: Instance) -> set[str]:
    return {key for key, one in instance.dispatches.items() if one.status is not DispatchStatus.RUNNING}


def assert_heard(instance: Instance | None, heard: list[str]) -> None:
    """What the process had told that it took is there."""
    if not heard:
        return
    assert instance is not None
    taken = Counter(SAID[int(line)][0] for line in heard if line != "start")
    for field_id, times in taken.items():
        assert len(instance.entries[field_id].revisions) >= times


async def said_so_far(forms: FormRunner) -> int:
    """How much of what the caller says is in the form."""
    instance = await forms.active_instance()
    assert instance is not None
    left = Counter({field_id: len(entry.revisions) for field_id, entry in instance.entries.items()})
    for number, (field_id, _) in enumerate(SAID):
        if not left[field_id]:
            return number
        left[field_id] -= 1
    return len(SAID)


async def assert_asks_on(forms: FormRunner, done: int) -> None:
    """It asks what the caller has not said; complete forms ask nothing."""
    await forms.status()
    complete = done in (5, len(SAID))
    asked = None if forms.question is None else forms.question.field
    assert asked == (None if complete else SAID[done][0])


async def test_two_processes_writing_one_form_at_once_lose_nothing(database_url: str, tmp_path: Path) -> None:
    rounds = 6
    airline = Airline(tmp_path / "ledger", tmp_path / "runs")
    async with aclosing(await Database.connect(database_url)) as database:
        forms = runner(database, airline)
        await forms.start("trip", {"travellers": 2})
        run_two(fill_at_once, ("origin", "full_name"), database_url, rounds)
        instance = await forms.active_instance()
        assert instance is not None
        for name in ("origin", "full_name"):
            written = [one.written for one in instance.entries[name].revisions]
            assert written == [f'"{name} {number}"' for number in range(rounds)]
        numbers = [one.seq for entry in instance.entries.values() for one in entry.revisions]
        assert sorted(numbers) == list(range(1, instance.revision_seq + 1))


async def test_of_two_processes_that_resume_at_once_one_runs_what_was_left(database_url: str, tmp_path: Path) -> None:
    airline = Airline(tmp_path / "ledger", tmp_path / "runs")
    async with aclosing(await Database.connect(database_url)) as database:
        forms = runner(database, airline)
        await forms.start("trip", {"full_name": "Amina"})
        await leave_over(forms, {"origin": "Nairobi", "travellers": 2})
        run_two(resume_at_once, ("a", "b"), database_url, airline)
        instance = await forms.active_instance()
        assert instance is not None and not instance.pending
        assert lines_of(airline.runs) == [f"{instance.id}:step:trip:1"]
        assert instance.dispatches[f"{instance.id}:step:trip:1"].attempts == 1
        assert (await forms.values())["route"] == "Nairobi for 2"


async def leave_over(forms: FormRunner, answers: Mapping[str, Any]) -> None:
    """Save answers, and die before anything follows from them."""
    read = await forms.active_instance()
    assert read is not None
    stamp = Stamp(at=read.updated_at, provenance=Provenance(source="test"))
    after = advance(trip, evaluate(trip, read), fill(trip, read, answers, stamp).instance, at=stamp.at)
    assert after.batch_id is not None
    await forms.adapter.commit(read.id, commit_between(read, after.instance), if_version=read.version)


async def test_of_two_processes_on_one_version_one_is_told_of_the_conflict(database_url: str, tmp_path: Path) -> None:
    rounds, notes = 4, tmp_path / "notes"
    airline = Airline(tmp_path / "ledger", tmp_path / "runs")
    async with aclosing(await Database.connect(database_url)) as database:
        forms = runner(database, airline)
        await forms.start("trip", {"origin": "Nairobi"})
        run_two(commit_at_once, ("origin", "full_name"), database_url, rounds, notes)
        instance = await forms.active_instance()
        assert instance is not None
        told = [json.loads(line) for line in lines_of(notes)]
        assert told == [
            [
                f"form instance {instance.id} is at version {number + 2}, not {number + 1}; read it and try again",
                number + 1,
                number + 2,
            ]
            for number in range(rounds)
        ]
        assert instance.version == rounds + 1


def run_two(target: Callable[..., None], names: tuple[str, str], url: str, *args: object) -> None:
    together = processes.Barrier(2)
    children = [processes.Process(target=target, args=(url, name, *args, together), daemon=True) for name in names]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
