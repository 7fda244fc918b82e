"""A store that fails in the middle: the host is told, and the conversation is usable afterwards."""

from __future__ import annotations

from collections import Counter
from inspect import iscoroutinefunction
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from agents.core.errors import StoreError
from agents.core.store import Store
from agents.models.openai_wire import write_messages
from agents.stores.memory import MemoryStore
from tests.agents.models.completions_server import complaints
from tests.agents.stores.sql.booking import DONE, ROOMS, Careful, agent


class Failing:
    """Hands everything on, but for one operation, which fails: before it was done, or after."""

    def __init__(self, store: Store, *, at: int, done: bool) -> None:
        self._store = store
        self._left = at
        self._done = done

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._store, name)
        if not iscoroutinefunction(attribute):
            return attribute

        async def operation(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left == 0 and not self._done:
                raise StoreError("the disk is full")
            result = await attribute(*args, **kwargs)
            if self._left == 0:
                raise StoreError("the disk is full")
            return result

        return operation


@pytest.mark.parametrize("done", [False, True], ids=["before it is done", "after it is done"])
async def test_whatever_operation_fails_the_host_is_told_and_the_conversation_goes_on(
    tmp_path: Path, done: bool
) -> None:
    for at in count(1):
        ledger = tmp_path / f"ledger{at}"
        store = MemoryStore()
        glove = agent(cast(Store, Failing(store, at=at, done=done)), ledger)
        try:
            await glove.process_request("Book both rooms.")
            break
        except StoreError as failure:
            assert str(failure) == "the disk is full"
        assert (await glove.process_request("Is it done?")).text == DONE
        messages = await store.get_messages()
        assert max(Counter(message.id for message in messages).values()) == 1
        model = cast(Careful, glove.model)
        wire = write_messages(model.requests[-1])
        assert complaints({"stream": True, "stream_options": {"include_usage": True}, "messages": wire}) == []
        booked = Counter(line.split()[0] for line in booked_in(ledger))
        assert set(booked) == set(ROOMS)
    assert at > 8


def booked_in(ledger: Path) -> list[str]:
    return ledger.read_text().splitlines()
