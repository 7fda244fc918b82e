from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.models.wires import WIRES

pytestmark = pytest.mark.wire

FIRST_CALL = """
import asyncio, sys
from pydantic import BaseModel
from agents.core.model import close_model
from tests.agents.models.test_conformance import HELLO
from tests.agents.models.wires import WIRES, Ask, Say

def classes(base=BaseModel):
    for made in base.__subclasses__():
        yield made
        yield from classes(made)

def ready():
    return set(sys.modules) | {made.__name__ for made in classes() if made.__pydantic_complete__}

async def main(wire):
    async with wire.serve(wire.answer(Say(pieces=("Fine.",)), Ask(id="a", name="x"))) as server:
        model = wire.model(server)
        before = ready()
        async for _ in model.stream(HELLO):
            pass
        await close_model(model)
    print(*sorted(ready() - before))

asyncio.run(main(WIRES[sys.argv[1]]))
"""

LIGHT = ("concurrent.futures.thread", "opentelemetry")
"""Threads the SDK asks its platform's name in, and Anthropic's tracing: together 4 ms."""


@pytest.mark.parametrize("wire", WIRES)
def test_the_first_call_loads_and_builds_nothing_that_others_would_have_to_wait_for(wire: str) -> None:
    """In a process of its own, in which nothing is loaded yet."""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", FIRST_CALL, wire]
    loaded = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert [name for name in loaded if not name.startswith(LIGHT)] == []
