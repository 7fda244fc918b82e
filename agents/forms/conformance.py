"""What everything keeps to that keeps forms, as checks that any adapter can be run through.

A check is a coroutine function that raises ``AssertionError``; its name is the sentence it checks. It gets a function
that opens the forms of a namespace, all empty; opened twice, both are the same::

    @pytest.mark.parametrize("check", FORMS, ids=lambda check: check.__name__)
    async def test_my_forms(check, tmp_path):
        await check(lambda namespace: MyForms(tmp_path, namespace))
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from agents.forms.adapter import FormAdapter, Lease, commit_between
from agents.forms.errors import FormConflictError, FormNotFoundError
from agents.forms.record import (
    Batch,
    Dispatch,
    DispatchStatus,
    Entry,
    Instance,
    InstanceStatus,
    Provenance,
    Revision,
)
from agents.stores.conformance.ground import refused

__all__ = ["FORMS", "FormCheck", "OpenForms"]

OpenForms: TypeAlias = Callable[[str], FormAdapter]
"""Opens the forms of a namespace."""

FormCheck: TypeAlias = Callable[[OpenForms], Awaitable[None]]

NOW = datetime(2026, 11, 1, 12, 0, 0, 123456, tzinfo=UTC)
BY = Provenance(source="crm:lead-881", actor="system", note="ü\x00\u202e")


def _instance(instance_id: str = "form_1", *, subject: str = "s", form: str = "f", minutes: int = 0) -> Instance:
    at = NOW + timedelta(minutes=minutes)
    return Instance(
        id=instance_id,
        form=form,
        form_version=1,
        subject=subject,
        status=InstanceStatus.ACTIVE,
        created_at=at,
        updated_at=at,
    )


def _answer(seq: int, written: str | None = '"A"', **more: Any) -> Revision:
    return Revision(seq=seq, at=NOW, provenance=BY, written=written, **more)


def _answered(instance: Instance, field_id: str, *revisions: Revision, cursor: int | None = None) -> Instance:
    entry = instance.entries.get(field_id, Entry())
    for revision in revisions:
        entry = entry.with_revision(revision)
    entry = replace(entry, cursor=entry.cursor if cursor is None else cursor)
    return replace(instance, entries={**instance.entries, field_id: entry})


def _lease(batch_id: str, owner: str, begins: datetime = NOW) -> Lease:
    return Lease(batch=batch_id, owner=owner, until=begins + timedelta(seconds=15))


async def _made(store: FormAdapter, instance: Instance) -> Instance:
    await store.create(instance)
    return instance


async def _committed(store: FormAdapter, before: Instance, after: Instance) -> Instance:
    """Commit what lies between, and read."""
    await store.commit(before.id, commit_between(before, after), if_version=before.version)
    found = await store.get(before.id)
    assert found is not None
    return found


def _dispatch(status: DispatchStatus, **more: str) -> Dispatch:
    return Dispatch(hook_id="form", status=status, attempts=1, at=NOW, **more)


async def what_is_kept_comes_back_whole(opened: OpenForms) -> None:
    batch = Batch(hooks=("field:a", "form"), cursors={"a": 0}, occurrences={"form": 2}, round=3)
    kept = replace(
        _answered(
            _answered(_instance(), "a", _answer(1, '{"x":[1.5,null,"\\ud83d"]}'), _answer(2, effect_id="b1:patch:a")),
            "b",
            _answer(3, None, skipped="none\x00"),
            _answer(4, None),
            _answer(5, "true", fingerprint="f" * 32),
            _answer(6, "2", claim_id="claim_1", fulfills=("field", "step")),
            cursor=-1,
        ),
        status=InstanceStatus.AWAITING,
        version=3,
        revision_seq=6,
        occurrences={"field:a": 1},
        dispatches={
            "form_1:form:1": _dispatch(DispatchStatus.FAILED, error="No.\x00"),
            "form_1:field:b:1": _dispatch(DispatchStatus.OK, claim_id="claim_1"),
        },
        pending={"b10": batch, "b2": batch},
        blocked_on="book",
        open_step="two",
        closed_reason="why",
        completed_at=NOW,
    )
    await opened("c").create(kept)
    found = await opened("c").get("form_1")
    assert found == kept
    assert list(found.pending) == ["b10", "b2"], "in order"
    assert await opened("c").find(subject="s") == [kept]


async def an_instance_that_is_not_there_is_none(opened: OpenForms) -> None:
    assert await opened("c").get("form_1") is None
    assert await opened("c").find(subject="s") == []
    changed = commit_between(_instance(), replace(_instance(), blocked_on="x"))
    with refused(FormNotFoundError):
        await opened("c").commit("form_1", changed, if_version=1)
    with refused(FormNotFoundError):
        await opened("c").record_dispatch("form_1", "key", _dispatch(DispatchStatus.OK))


async def an_id_is_taken_once(opened: OpenForms) -> None:
    await opened("c").create(_instance())
    with refused(FormConflictError):
        await opened("c").create(replace(_instance(), subject="another"))
    assert await opened("c").get("form_1") == _instance()


async def namespaces_do_not_mix(opened: OpenForms) -> None:
    await opened("a").create(_instance())
    assert await opened("b").get("form_1") is None
    await opened("b").create(replace(_instance(), open_step="b"))
    assert await opened("a").find(subject="s") == [_instance()]


async def instances_are_found_by_subject_form_and_status_latest_first(opened: OpenForms) -> None:
    store = opened("c")
    made = [
        _instance("1", minutes=1),
        _instance("2", minutes=3, form="g"),
        _instance("3", minutes=2),
        _instance("4", minutes=4, subject="another"),
    ]
    for instance in made:
        await store.create(instance)

    async def ids(**wanted: object) -> list[str]:
        return [instance.id for instance in await store.find(subject="s", **wanted)]  # type: ignore[arg-type]

    assert await ids() == ["2", "3", "1"]
    assert await ids(limit=2) == ["2", "3"]
    assert await ids(form="f") == ["3", "1"]
    closed = replace(made[0], status=InstanceStatus.ABANDONED, updated_at=NOW + timedelta(minutes=9))
    await store.commit("1", commit_between(made[0], closed), if_version=1)
    assert await ids() == ["1", "2", "3"]
    assert await ids(statuses={InstanceStatus.ABANDONED}) == ["1"]
    assert await ids(statuses={InstanceStatus.ACTIVE, InstanceStatus.COMPLETE}, limit=1) == ["2"]
    assert await ids(statuses=frozenset()) == []


async def a_commit_appends_revisions_moves_cursors_and_raises_the_version(opened: OpenForms) -> None:
    first = await _made(opened("c"), _answered(replace(_instance(), revision_seq=1), "a", _answer(1)))
    after = replace(_answered(_answered(first, "a", _answer(2), cursor=0), "b", _answer(3)), revision_seq=3)
    second = await _committed(opened("c"), first, after)
    assert second == replace(after, version=2)
    undone = _answered(second, "a", cursor=-1)
    third = await _committed(opened("c"), second, undone)
    assert third == replace(undone, version=3)
    assert [one.seq for one in third.entries["a"].revisions] == [1, 2]


async def a_cursor_is_kept_within_what_there_is(opened: OpenForms) -> None:
    first = await _made(opened("c"), _answered(_instance(), "a", _answer(1)))
    commit = commit_between(first, _answered(first, "a", cursor=0))
    for version, cursor in ((1, 7), (2, -5)):
        await opened("c").commit("form_1", replace(commit, cursors={"a": cursor}), if_version=version)
        found = await opened("c").get("form_1")
        assert found is not None and found.entries["a"].cursor == (0 if cursor > 0 else -1)


async def a_commit_merges_what_it_names_and_clears_what_it_says_is_gone(opened: OpenForms) -> None:
    batch = Batch(hooks=("form",), cursors={}, occurrences={})
    first = await _made(
        opened("c"),
        replace(
            _instance(),
            occurrences={"a": 1, "b": 1},
            dispatches={"k1": _dispatch(DispatchStatus.RUNNING)},
            pending={"b1": batch, "b2": batch},
            blocked_on="book",
            open_step="two",
        ),
    )
    after = replace(
        first,
        occurrences={"a": 2, "b": 1},
        dispatches={**first.dispatches, "k2": _dispatch(DispatchStatus.OK)},
        pending={"b2": batch, "b3": batch},
        blocked_on=None,
        open_step=None,
        status=InstanceStatus.COMPLETE,
        form_version=2,
        updated_at=NOW + timedelta(seconds=1),
        completed_at=NOW,
    )
    await opened("c").record_dispatch("form_1", "k1", _dispatch(DispatchStatus.OK, effects="[]"))
    second = await _committed(opened("c"), first, after)
    expected = replace(
        after, version=2, dispatches={**after.dispatches, "k1": _dispatch(DispatchStatus.OK, effects="[]")}
    )
    assert second == expected
    assert list(second.pending) == ["b2", "b3"]


async def a_commit_on_an_outdated_version_is_refused_whole(opened: OpenForms) -> None:
    first = await _made(opened("c"), _instance())
    moved = await _committed(opened("c"), first, replace(first, open_step="two"))
    late = _answered(replace(first, status=InstanceStatus.COMPLETE), "a", _answer(1))
    with refused(FormConflictError) as refusals:
        await opened("c").commit("form_1", commit_between(first, late), if_version=1)
    assert (refusals[0].expected, refusals[0].actual) == (1, 2)
    assert await opened("c").get("form_1") == moved


async def the_journal_grows_beside_the_version_and_its_latest_line_holds(opened: OpenForms) -> None:
    await opened("c").create(_instance())
    for status in (DispatchStatus.RUNNING, DispatchStatus.OK):
        await opened("c").record_dispatch("form_1", "form_1:form:1", _dispatch(status))
    found = await opened("c").get("form_1")
    assert found is not None and found.version == 1
    assert found.dispatches == {"form_1:form:1": _dispatch(DispatchStatus.OK)}


async def of_commits_on_one_version_exactly_one_succeeds(opened: OpenForms) -> None:
    first = await _made(opened("c"), _instance())
    commits = [
        opened("c").commit(
            "form_1", commit_between(first, _answered(first, "a", _answer(1, str(number)))), if_version=1
        )
        for number in range(6)
    ]
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["FormConflictError"] * 5 + ["NoneType"]
    found = await opened("c").get("form_1")
    assert found is not None and len(found.entries["a"].revisions) == 1 and found.version == 2


async def a_cancelled_commit_happened_whole_or_not_at_all(opened: OpenForms) -> None:
    for patience in range(12):
        store, instance_id = opened("c"), f"form_{patience}"
        first = await _made(store, _instance(instance_id))
        after = _answered(replace(first, status=InstanceStatus.COMPLETE), "a", _answer(1), _answer(2))
        async with asyncio.TaskGroup() as group:
            commit = group.create_task(store.commit(instance_id, commit_between(first, after), if_version=1))
            for _ in range(patience):
                await asyncio.wait({commit}, timeout=0)
            commit.cancel()
        found = await store.get(instance_id)
        assert found in (first, replace(after, version=2))


async def one_worker_at_a_time_has_a_batch_until_its_lease_runs_out(opened: OpenForms) -> None:
    store = opened("c")
    await store.create(_instance())
    later = NOW + timedelta(seconds=15)
    assert await store.claim("form_1", _lease("b1", "one"), now=NOW)
    assert not await store.claim("form_1", _lease("b1", "two"), now=NOW + timedelta(seconds=14))
    assert await store.claim("form_1", _lease("b1", "one", NOW + timedelta(seconds=10)), now=NOW), "it is renewed"
    assert not await store.claim("form_1", _lease("b1", "two"), now=later)
    assert await opened("c").claim("form_1", _lease("b2", "two"), now=NOW), "another batch is another's"
    assert await store.claim("form_1", _lease("b1", "two", later), now=later + timedelta(seconds=10))
    assert not await store.claim("form_1", _lease("b1", "one", later), now=later), "it was late, and is not its own now"
    found = await store.get("form_1")
    assert found is not None and found.version == 1


async def who_gives_up_a_batch_gives_up_its_own_only(opened: OpenForms) -> None:
    store = opened("c")
    await store.create(_instance())
    assert await store.claim("form_1", _lease("b1", "one"), now=NOW)
    await store.release("form_1", "b1", owner="two")
    assert not await store.claim("form_1", _lease("b1", "two"), now=NOW)
    await store.release("form_1", "b1", owner="one")
    assert await store.claim("form_1", _lease("b1", "two"), now=NOW)
    await store.release("form_9", "b1", owner="one")
    with refused(FormNotFoundError):
        await store.claim("form_9", _lease("b1", "one"), now=NOW)


async def batches_come_with_the_lease_of_who_brings_them_and_it_goes_with_them(opened: OpenForms) -> None:
    store, batch = opened("c"), Batch(hooks=("form",), cursors={}, occurrences={})
    first = replace(_instance(), pending={"b1": batch})
    await store.create(first, lease=_lease("b1", "one"))
    second = replace(first, pending={"b1": replace(batch, round=2), "b2": batch})
    commit = replace(commit_between(first, second), lease=_lease("b2", "two"))
    await store.commit("form_1", commit, if_version=1)
    for batch_id, owner in (("b1", "one"), ("b2", "two")):
        assert not await store.claim("form_1", _lease(batch_id, "three"), now=NOW)
        assert await store.claim("form_1", _lease(batch_id, owner), now=NOW)
    await store.commit("form_1", commit_between(second, replace(second, pending={})), if_version=2)
    assert await store.claim("form_1", _lease("b1", "three"), now=NOW), "nobody has what is not there any more"


async def of_those_who_claim_a_batch_at_once_one_has_it(opened: OpenForms) -> None:
    await opened("c").create(_instance())
    claims = [opened("c").claim("form_1", _lease("b1", str(worker)), now=NOW) for worker in range(4)]
    assert sorted(await asyncio.gather(*claims)) == [False, False, False, True]


FORMS: tuple[FormCheck, ...] = (
    what_is_kept_comes_back_whole,
    an_instance_that_is_not_there_is_none,
    an_id_is_taken_once,
    namespaces_do_not_mix,
    instances_are_found_by_subject_form_and_status_latest_first,
    a_commit_appends_revisions_moves_cursors_and_raises_the_version,
    a_cursor_is_kept_within_what_there_is,
    a_commit_merges_what_it_names_and_clears_what_it_says_is_gone,
    a_commit_on_an_outdated_version_is_refused_whole,
    the_journal_grows_beside_the_version_and_its_latest_line_holds,
    of_commits_on_one_version_exactly_one_succeeds,
    a_cancelled_commit_happened_whole_or_not_at_all,
    one_worker_at_a_time_has_a_batch_until_its_lease_runs_out,
    who_gives_up_a_batch_gives_up_its_own_only,
    batches_come_with_the_lease_of_who_brings_them_and_it_goes_with_them,
    of_those_who_claim_a_batch_at_once_one_has_it,
)
