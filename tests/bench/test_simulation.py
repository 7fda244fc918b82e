from __future__ import annotations

from pipelines.clock import VirtualClock
from pipelines.events import TurnCommitted, UtteranceEnded
from tests.bench.simulation import ANSWER, WORDS, scripted_call, simulate


def test_a_simulated_call_is_a_whole_call_and_the_same_every_time() -> None:
    def told() -> list[str]:
        call, engines, responder = scripted_call(5)
        clock = VirtualClock()
        clock.run(call.run(clock, engines, responder))
        assert [len(turn.text.split()) for turn in call.told(TurnCommitted)] == [WORDS] * 5
        assert [over.heard for over in call.told(UtteranceEnded)] == [ANSWER] * 5
        return [f"{at:.9f} {event}" for at, event in call.events]

    assert told() == told()


def test_a_minute_of_one_core_holds_hours_of_calls() -> None:
    simulate(2)
    assert simulate(20).speed > 100, "the aim is a thousand on a quiet machine; `make bench` holds it"
