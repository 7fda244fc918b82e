import numpy as np
import pytest

from pipelines.audio.levels import SILENCE_DBFS, dbfs, peak, rms


def test_a_sine_at_full_scale_has_an_rms_of_three_decibels_below_it() -> None:
    sine = (32767 * np.sin(2 * np.pi * 100 * np.arange(16_000) / 16_000)).astype(np.int16)
    assert rms(sine) == pytest.approx(2**-0.5, abs=1e-3)
    assert dbfs(rms(sine)) == pytest.approx(-3.01, abs=0.01)
    assert peak(sine) == pytest.approx(1.0, abs=1e-4)


def test_the_most_negative_sample_is_full_scale_not_an_overflow() -> None:
    samples = np.array([-32768, 0, 100], np.int16)
    assert peak(samples) == 1.0
    assert rms(np.full(7, -32768, np.int16)) == 1.0


@pytest.mark.parametrize("samples", [np.zeros(0, np.int16), np.zeros(320, np.int16)])
def test_nothing_and_silence_measure_as_silence(samples: np.ndarray) -> None:
    assert rms(samples) == peak(samples) == 0.0
    assert dbfs(rms(samples)) == SILENCE_DBFS
