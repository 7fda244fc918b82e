"""`make bench`: what this machine does, beside the aims. ``make bench ARGS='hearing latency'`` measures only these.

``make bench ARGS=peers`` measures LiveKit Agents and Pipecat beside us, ``make bench ARGS=rooms`` calls in rooms.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache

from tests.bench import (
    answers,
    chat,
    engines,
    event_loop,
    footprint,
    forms,
    hearing,
    latency,
    realtime,
    rooms,
    simulation,
    sockets,
    stores,
)
from tests.bench.figure import Figure, table
from tests.bench.peers import driver
from tests.bench.peers.environments import EnvironmentMissingError
from tests.fixtures.human import MissingPackageError
from voice_server.house import House
from voice_server.settings import load_settings


@cache
def _house() -> House:
    return House.load(load_settings(model="offline"))


SECTIONS: dict[str, Callable[[], Iterator[Figure]]] = {
    "footprint": footprint.figures,
    "chat": chat.figures,
    "engines": lambda: engines.figures(_house()),
    "simulation": simulation.figures,
    "stores": stores.figures,
    "forms": forms.figures,
    "loop": event_loop.figures,
    "hearing": lambda: hearing.figures(_house()),
    "latency": lambda: latency.figures(_house()),
    "answers": lambda: answers.figures(_house()),
    "sockets": sockets.figures,
    "realtime": realtime.figures,
    "rooms": rooms.figures,
    "peers": driver.figures,
}

ASKED_FOR = frozenset({"peers", "rooms"})
"""Measured only when they are named: one installs others and takes eleven minutes, one needs LiveKit's server."""


def main() -> None:
    """Measure and print line by line; all of it takes three to four minutes."""
    parser = argparse.ArgumentParser(prog="make bench", description="Measure glove-voice on this machine.")
    parser.add_argument(
        "section",
        nargs="*",
        help=f"what to measure, of {', '.join(SECTIONS)}; all but {', '.join(ASKED_FOR)} by default",
    )
    sections = parser.parse_args().section or [section for section in SECTIONS if section not in ASKED_FOR]
    if unknown := set(sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    began = time.perf_counter()
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} before it began\n")
    try:
        for line in table(figure for section in sections for figure in SECTIONS[section]()):
            print(line, flush=True)
    except (EnvironmentMissingError, MissingPackageError) as missing:
        sys.exit(f"bench: {missing}")
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
