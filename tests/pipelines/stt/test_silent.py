import numpy as np

from pipelines.clock import VirtualClock
from pipelines.stt.base import Final, Recognition
from pipelines.stt.silent import Silent


def test_every_ended_segment_has_one_empty_final_and_a_dropped_one_none() -> None:
    clock, heard = VirtualClock(), list[Recognition]()

    async def call() -> None:
        hearing = Silent().open(clock, heard.append)
        for segment in (1, 2, 3):
            hearing.begin(segment)
            hearing.feed(segment, np.ones(16_000, np.int16))
            hearing.pause(segment)
            hearing.end(segment)
            if segment == 2:
                hearing.drop(segment)
            assert not heard or heard[-1].segment < segment
            await clock.sleep(0.1)
        hearing.begin(4)
        hearing.end(4)
        await hearing.aclose()
        await hearing.aclose()
        await clock.sleep(1)

    clock.run(call())
    assert heard == [Final(segment=1, text=""), Final(segment=3, text="")]
