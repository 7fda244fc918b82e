from __future__ import annotations

import asyncio

import pytest

from agents.display import DisplayManager


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
