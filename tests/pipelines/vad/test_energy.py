"""The energy detector's rules: what is loud enough, what is learned of the noise, and how long it has to last."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.audio.frame import HEARING_RATE, Samples
from pipelines.vad.base import WINDOW, WINDOW_S
from pipelines.vad.detector import (
    Detection,
    SpeechConfirmed,
    SpeechDetector,
    SpeechEnded,
    SpeechProgressed,
    SpeechStarted,
)
from pipelines.vad.energy import EnergyModel, EnergySettings, EnergyStream


def tone(level: float, seconds: float = WINDOW_S) -> Samples:
    """A square wave of this RMS, full scale 1."""
    count = round(seconds * HEARING_RATE)
    return (np.where(np.arange(count) % 2, 1, -1) * round(level * 32768)).astype(np.int16)


def stream(*levels: float, settings: EnergySettings | None = None) -> EnergyStream:
    """A stream that has heard a window of each level."""
    heard = EnergyStream(settings)
    for level in levels:
        heard.feed(tone(level))
    return heard


def detections(windows: Iterable[float], settings: EnergySettings | None = None) -> list[tuple[float, Detection]]:
    """What a call's detector makes of windows of some levels, and when, but for its progress."""
    model = EnergyModel(settings)
    heard, detector = model.open(), SpeechDetector(WINDOW_S, model.detector)
    found: list[tuple[float, Detection]] = []
    for n, level in enumerate(windows, 1):
        (probability,) = heard.feed(tone(level))
        found += [(n * WINDOW_S, one) for one in detector.feed(probability, level, n * WINDOW_S)]
    return [(at, one) for at, one in found if not isinstance(one, SpeechProgressed)]


QUIET, LOUD = 0.001, 0.1


# ------------------------------------------------------------------------------------------------------ the threshold


def test_the_base_threshold_is_a_hundredth_of_full_scale() -> None:
    assert EnergyStream().threshold == 0.01
    assert stream(0.002).threshold == 0.01


def test_above_a_loud_floor_speech_is_three_times_as_loud() -> None:
    assert stream(0.02).threshold == pytest.approx(0.06, rel=1e-3)


def test_the_threshold_never_rises_above_half_of_full_scale() -> None:
    assert stream(0.4).threshold == 0.5


def test_without_adaptation_the_base_threshold_holds() -> None:
    assert stream(0.2, 0.2, 0.2, settings=EnergySettings(adaptive=False)).threshold == 0.01


def test_speech_is_louder_than_the_threshold_and_not_as_loud() -> None:
    settings = EnergySettings(threshold=1024 / 32768, adaptive=False)
    entry = EnergyModel(settings).detector.entry
    (as_loud,) = EnergyStream(settings).feed(np.full(WINDOW, 1024, np.int16))
    (louder,) = EnergyStream(settings).feed(np.full(WINDOW, 1025, np.int16))
    assert as_loud == 0.5 < entry <= louder


def test_the_probability_is_the_loudness_over_twice_the_threshold_and_at_most_one() -> None:
    settings = EnergySettings(adaptive=False)
    assert EnergyStream(settings).feed(tone(0.005)) == [pytest.approx(0.25, rel=0.01)]
    assert EnergyStream(settings).feed(tone(0.015)) == [pytest.approx(0.75, rel=0.01)]
    assert EnergyStream(settings).feed(tone(0.3)) == [1.0]


# ---------------------------------------------------------------------------------------------------------- the floor


def test_the_very_first_window_seeds_the_floor_and_is_itself_judged_without_one() -> None:
    heard = EnergyStream()
    assert heard.feed(tone(0.015)) == [pytest.approx(0.75, rel=0.01)]
    assert heard.feed(tone(0.02)) == [pytest.approx(0.02 / 0.09, rel=0.01)]
    assert heard.threshold == pytest.approx(3 * (0.015 + 0.02 * 0.005), rel=1e-3)


def test_a_window_is_judged_by_the_floor_before_it() -> None:
    heard = stream(0.02)
    assert heard.feed(tone(0.012)) == [pytest.approx(0.1, rel=0.01)]
    assert heard.threshold < 0.06


