"""The house rules that no linter knows."""

from __future__ import annotations

import asyncio
import re
import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.models.providers import create_model
from voice_server.settings import settings_table

ROOT = Path(__file__).parent.parent
PACKAGES = ("agents", "pipelines", "avatars", "voice_server")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text()


def test_no_module_outgrows_one_sitting() -> None:
    long = {str(path.relative_to(ROOT)): lines for path in MODULES if (lines := _lines(path)) > 500}
    assert not long


def test_no_module_is_named_after_nothing() -> None:
    nothing = re.compile(r"(^|_)(manager|helper|util|common|misc|shared)s?(_|$)")
    assert not [str(path) for path in MODULES if nothing.search(path.stem)]


def test_the_lock_pins_by_hash_and_names_no_host() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert "://" not in lock
    pins = re.findall(r"^[a-zA-Z0-9._-]+==\S+(?: ;[^\\]*)? \\\n {4}--hash=sha256:", lock, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^\S", lock, re.MULTILINE)) > 50


def test_the_lock_holds_every_dependency() -> None:
    pinned = set(re.findall(r"^([a-zA-Z0-9._-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    assert _dependencies() <= pinned


def test_the_readme_says_what_each_dependency_is_for() -> None:
    table = README.partition("## Dependencies")[2]
    assert not [name for name in sorted(_dependencies()) if f"`{name}`" not in table]


def test_the_readme_lists_exactly_the_settings_there_are() -> None:
    assert settings_table() in README, f"put this table into README.md:\n\n{settings_table()}\n"


def test_the_readme_s_agent_answers() -> None:
    """Run the listing as a user would paste it."""
    listing = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert listing is not None
    scope: dict[str, Any] = {"__name__": "weather"}
    exec(compile(listing[1], "weather.py", "exec", dont_inherit=True), scope)
    agent = scope["create"](create_model("offline", {}), now=None)
    answer = asyncio.run(agent.process_request("What will the weather be like in Graz?"))
    assert answer.text == "In Graz it will rain."


def test_the_readme_s_chat_asks_for_leave_before_it_books() -> None:
    """Run the listing as a user would: with the model that needs no key, and somebody who types."""
    listing = next(code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "def chat(" in code)
    scope: dict[str, Any] = {"__name__": "chat"}
    exec(compile(listing, "chat.py", "exec", dont_inherit=True), scope)
    said = iter(["Book a table for four.", "Yes.", "Book a table for six.", "No.", "bye"])
    shown: list[str] = []
    asyncio.run(scope["chat"](create_model("offline", {}), lambda _: next(said), shown.append))
    assert "Shall I book a table for 4?" in shown[0]
    assert "A table for 4 is booked." in shown[1]
    assert "Shall I book a table for 6?" in shown[2]
    assert "booked" not in shown[3]


def test_the_readme_s_form_is_filled_in_and_acted_upon() -> None:
    listing = next(code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "FormStep" in code)
    scope: dict[str, Any] = {"__name__": "restaurant"}
    exec(compile(listing, "restaurant.py", "exec", dont_inherit=True), scope)
    agent = scope["create"](create_model("offline", {}), now=lambda: datetime(2026, 11, 2, tzinfo=UTC))

    async def talk() -> list[str]:
        said = ["I need a table for tomorrow.", "Four.", "Yes."]
        return [(await agent.process_request(words)).text for words in said]

    asked, read_back, done = asyncio.run(talk())
    assert asked == "How many people?"
    assert "Number of people: 4. Is that right?" in read_back
    assert done == "Done. Table number: T4."


def test_the_changelog_knows_the_version_or_that_it_is_not_out() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert len(headings) == 1 or headings[1].startswith(PROJECT["version"])


@pytest.mark.parametrize("target", ["demo", "serve", "test", "lint", "bench", "help"])
def test_make_help_names_the_target(target: str) -> None:
    text = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True).stdout
    assert re.search(rf"^  make {target} +\S", text, re.MULTILINE)


def _lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def _dependencies() -> set[str]:
    wanted = [
        *PROJECT["dependencies"],
        *(line for extra in PROJECT["optional-dependencies"].values() for line in extra),
    ]
    return {re.split(r"[\[<>=~;! ]", line)[0] for line in wanted}
