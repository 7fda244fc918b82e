from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from agents.models.scripted import ScriptedModel
from agents.stores.keeping import Keeping
from voice_server.errors import UsageError
from voice_server.loading import Wanted, load_factory, make_agent, make_glove

_MODULES = {
    "good_agent": "def create(name='x'):\n    return ['agent', name]\n\nclass Made:\n    create = int\n",
    "broken_agent": "1 / 0\n",
    "needy_agent": "import a_library_nobody_has\n",
    "leaving_agent": "raise SystemExit(3)\n",
    "unwritten_agent": "def create(:\n",
    "told_agent": (
        "from agents.core.glove import Glove\n"
        "from pydantic import BaseModel\n\n"
        "class Guest(BaseModel):\n    name: str\n\n"
        "def typed(model, inputs: Guest):\n    return Glove(model=model, system_prompt=inputs.name)\n\n"
        "def loose(model, inputs):\n    return Glove(model=model, system_prompt=str(inputs))\n\n"
        "def deaf(model):\n    return Glove(model=model)\n"
    ),
    "raising_agent": "number = 3\n\ndef create():\n    raise LookupError('no desk\\nsecond line')\n",
}


@pytest.fixture(autouse=True)
def _agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in _MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_the_factory_makes_the_agent() -> None:
    assert make_agent("good_agent:create", name="desk") == ["agent", "desk"]


def test_a_factory_may_live_in_a_class() -> None:
    assert load_factory("good_agent:Made.create") is int


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("good_agent", "is not of the form module:factory"),
        (":create", "is not of the form module:factory"),
        ("good_agent:", "is not of the form module:factory"),
        ("no_such_agent:create", "there is no module 'no_such_agent'; check the spelling"),
        ("no_such_agent.inner:create", "there is no module 'no_such_agent'"),
        ("needy_agent:create", "needs 'a_library_nobody_has', which is not installed"),
        ("broken_agent:create", r"does not import \(ZeroDivisionError: division by zero\)"),
        ("unwritten_agent:create", r"does not import \(SyntaxError"),
        ("leaving_agent:create", r"does not import \(SystemExit: 3\)"),
        ("..:create", "does not import"),
        ("good_agent:make", "has no 'make'"),
        ("raising_agent:number", "cannot call its 'number'"),
        ("raising_agent:create", "its factory raised LookupError: no desk; mend the factory"),
        ("good_agent:Made.create.missing", "has no"),
    ],
)
def test_what_is_wrong_with_an_agent_is_said_in_one_sentence(spec: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        make_agent(spec)
    assert repr(spec) in str(caught.value)
    assert "\n" not in str(caught.value)


def told(factory: str, inputs: dict[str, Any] | None) -> str:
    return make_glove(f"told_agent:{factory}", ScriptedModel(), Keeping.in_memory(), inputs).system_prompt


def test_a_factory_is_told_what_it_wants_to_know_as_it_wants_it() -> None:
    assert told("typed", {"name": "Ann"}) == "Ann"
    assert told("loose", {"name": "Ann"}) == "{'name': 'Ann'}"
    assert told("loose", None) == "{}"
    assert told("deaf", None) == ""


@pytest.mark.parametrize(
    ("factory", "inputs", "says"),
    [
        ("typed", None, r"cannot begin with these inputs: name: Field required"),
        ("typed", {"name": ["secret"]}, r"cannot begin with these inputs: name: Input should be a valid string$"),
        ("deaf", {"name": "secret"}, "takes no inputs; leave them out"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_without_being_repeated(
    factory: str, inputs: dict[str, Any] | None, says: str
) -> None:
    with pytest.raises(UsageError, match=says) as refused:
        told(factory, inputs)
    assert "secret" not in str(refused.value)


def test_only_agents_that_were_named_may_be_asked_for() -> None:
    others = {"desk": "agents.desk:create"}
    assert Wanted().spec("own:create", others) == "own:create"
    assert Wanted(agent="desk").spec("own:create", others) == "agents.desk:create"
    with pytest.raises(UsageError, match=r"there is no agent 'os:system'; those that may be asked for are: desk"):
        Wanted(agent="os:system").spec("own:create", others)
