from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from agents.core.errors import AnswerError, SlotRejectedError
from agents.core.tools import Tool, ToolContext
from agents.display import DisplayManager, Slot, SlotState
from agents.models.scripted import ScriptedCall
from tests.agents.core.scenes import Anything, talking


def is_blocked(display: DisplayManager) -> bool:
    return display.blocked


async def test_a_slot_that_waits_blocks_until_it_is_answered() -> None:
    display = DisplayManager()
    assert display.push_and_forget("map") == "slot_1"
    waiting = asyncio.ensure_future(display.push_and_wait("confirm", {"text": "Sure?"}))
    await asyncio.sleep(0)
    assert is_blocked(display)
    assert [(slot.id, slot.renderer, dict(slot.input)) for slot in display.slots] == [
        ("slot_1", "map", {}),
        ("slot_2", "confirm", {"text": "Sure?"}),
    ]
    display.resolve("slot_99", "late")
    display.resolve("slot_2", True)
    display.resolve("slot_2", False)
    assert await waiting is True
    assert not is_blocked(display)
    display.resolve("slot_1")
    assert display.slots == ()


async def test_a_wait_that_is_cancelled_takes_its_slot_away() -> None:
    display = DisplayManager()
    waiting = asyncio.ensure_future(display.push_and_wait("confirm"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not display.blocked and display.slots == ()


class Choice(BaseModel):
    seat: str
    count: int


def shown(display: DisplayManager) -> list[tuple[str, SlotState]]:
    return [(slot.id, slot.state) for slot in display.slots]


async def pushed(display: DisplayManager, renderer: str = "r", **options: Any) -> asyncio.Task[Any]:
    waiting = asyncio.ensure_future(display.push_and_wait(renderer, **options))
    await asyncio.sleep(0)
    return waiting


async def test_an_answer_comes_as_the_type_that_was_asked_for_and_a_wrong_one_is_refused() -> None:
    display = DisplayManager()
    waiting = await pushed(display, answer=Choice)
    for wrong in (None, {"seat": "A"}, {"seat": "A", "count": "many"}):
        with pytest.raises(AnswerError, match="slot_1"):
            display.resolve("slot_1", wrong)
    assert display.blocked
    display.resolve("slot_1", {"seat": "A", "count": 2})
    assert await waiting == Choice(seat="A", count=2)


async def test_a_slot_that_is_refused_tells_whoever_waits() -> None:
    display = DisplayManager()
    for end, reason in (
        (lambda slot_id: display.reject(slot_id, "no thanks"), "no thanks"),
        (display.remove, "taken away"),
        (lambda _: display.clear(), "cleared"),
    ):
        waiting = await pushed(display)
        end(display.slots[0].id)
        with pytest.raises(SlotRejectedError, match=reason):
            await waiting
        assert display.slots == () and not display.blocked
    display.reject("slot_99")


async def test_how_long_a_slot_is_shown_is_its_strategy() -> None:
    display = DisplayManager()
    for strategy in ("stay", "hide_on_complete", "hide_on_new"):
        waiting = await pushed(display, strategy=strategy, owner="cart")
        display.resolve(display.slots[-1].id, 1)
        await waiting
    assert shown(display) == [("slot_1", SlotState.ANSWERED), ("slot_3", SlotState.ANSWERED)]
    display.push_and_forget("r", owner="other", strategy="hide_on_new")
    assert [slot.id for slot in display.slots] == ["slot_1", "slot_3", "slot_4"]
    display.push_and_forget("r", owner="cart", strategy="hide_on_new")
    assert [slot.id for slot in display.slots] == ["slot_1", "slot_4", "slot_5"]


async def test_a_newer_slot_hides_no_question_that_is_open() -> None:
    display = DisplayManager()
    first = await pushed(display, strategy="hide_on_new", owner="cart")
    second = await pushed(display, strategy="hide_on_new", owner="cart")
    assert [slot.id for slot in display.slots] == ["slot_1", "slot_2"]
    display.resolve("slot_1", 1)
    display.resolve("slot_2", 2)
    assert (await first, await second) == (1, 2)
    assert [slot.id for slot in display.slots] == ["slot_2"]


async def test_listeners_see_every_change_may_answer_at_once_and_cannot_break_a_tool() -> None:
    display = DisplayManager()
    seen: list[list[str]] = []

    def broken(slots: tuple[Slot, ...]) -> None:
        raise RuntimeError("the page is gone")

    def look(slots: tuple[Slot, ...]) -> None:
        seen.append([slot.renderer for slot in slots])
        if slots:
            display.resolve(slots[-1].id, "at once")

    display.add_listener(broken)
    leave = display.add_listener(look)
    assert await display.push_and_wait("confirm") == "at once"
    assert seen == [["confirm"], []]
    leave()
    leave()
    display.push_and_forget("map")
    assert len(seen) == 2


async def test_a_tool_that_waits_for_a_person_gets_the_refusal_as_its_result_and_is_not_run_again() -> None:
    display = DisplayManager()
    ran: list[int] = []

    async def do(given: Anything, ctx: ToolContext) -> Any:
        ran.append(1)
        assert ctx.display is not None
        return await ctx.display.push_and_wait("seat", {"word": given.word}, answer=Choice)

    tool = Tool(name="seat", description="", input=Anything, do=do, display_strategy="stay")
    call = ScriptedCall(name="seat")
    glove, _ = talking([call], "Done.", [call], "Done.", tools=(tool,), display=display)

    def person(slots: tuple[Slot, ...]) -> None:
        if slots and slots[-1].state is SlotState.WAITING and len(ran) == 1:
            display.reject(slots[-1].id, "not now")
        elif slots and slots[-1].state is SlotState.WAITING:
            display.resolve(slots[-1].id, {"seat": "A", "count": 2})

    display.add_listener(person)
    await glove.process_request("Go")
    await glove.process_request("Again")
    refused, seated = [r.result for m in await glove.store.get_messages() for r in m.tool_results]
    assert refused.status == "error" and "not now" in str(refused.message)
    assert seated.data == {"seat": "A", "count": 2}
    assert [(slot.owner, slot.strategy, slot.state) for slot in display.slots] == [("seat", "stay", SlotState.ANSWERED)]
    assert len(ran) == 2
