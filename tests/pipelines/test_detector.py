from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.vad.detector import (
    Detection,
    DetectorSettings,
    SpeechConfirmed,
    SpeechDetector,
    SpeechEnded,
    SpeechMisfired,
    SpeechPaused,
    SpeechProgressed,
    SpeechStarted,
)

WINDOW = 0.032


def story(probabilities: list[float], *, asked: bool = False) -> list[tuple[int, Detection]]:
    detector = SpeechDetector(WINDOW)
    seen: list[tuple[int, Detection]] = []
    for n, probability in enumerate(probabilities):
        found = detector.feed(probability, 0.1, (n + 1) * WINDOW, asked=asked)
        seen += [(n, one) for one in found if not isinstance(one, SpeechProgressed)]
    return seen


def test_speech_is_confirmed_after_a_quarter_second_and_its_end_is_dated_back() -> None:
    seen = story([0.1] * 5 + [0.9] * 20 + [0.1] * 10)
    assert [type(found) for _, found in seen] == [SpeechStarted, SpeechConfirmed, SpeechPaused, SpeechEnded]
    started, confirmed, paused, ended = seen
    assert started == (5, SpeechStarted(at=5 * WINDOW))
    assert confirmed[0] == 12
    assert paused[0] == 27
    assert ended[0] == 32
    assert isinstance(ended[1], SpeechEnded)
    assert ended[1].ended_at == pytest.approx(25 * WINDOW)
    assert ended[1].voiced_s == pytest.approx(20 * WINDOW)


def test_a_short_sound_is_a_misfire_unless_a_question_is_open() -> None:
    short = [0.9] * 5 + [0.1] * 10
    assert [type(found) for _, found in story(short)] == [SpeechStarted, SpeechMisfired]
    assert [type(found) for _, found in story(short, asked=True)][:2] == [SpeechStarted, SpeechConfirmed]


def test_a_probability_between_the_thresholds_neither_starts_nor_ends_speech() -> None:
    assert story([0.4] * 20) == []
    assert not any(isinstance(found, SpeechEnded) for _, found in story([0.9] * 10 + [0.4] * 50))


def test_a_pause_inside_a_sentence_is_no_end() -> None:
    seen = story([0.9] * 10 + [0.1] * 6 + [0.9] * 10 + [0.1] * 10)
    assert [type(found) for _, found in seen] == [
        SpeechStarted,
        SpeechConfirmed,
        SpeechPaused,
        SpeechPaused,
        SpeechEnded,
    ]


def test_patience_hears_over_a_pause_but_ends_what_is_no_speech_as_usual() -> None:
    detector = SpeechDetector(WINDOW)
    found: list[tuple[int, Detection]] = []
    windows = [0.9] * 3 + [0.1] * 12 + [0.9] * 10 + [0.1] * 30 + [0.9] * 10 + [0.1] * 45
    for n, probability in enumerate(windows):
        events = detector.feed(probability, 0.1, (n + 1) * WINDOW, patience_s=1.3)
        found += [(n, event) for event in events if not isinstance(event, SpeechProgressed)]
    kinds = [type(event) for _, event in found]
    assert kinds == [
        SpeechStarted,
        SpeechMisfired,
        SpeechStarted,
        SpeechConfirmed,
        SpeechPaused,
        SpeechPaused,
        SpeechEnded,
    ]
    assert found[1][0] == 10
    ended_at_window, ended = found[-1]
    assert isinstance(ended, SpeechEnded)
    assert ended.ended_at == pytest.approx(65 * WINDOW)
    assert ended_at_window == 65 + 40


@given(st.lists(st.floats(min_value=0, max_value=1), max_size=300))
def test_every_start_has_one_end_or_misfire_and_only_confirmed_speech_ends(probabilities: list[float]) -> None:
    open_, confirmed = False, False
    for _, found in story(probabilities + [0.0] * 9):
        match found:
            case SpeechStarted():
                assert not open_
                open_, confirmed = True, False
            case SpeechConfirmed():
                assert open_ and not confirmed
                confirmed = True
            case SpeechEnded(started_at=start, ended_at=end, voiced_s=voiced):
                assert open_ and confirmed and end - start >= voiced - 1e-9
                open_ = False
            case SpeechMisfired():
                assert open_ and not confirmed
                open_ = False
            case _:
                pass
    assert not open_


def test_where_a_sound_needs_an_onset_it_begins_with_its_first_window_and_a_break_begins_it_anew() -> None:
    detector = SpeechDetector(WINDOW, DetectorSettings(onset_s=0.096))
    found = []
    for n, probability in enumerate([0.9, 0.9, 0.1] * 5 + [0.9] * 3):
        found += [(n, one) for one in detector.feed(probability, 0.1, (n + 1) * WINDOW)]
    assert [n for n, _ in found] == [17] * 4
    assert found[0][1] == SpeechStarted(at=15 * WINDOW)
    assert [one.voiced_s for _, one in found if isinstance(one, SpeechProgressed)] == pytest.approx(
        [WINDOW, 2 * WINDOW, 3 * WINDOW]
    )


def test_an_onset_does_not_reach_over_a_gap() -> None:
    detector = SpeechDetector(WINDOW, DetectorSettings(onset_s=0.096))
    for n in range(2):
        assert detector.feed(0.9, 0.1, (n + 1) * WINDOW) == []
    assert detector.lapse() == []
    assert detector.feed(0.9, 0.1, 9.0) == []
