"""One process serves many calls on one loop: nobody may keep it for long."""

from __future__ import annotations

from tests.bench.event_loop import LONGEST_CALLBACK_S, LONGEST_COLLECTION_S, measure


def test_no_callback_keeps_the_loop_while_four_callers_are_heard_answered_and_interrupted() -> None:
    busy = measure()
    assert busy.turns >= 10
    assert busy.tools >= 4
    assert busy.interrupted >= 2
    ours = [callback for callback in busy.worst if callback.seconds - callback.collected_s > LONGEST_CALLBACK_S]
    assert not ours, "\n".join(map(str, busy.worst))
    assert busy.longest_collection_s <= LONGEST_COLLECTION_S
