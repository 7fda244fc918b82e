"""How far an agent is, read after every change."""

from __future__ import annotations

from typing import Any

import pytest

from agents.core.progress import Progress, ProgressKind
from voice_server.watch import Watch, watching


class _Taken(list[tuple[ProgressKind, Any]]):
    def take(self, kind: ProgressKind, stands: Any) -> None:
        self.append((kind, stands))

    def of(self, kind: ProgressKind) -> list[Any]:
        return [stands for taken, stands in self if taken == kind]


async def test_several_changes_in_one_turn_of_the_loop_are_read_once_and_the_last_before_the_end() -> None:
    progress, taken, reads = Progress(), _Taken(), 0

    async def read() -> int:
        nonlocal reads
        reads += 1
        return reads

    changed = progress.register("forms", read)
    async with watching(progress, taken.take):
        for _ in range(10):
            changed()
    assert (taken.of("forms"), taken.of("goals")) == ([1], [None])
    changed()
    assert reads == 1


async def test_what_cannot_be_read_is_tried_again_after_the_next_change() -> None:
    progress, taken, broken = Progress(), _Taken(), True

    async def read() -> str:
        if broken:
            raise OSError("the disk is gone")
        return "well"

    changed = progress.register("forms", read)
    async with watching(progress, taken.take):
        changed()
    assert taken.of("forms") == []
    async with watching(progress, taken.take):
        broken = False
        changed()
    assert taken.of("forms") == ["well"]


async def test_what_ends_with_an_error_ends_the_watch_and_the_error_comes_as_it_was() -> None:
    progress, taken = Progress(), _Taken()
    changed = progress.register("forms", lambda: pytest.fail("nobody watches any more"))
    with pytest.raises(ValueError, match="as it was"):
        async with watching(progress, taken.take):
            raise ValueError("as it was")
    changed()
    assert taken.of("forms") == []


async def test_nobody_waits_for_a_watch_that_is_over() -> None:
    watch = Watch(Progress(), _Taken().take)
    watch.close()
    await watch.settle()
