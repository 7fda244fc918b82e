from __future__ import annotations

from itertools import pairwise

import pytest

from pipelines.audio.arrival import Arrival


def dated(*arrivals: tuple[float, int]) -> list[float]:
    """Feed frames of 20 ms, so many at each time; return the dates of the last one each."""
    arrival = Arrival()
    dates = []
    for now, count in arrivals:
        dates.append([arrival.feed(0.02, now) for _ in range(count)][-1])
    return dates


def test_audio_that_comes_steadily_is_of_its_own_time() -> None:
    times = [0.02 * n for n in range(200)]
    assert dated(*[(at, 1) for at in times]) == pytest.approx(times)


def test_a_burst_after_a_stall_is_dated_back() -> None:
    arrival = Arrival()
    arrival.feed(0.02, 1.0)
    assert [arrival.feed(0.02, 1.3) for _ in range(15)] == pytest.approx([1.0 + 0.02 * n for n in range(1, 16)])


def test_more_audio_than_time_is_never_dated_ahead() -> None:
    assert dated((1.0, 1), (1.02, 40), (1.04, 1)) == pytest.approx([1.0, 1.02, 1.04])


def test_audio_that_was_lost_is_made_up_for_within_two_seconds() -> None:
    times = [0.02 * n for n in range(50)] + [1.3 + 0.02 * n for n in range(100)]
    dates = dated(*[(at, 1) for at in times])
    assert dates[-1] == pytest.approx(times[-1])
    assert all(later >= earlier for earlier, later in pairwise(dates))


def test_a_slow_source_stays_in_time() -> None:
    arrival = Arrival()
    assert max(n * 0.0205 - arrival.feed(0.02, n * 0.0205) for n in range(10_000)) < 0.06


def test_after_a_gap_the_next_audio_is_of_its_own_time() -> None:
    arrival = Arrival()
    arrival.feed(0.02, 1.0)
    arrival.restart()
    assert arrival.feed(0.02, 5.0) == 5.0
