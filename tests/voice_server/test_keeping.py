from __future__ import annotations

from pathlib import Path

import pytest

from agents.core.errors import StoreError
from agents.core.messages import Message
from agents.core.store import results_of, tasks_of
from agents.goals.record import GoalScope
from pipelines.clock import VirtualClock, fixed
from voice_server.keeping import STORE_HOLDER, check_database, kept_conversation
from voice_server.settings import MEMORY


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/calls.db"


def test_in_memory_a_conversation_has_its_name_and_all_that_goes_with_it() -> None:
    clock = VirtualClock()

    async def main() -> None:
        async with kept_conversation(MEMORY, "ann", clock) as keeping:
            assert keeping.conversation == "ann"
            assert await keeping.goals.get(GoalScope(subject="ann", key="trip")) is None

    clock.run(main())
    assert check_database(MEMORY) == MEMORY


def test_a_conversation_is_found_again_and_its_store_is_charged_to_the_call(url: str) -> None:
    def call(text: str) -> tuple[list[str], float]:
        clock = VirtualClock(fixed(**{STORE_HOLDER: 0.25}))

        async def main() -> tuple[list[str], float]:
            async with kept_conversation(url, "ann", clock) as keeping:
                store = keeping.store
                assert store.identifier == "ann"
                assert await keeping.forms.find(subject="ann", limit=1) == []
                assert results_of(store) is not None and tasks_of(store) is not None
                opened = clock.now()
                await store.append_messages([Message(sender="user", text=text, id=text)])
                took = clock.now() - opened
                return [message.text for message in await store.get_messages()], took

        return clock.run(main())

    assert call("first") == (["first"], 0.25)
    assert call("second") == (["first", "second"], 0.25)


def test_a_database_that_cannot_be_used_is_refused_before_a_call(url: str, tmp_path: Path) -> None:
    assert check_database(url) == url
    (tmp_path / "calls.db").write_text("Dear diary,\n" * 100)
    with pytest.raises(StoreError, match="is no SQLite database"):
        check_database(url)