def test_the_floor_falls_by_a_fifth_of_the_way_and_rises_by_a_fiftieth() -> None:
    assert stream(0.02, 0.01).threshold / 3 == pytest.approx(0.02 - 0.2 * 0.01, rel=1e-3)
    assert stream(0.02, 0.03).threshold / 3 == pytest.approx(0.02 + 0.02 * 0.01, rel=1e-3)


def test_speech_lifts_the_floor_by_a_thousandth_and_a_little() -> None:
    assert stream(0.02, 0.2).threshold / 3 == pytest.approx(stream(0.02).threshold / 3 * 1.001 + 1e-6, rel=1e-6)


def test_speech_never_lifts_the_floor_above_itself() -> None:
    heard = stream(0.02, settings=EnergySettings(multiplier=0.5))
    before = heard.threshold
    heard.feed(tone(0.0200001))
    assert heard.threshold <= max(before, 0.5 * 0.0201)


def test_a_noise_that_stays_is_silence_after_a_quarter_of_a_minute() -> None:
    found = detections([0.003] * 10 + [0.015] * 800)
    (ended_at, ended) = found[-1]
    assert isinstance(ended, SpeechEnded)
    assert 8 < ended_at < 20


def test_a_pause_brings_the_floor_down_again() -> None:
    heard = stream(0.02, *[0.2] * 300)
    raised = heard.threshold
    heard.feed(tone(0.001, 10 * WINDOW_S))
    assert heard.threshold < raised / 2


def test_a_reset_keeps_the_floor_and_drops_the_window_in_progress() -> None:
    heard = stream(0.02)
    heard.feed(tone(0.5, 0.02))
    heard.reset()
    assert heard.pending == 0
    assert heard.threshold == pytest.approx(0.06, rel=1e-3)


# ------------------------------------------------------------------------------------------------------------ the times


def test_somebody_speaks_after_96_ms_without_a_break() -> None:
    found = detections([QUIET] * 5 + [LOUD] * 3)
    (at, started), (_, confirmed) = found
    assert isinstance(started, SpeechStarted) and isinstance(confirmed, SpeechConfirmed)
    assert [at, started.at] == pytest.approx([8 * WINDOW_S, 5 * WINDOW_S])


def test_a_quiet_window_begins_the_96_ms_anew() -> None:
    assert detections([QUIET] * 5 + [LOUD, LOUD, QUIET] * 20) == []


@pytest.mark.parametrize("silence_s", [0.45, 1.2])
def test_somebody_has_stopped_after_so_much_silence(silence_s: float) -> None:
    found = detections([QUIET] * 5 + [LOUD] * 20 + [QUIET] * 50, EnergySettings(silence_s=silence_s))
    at, ended = found[-1]
    assert isinstance(ended, SpeechEnded)
    assert ended.ended_at == pytest.approx(25 * WINDOW_S)
    assert at == pytest.approx(math.ceil(silence_s / WINDOW_S) * WINDOW_S + ended.ended_at)


def test_a_loud_window_begins_the_silence_anew() -> None:
    found = detections([QUIET] * 5 + [LOUD] * 5 + ([QUIET] * 14 + [LOUD]) * 10)
    assert isinstance(found[1][1], SpeechConfirmed)
    assert not any(isinstance(one, SpeechEnded) for _, one in found)


# ------------------------------------------------------------------------------------------------------------- chunks


@settings(deadline=None)
@given(st.lists(st.integers(1, 1500), min_size=1, max_size=40), st.integers(0, 2**32 - 1))
def test_how_the_sound_is_cut_into_chunks_makes_no_difference(sizes: list[int], seed: int) -> None:
    loudness = np.repeat(np.random.default_rng(seed).uniform(0, 3000, 1 + sum(sizes) // 700), 700)[: sum(sizes)]
    samples = (loudness * np.random.default_rng(seed).uniform(-1, 1, len(loudness))).astype(np.int16)
    whole, cut = EnergyStream(), EnergyStream()
    expected = whole.feed(samples)
    found = [one for part in np.split(samples, np.cumsum(sizes)[:-1]) for one in cut.feed(part)]
    assert found == expected
    assert len(expected) == len(samples) // WINDOW
    assert cut.pending == whole.pending == len(samples) % WINDOW
