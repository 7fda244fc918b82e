import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.audio.resample import Resampler

RATES = [
    (8_000, 16_000),
    (48_000, 16_000),
    (24_000, 48_000),
    (24_000, 8_000),
    (44_100, 16_000),
    (192_000, 16_000),
    (11_025, 24_000),
]


def tone(rate: int, hertz: float, seconds: float = 1.0) -> Samples:
    return (10_000 * np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate)).astype(np.int16)


def streamed(resampler: Resampler, samples: Samples, chunk: int) -> Samples:
    pieces = [resampler.process(samples[i : i + chunk]) for i in range(0, len(samples), chunk)]
    return np.concatenate([*pieces, resampler.flush()])


@pytest.mark.parametrize(("source", "target"), RATES)
def test_a_tone_keeps_its_pitch_length_and_place(source: int, target: int) -> None:
    heard = streamed(Resampler(source, target), tone(source, 440), source // 50).astype(float)
    assert abs(len(heard) - target) <= 2
    middle = slice(target // 10, -target // 10)
    wanted = tone(target, 440).astype(float)[: len(heard)]
    lags = np.arange(-4, 5)
    best = lags[np.argmax([np.dot(np.roll(wanted, lag)[middle], heard[: len(wanted)][middle]) for lag in lags])]
    assert abs(best) <= 0.25e-3 * target
    assert heard[middle].std() == pytest.approx(10_000 / 2**0.5, rel=0.01)


def test_what_the_target_cannot_hold_is_filtered_out_rather_than_folded_back() -> None:
    heard = streamed(Resampler(48_000, 16_000), tone(48_000, 10_000), 960)
    assert np.abs(heard[800:-800]).max() < 20


@pytest.mark.parametrize(("source", "target"), RATES)
def test_the_lag_is_constant_and_as_documented(source: int, target: int) -> None:
    resampler, samples, frame = Resampler(source, target), tone(source, 300), source // 50
    got, lags = 0, []
    for i in range(0, len(samples) - frame + 1, frame):
        got += len(resampler.process(samples[i : i + frame]))
        lags.append((i + frame) / source - got / target)
    assert max(lags[3:]) <= 242 / min(source, target)
    assert max(lags[3:]) - min(lags[3:]) <= 2 / min(source, target)


def test_chunking_makes_no_difference() -> None:
    samples = tone(8_000, 700)
    whole, bits = streamed(Resampler(8_000, 16_000), samples, 8_000), streamed(Resampler(8_000, 16_000), samples, 37)
    assert np.array_equal(whole, bits)


def test_equal_rates_pass_through_without_a_copy_or_a_lag() -> None:
    resampler, samples = Resampler(16_000, 16_000), tone(16_000, 300)
    assert resampler.process(samples) is samples
    assert len(resampler.flush()) == 0
    resampler.reset()


@pytest.mark.parametrize("leave", ["flush", "reset"])
def test_after_a_flush_or_a_reset_nothing_of_the_old_stream_is_heard(leave: str) -> None:
    resampler = Resampler(8_000, 16_000)
    resampler.process(tone(8_000, 700))
    getattr(resampler, leave)()
    assert not np.any(streamed(resampler, np.zeros(4_000, np.int16), 160))


@pytest.mark.parametrize(("source", "target"), [(7_999, 16_000), (16_000, 192_001), (0, 16_000)])
def test_a_rate_out_of_range_is_refused_by_name(source: int, target: int) -> None:
    with pytest.raises(ValueError, match=r"8000 to 192000 Hz, got (7999|192001|0)"):
        Resampler(source, target)
