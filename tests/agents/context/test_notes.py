from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from pydantic import ValidationError

from agents.context.notes import ContextEntry, ContextError, MemoryContext, NewEntry, render_context
from agents.context.writer import ENTRY_LIMIT, ContextWriter


class Time:
    def __init__(self) -> None:
        self.at = datetime(2026, 11, 2, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


def _writer(adapter: MemoryContext | None = None, time: Time | None = None) -> ContextWriter:
    ids = count(1)
    return ContextWriter(adapter or MemoryContext(), now=time or Time(), new_id=lambda: f"ctx_{next(ids)}")


def _new(section: str = "food", content: str = "No meat.", **more: object) -> NewEntry:
    return NewEntry.model_validate({"section": section, "content": content, **more})


async def test_notes_are_rendered_by_section_and_in_the_order_made() -> None:
    notes = _writer()
    await notes.add(_new("travel_plans", "By train.", title="How"))
    await notes.add(_new("food", "No meat."))
    await notes.add(_new("food", "No nuts.", title="Allergies"))
    assert await notes.render() == (
        "[User context]\n## Food\nNo meat.\n### Allergies\nNo nuts.\n## Travel Plans\n### How\nBy train."
    )


async def test_without_notes_nothing_is_shown() -> None:
    assert await _writer().render() == ""


async def test_what_is_not_pinned_is_shown_only_when_asked_for() -> None:
    notes = _writer()
    await notes.add(_new(pinned=False))
    await notes.add(_new("music", "Jazz."))
    assert await notes.render() == "[User context]\n## Music\nJazz."
    everything = render_context(await notes.entries(), include_unpinned=True, sections=["food"])
    assert everything == "[User context]\n## Food\nNo meat."


async def test_what_has_expired_is_gone() -> None:
    time = Time()
    notes = _writer(time=time)
    entry = await notes.add(_new(expiresAt=(time.at + timedelta(minutes=1)).isoformat()))
    assert await notes.get(entry.id) == entry
    time.at += timedelta(minutes=2)
    assert (await notes.get(entry.id), await notes.entries(), await notes.render()) == (None, [], "")
    with pytest.raises(ContextError, match="there is no note"):
        await notes.update(entry.id, {"pinned": False})


async def test_a_patch_changes_what_it_names_and_takes_away_what_may_be_missing() -> None:
    notes = _writer()
    entry = await notes.add(_new(title="Diet"))
    changed = await notes.update(entry.id, {"content": "No fish either.", "title": None})
    assert changed == entry.model_copy(update={"content": "No fish either.", "title": None})
    with pytest.raises(ValidationError):
        await notes.update(entry.id, {"content": None})
    assert await notes.get(entry.id) == changed


async def test_a_section_is_replaced_or_taken_away_as_often_as_one_likes() -> None:
    notes = _writer()
    await notes.add(_new("food", "No meat."))
    await notes.add(_new("music", "Jazz."))
    await notes.replace_section("food", [_new("food", "Anything.")])
    assert [entry.content for entry in await notes.entries("food")] == ["Anything."]
    for _ in range(2):
        await notes.replace_section("food")
    assert [entry.content for entry in await notes.entries()] == ["Jazz."]
    with pytest.raises(ContextError, match="do not belong into 'food'"):
        await notes.replace_section("food", [_new("music", "Rock.")])


async def test_there_is_an_end_to_notes_and_what_has_expired_makes_room() -> None:
    time = Time()
    notes = _writer(time=time)
    await notes.replace_section("many", [_new("many", str(number)) for number in range(ENTRY_LIMIT - 1)])
    await notes.add(_new(expiresAt=(time.at + timedelta(hours=1)).isoformat()))
    with pytest.raises(ContextError, match="take one away first"):
        await notes.add(_new())
    time.at += timedelta(hours=2)
    await notes.add(_new())


@pytest.mark.parametrize(
    "given",
    [{"section": "## Food"}, {"section": ""}, {"content": "  "}, {"content": "x" * 4001}, {"expiresAt": "soon"}],
)
def test_a_note_that_does_not_fit_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        _new(**{"section": "food", "content": "x", **given})


def test_a_note_says_who_wanted_it() -> None:
    assert {"source", "actor"} <= set(ContextEntry.model_fields)
