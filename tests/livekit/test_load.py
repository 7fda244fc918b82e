from __future__ import annotations

import pytest

from voice_server.livekit.load import BUSIEST, FULL, Load


@pytest.mark.parametrize(
    ("calls", "spent_s", "busy"),
    [
        (0, 0.0, 0.0),
        (3, 0.0, 0.3),
        (3, 10.0, 0.5),  # of two processors for ten seconds
        (7, 10.0, 0.7),
        (0, 20.0, BUSIEST),
        (10, 20.0, 1.0),
        (11, 0.0, 1.0),
    ],
)
def test_a_worker_is_as_busy_as_the_scarcer_of_calls_and_processors(calls: int, spent_s: float, busy: float) -> None:
    load = Load(10, 2)
    load.measure(0, 5.0, now=100.0)
    assert load.measure(calls, 5.0 + spent_s, now=110.0) == pytest.approx(busy * FULL)


def test_a_moment_of_computing_is_no_load() -> None:
    load = Load(10, 2)
    load.measure(0, 0.0, now=0.0)
    assert load.measure(0, 1.0, now=0.5) == 0.0
    assert load.measure(0, 1.0, now=10.0) == pytest.approx(0.05 * FULL)
