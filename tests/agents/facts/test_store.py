import asyncio
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from agents.facts.adapter import MemoryFacts
from agents.facts.errors import FactCaptureError, FactError
from agents.facts.record import Evidence, Fact, FactInput, FactRef, FactScope, FactSource, FactState, Verification
from agents.facts.store import FactStore

SCOPE = FactScope(subject="ann", context="trip")
SOURCE = FactSource(kind="message", id="m1")


def facts(adapter: MemoryFacts | None = None, scope: FactScope = SCOPE, **options: Any) -> FactStore:
    ids = count(1)
    options.setdefault("new_id", lambda: f"fact_{next(ids)}")
    return FactStore(adapter or MemoryFacts(), scope, now=lambda: datetime(2026, 11, 2, tzinfo=UTC), **options)


def fact(text: str = "Ann prefers the aisle.", **more: Any) -> FactInput:
    return FactInput(text=text, source=SOURCE, **more)


async def test_a_fact_is_recorded_with_where_it_comes_from_and_unverified() -> None:
    store = facts()
    made = await store.record(fact(value={"seat": "aisle"}), operation_id="op1")
    assert (made.id, made.revision, made.scope, made.verification) == ("fact_1", 1, SCOPE, Verification.UNVERIFIED)
    assert (made.source, made.value, made.observed_at.year) == (SOURCE, {"seat": "aisle"}, 2026)
    assert await store.facts() == [made]


async def test_the_same_act_of_recording_gives_the_same_fact() -> None:
    store = facts()
    first = await store.record(fact(value={"a": 1, "b": 2}), operation_id="op1")
    again = await store.record(fact(value={"b": 2, "a": 1}), operation_id="op1")
    assert again == first
    assert (await store.inspect()).version == 1


@pytest.mark.parametrize("other", [fact("Ann prefers the window."), fact(verification=Verification.VERIFIED)])
async def test_an_act_of_recording_is_not_another_ones(other: FactInput) -> None:
    store = facts()
    await store.record(fact(), operation_id="op1")
    with pytest.raises(FactError, match="used for another fact"):
        await store.record(other, operation_id="op1")


@pytest.mark.parametrize("operation", ["__proto__", "constructor", '["a","b"]', "\x00", "a" * 4000])
async def test_an_operation_may_have_any_name(operation: str) -> None:
    store = facts()
    made = await store.record(fact(), operation_id=operation)
    assert await store.record(fact(), operation_id=operation) == made


@pytest.mark.parametrize("operation", ["", "a" * 4001])
async def test_an_operation_has_a_name_of_sensible_length(operation: str) -> None:
    with pytest.raises(FactError, match="operation's id"):
        await facts().record(fact(), operation_id=operation)


async def test_a_correction_is_a_further_revision_and_the_old_one_is_kept() -> None:
    store = facts()
    old = await store.record(fact(), operation_id="op1")
    new = await store.record(fact("Ann prefers the window."), operation_id="op2", supersedes=old.ref)
    assert new.ref == FactRef(id=old.id, revision=2)
    assert await store.facts() == [new]
    assert await store.facts(history=True) == [old, new]


async def test_only_the_current_revision_can_be_corrected() -> None:
    store = facts()
    old = await store.record(fact(), operation_id="op1")
    await store.record(fact("No."), operation_id="op2", supersedes=old.ref)
    with pytest.raises(FactError, match="at revision 2, not 1"):
        await store.record(fact("Yes."), operation_id="op3", supersedes=old.ref)
    with pytest.raises(FactError, match="no fact 'nothing'"):
        await store.record(fact("Yes."), operation_id="op3", supersedes=FactRef(id="nothing", revision=1))
    assert len(await store.facts(history=True)) == 2


async def test_there_is_an_end_to_facts_and_nothing_is_saved_beyond_it() -> None:
    store = facts(max_revisions=2)
    old = await store.record(fact(), operation_id="op1")
    await store.record(fact("No."), operation_id="op2", supersedes=old.ref)
    with pytest.raises(FactError, match="no room"):
        await store.record(fact("More."), operation_id="op3")
    assert (await store.inspect()).version == 2


async def test_an_urgent_fact_that_could_not_be_told_is_saved_and_told_when_it_is_recorded_again() -> None:
    told: list[str] = []
    broken = [True]

    async def tell(urgent: Fact) -> None:
        if broken:
            raise ConnectionError(broken.pop())
        told.append(urgent.id)

    store = facts(on_urgent=tell)
    with pytest.raises(FactCaptureError, match="is saved") as failed:
        await store.record(fact(urgent=True), operation_id="op1")
    assert await store.facts(urgent=True) == [failed.value.fact]
    for _ in range(2):
        assert await store.record(fact(urgent=True), operation_id="op1") == failed.value.fact
    assert told == ["fact_1"]
    assert len(await store.facts(history=True)) == 1


async def test_nobody_is_told_of_what_is_not_urgent() -> None:
    told: list[Fact] = []
    store = facts(on_urgent=told.append)
    await store.record(fact(), operation_id="op1")
    assert told == []


@pytest.mark.parametrize("other", [FactScope(subject="bob", context="trip"), FactScope(subject="ann", context="hotel")])
async def test_both_parts_of_a_scope_keep_facts_apart(other: FactScope) -> None:
    adapter = MemoryFacts()
    await facts(adapter).record(fact(), operation_id="op1")
    assert await facts(adapter, other).facts() == []
    assert (await facts(adapter, other).record(fact("Else."), operation_id="op1")).text == "Else."


class _Slow(MemoryFacts):
    """Lets everybody else run between a read and a write."""

    async def read(self, scope: FactScope) -> FactState:
        found = await super().read(scope)
        await asyncio.sleep(0)
        return found


async def test_of_facts_recorded_at_the_same_time_none_is_lost() -> None:
    adapter = _Slow()
    one, other = facts(adapter), facts(adapter, new_id=lambda: "fact_other")
    await asyncio.gather(one.record(fact("One."), operation_id="op1"), other.record(fact("Two."), operation_id="op2"))
    assert {found.text for found in await one.facts()} == {"One.", "Two."}


def test_evidence_says_what_it_proves() -> None:
    proof = Evidence(kind="approval", key="booking", result="success", actor="ann")
    assert fact(evidence=proof).evidence == proof
