"""The measurement of the realtime path itself: every frame is found again."""

from __future__ import annotations

import pytest

from tests.bench.realtime import measure


@pytest.mark.realtime
async def test_every_frame_is_timed_on_both_ways() -> None:
    measured = await measure(frames=20)
    for delays in (measured.spoken, measured.heard):
        assert len(delays) == 20
        assert (delays[:, 0] > 0).all() and (delays[:, 1] > 0).all()
