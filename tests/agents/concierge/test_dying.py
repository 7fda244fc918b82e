"""Killed at every commit in turn, the booking goes on at the right question, and the trip is booked once."""

from __future__ import annotations

import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from agents.core.glove import Glove
from agents.stores.keeping import SqlKeeper
from tests.agents.concierge.dying import ANSWERS, BEGINS, SAID, concierge, desk_in, die_while_booking, url_in
from tests.agents.stores.sql.booking import processes


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where there is such a place: with or without a disk, what was written outlives who is killed."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        yield Path(name)


async def test_killed_at_any_commit_the_trip_is_booked_once_and_no_answer_is_lost(folder: Path) -> None:
    """Every time somebody says something a new process takes it; the one that lives hands on what it leaves behind."""
    left, deaths = folder / "nothing", 0
    left.mkdir()
    for number, words in enumerate(SAID):
        heard = SAID[:number]
        dying = Dying(left, words, 1)
        while True:
            # The next one dies while the conversation of this one goes on.
            this, dying = dying, Dying(left, words, dying.nth + 1)
            if survived := this.survived():
                left = copytree(this.folder, folder / f"after {number}")
            assert survived is (this.folder / "answered").exists()
            await goes_on(this.folder, (*heard, words) if survived else heard)
            if survived:
                break
            deaths += 1
        assert dying.survived()
        (left / "answered").unlink()
    assert deaths > 50, "many deaths were died"


class Dying:
    """A process that is said something, on a copy of what another left behind, and is killed at a commit."""

    def __init__(self, left: Path, words: str, nth: int) -> None:
        self.nth = nth
        self.folder = copytree(left, left.with_name(f"{left.name}, {nth}"))
        self._process = processes.Process(target=die_while_booking, args=(self.folder, "c", words, nth), daemon=True)
        self._process.start()

    def survived(self) -> bool:
        """Wait for the end; whether it came before so many commits."""
        self._process.join(60)
        assert self._process.exitcode in (0, -signal.SIGKILL), f"at commit {self.nth}"
        return self._process.exitcode == 0


async def goes_on(folder: Path, heard: Sequence[str]) -> None:
    """Go on with a conversation whose process died, and look for what is lost or double."""
    async with aclosing(await SqlKeeper.connect(url_in(folder))) as keeper:
        keeping, desk = keeper.open("c"), desk_in(folder)
        glove = concierge(keeping, desk, minute=1)
        before = await answers(glove)
        assert len(before) >= {0: 0, 1: 4, 2: 5, 3: 6, 4: 6, 5: 6}[len(heard)], "an answer that was answered is lost"
        await glove.process_request("Hello?")
        for _ in range(len(ANSWERS) + 2):
            form = await look(glove)
            if form is not None and form["complete"]:
                break
            asked = None if form is None else next(row["id"] for row in form["fields"] if row["ask"])
            assert asked is None or asked not in before or asked == "confirmed", "what was answered is asked again"
            await glove.process_request(BEGINS if asked is None else ANSWERS[asked])
        after = await answers(glove)
        assert before.items() <= after.items()
        (booking,) = await desk.bookings()
        assert (booking.version, booking.details.travellers, booking.details.email) == (1, 2, "amina@acme.com")
        goals = await glove.progress.read("goals")
        assert [goal["status"] for goal in goals["goals"][:2]] == ["completed", "completed"]
        messages = await keeping.store.get_messages()
        assert max(Counter(message.id for message in messages).values()) == 1
        said = [message.text for message in messages if message.from_person]
        assert all(said.count(words) >= 1 for words in heard)
        await glove.aclose()


async def look(glove: Glove) -> dict[str, Any] | None:
    """The form as it stands."""
    forms = await glove.progress.read("forms")
    return forms[0] if forms else None


async def answers(glove: Glove) -> dict[str, Any]:
    """What is answered, by field; the yes left out."""
    form = await look(glove)
    rows = [] if form is None else form["fields"]
    return {row["id"]: row["value"] for row in rows if "value" in row and row["id"] not in ("confirmed", "reference")}
