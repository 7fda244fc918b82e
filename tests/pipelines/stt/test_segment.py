import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.stt.segment import OpenSegment

RATE = 16_000


def sound(seconds: float, level: int = 3_000) -> Samples:
    return np.full(int(seconds * RATE), level, np.int16)


def fed(segment: OpenSegment, samples: Samples) -> list[int]:
    """Feed in frames of 20 ms and return where it was to be locked, locking it there."""
    locks = []
    for at in range(0, len(samples), 320):
        if (end := segment.feed(samples[at : at + 320])) is not None:
            locks.append(end)
            segment.lock(end)
    return locks


def test_a_partial_is_due_after_half_a_second_of_speech_whatever_quiet_came_before() -> None:
    segment = OpenSegment()
    fed(segment, sound(2.0, level=20))
    fed(segment, sound(0.48))
    assert not segment.partial_due()
    fed(segment, sound(0.02))
    assert segment.partial_due()
    assert segment.voiced == RATE // 2


def test_partials_of_a_long_stretch_come_less_often() -> None:
    segment, dues = OpenSegment(), []
    for _ in range(20 * 50):
        fed(segment, sound(0.02))
        if segment.partial_due():
            dues.append(segment.total / RATE)
            segment.take(segment.total)
    gaps = np.diff(dues)
    assert dues[0] == 0.5
    assert gaps[0] == pytest.approx(1.0)
    assert gaps[-1] > 3.0


def test_a_quiet_tail_after_a_pause_changes_nothing_about_what_was_said() -> None:
    segment = OpenSegment()
    assert not segment.said_at_pause()
    fed(segment, sound(1.0))
    segment.pause()
    assert segment.said_at_pause()
    fed(segment, sound(0.4, level=100))
    assert segment.said_at_pause()
    fed(segment, sound(0.02, level=100))
    assert not segment.said_at_pause()


def test_speech_after_a_pause_means_more_was_said_until_the_next_pause() -> None:
    segment = OpenSegment()
    fed(segment, sound(1.0))
    segment.pause()
    fed(segment, sound(0.1))
    assert not segment.said_at_pause()
    segment.pause()
    assert segment.said_at_pause()


@pytest.mark.parametrize(
    ("length_s", "silence_s", "locked"), [(5.0, 1.0, False), (9.0, 0.1, False), (9.0, 0.3, True), (16.0, 0.1, True)]
)
def test_a_stretch_is_locked_when_speech_goes_on_after_a_pause_that_ends_a_long_one(
    length_s: float, silence_s: float, locked: bool
) -> None:
    segment = OpenSegment()
    fed(segment, sound(length_s))
    segment.pause()
    assert fed(segment, sound(silence_s, level=100)) == []
    assert fed(segment, sound(1.0)) == ([int(length_s * RATE)] if locked else [])


def test_a_stretch_never_outgrows_the_decoders_window() -> None:
    segment = OpenSegment()
    assert fed(segment, sound(40.0)) == [28 * RATE]
    segment.pause()
    assert fed(segment, sound(20.0, level=100)) == [40 * RATE]
    assert segment.start == 40 * RATE
    assert len(segment.take(segment.total)) == segment.total - segment.start


def test_one_huge_chunk_is_locked_inside_it() -> None:
    segment = OpenSegment()
    assert segment.feed(sound(60.0)) == 28 * RATE
    segment.lock(28 * RATE)
    assert np.array_equal(segment.take(segment.total), sound(32.0))


def test_taking_and_locking_share_the_audio_out_without_gap_or_overlap() -> None:
    samples = np.arange(30 * 1_000, dtype=np.int16)
    segment = OpenSegment()
    for at in range(0, len(samples), 700):
        segment.feed(samples[at : at + 700])
    first = segment.take(12_345)
    segment.lock(12_345)
    assert np.array_equal(np.concatenate([first, segment.take(segment.total)]), samples)
