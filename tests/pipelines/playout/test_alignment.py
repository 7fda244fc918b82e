from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.playout.alignment import word_times
from pipelines.playout.speakable import speakable
from pipelines.playout.utterance import Utterance

RATE = 1000


def sound(*stretches: tuple[float, int]) -> Samples:
    """Join stretches of seconds and amplitude."""
    return np.concatenate([np.full(round(seconds * RATE), level, np.int16) for seconds, level in stretches])


def ends(text: str, samples: Samples) -> list[tuple[str, Any]]:
    return [(text[: time.end_char].rsplit(maxsplit=1)[-1], time.end_s) for time in word_times(text, samples, RATE)]


def test_letters_share_the_time_of_the_sound_and_not_of_the_silence_around_it() -> None:
    heard = ends("ten times two tens.", sound((0.5, 0), (1.96, 900), (0.6, 0)))
    said = [("ten", 0.8), ("times", 1.4), ("two", 1.8), ("tens", 2.46)]
    assert heard == [(word, pytest.approx(end_s - 0.05)) for word, end_s in said]


def test_a_word_before_a_pause_is_drawn_out() -> None:
    assert ends("one six", sound((0.82, 900)))[0] == ("one", pytest.approx(0.3 - 0.05))


def test_a_pause_is_where_the_mark_is() -> None:
    heard = dict(ends("No, thank you very much.", sound((1.0, 900), (0.4, 0), (2.06, 900))))
    assert heard["No"] == pytest.approx(0.95)
    assert heard["thank"] == pytest.approx(1.4 + 0.5 - 0.05)


def test_of_more_pauses_than_marks_the_longest_are_the_marks() -> None:
    made = sound((0.4, 900), (0.15, 0), (0.6, 900), (0.4, 0), (0.5, 900))
    assert dict(ends("one two, three", made))["two"] == pytest.approx(1.15 - 0.05)


def test_a_mark_that_was_passed_over_is_no_landmark() -> None:
    said = [("one", pytest.approx(0.25)), ("two", pytest.approx(0.65)), ("six", pytest.approx(1.17))]
    assert ends("one, two, six", sound((1.22, 900))) == said


def test_a_language_without_spaces_goes_by_characters() -> None:
    times = word_times("你好吗", sound((1.1, 900)), RATE)
    assert [time.end_char for time in times] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "samples"), [("…", sound((1.0, 900))), ("Hello.", sound((1.0, 0))), ("Hi", np.zeros(0, np.int16))]
)
def test_without_words_or_sound_there_are_no_times(text: str, samples: Samples) -> None:
    assert word_times(text, samples, RATE) == ()


def test_an_utterance_estimates_only_what_the_engine_did_not_say() -> None:
    utterance = Utterance(1, "reply", rate=RATE)
    utterance.text = "Ten minutes."
    utterance.open_piece(0, speakable(utterance.text))
    utterance.append(sound((0.55, 900)))
    utterance.append(sound((0.83, 900), (0.9, 0)))
    utterance.close_piece()
    utterance.heard_samples = 1340
    assert utterance.text[: utterance.heard_end()] == "Ten minutes"
    utterance.heard_samples = 1320
    assert utterance.text[: utterance.heard_end()] == "Ten"
    assert utterance.resume_sample() == 250
