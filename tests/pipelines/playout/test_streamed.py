"""An utterance whose words and sound come apart."""

from __future__ import annotations

import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.playout.streamed import StreamedUtterance

RATE = 1000


def sound(seconds: float) -> Samples:
    return np.full(round(seconds * RATE), 500, np.int16)


@pytest.fixture
def utterance() -> StreamedUtterance:
    return StreamedUtterance(1, "reply", rate=RATE, pace=10.0)


def test_words_without_sound_are_not_heard(utterance: StreamedUtterance) -> None:
    utterance.words("a", "aaaa bbbb cccc")
    assert utterance.heard_end() == 0
    utterance.sound("a", sound(0.2))
    utterance.heard_samples = 200
    assert utterance.heard_end() == 0, "at ten characters a second no word is over"


def test_sound_without_words_is_heard_and_says_nothing(utterance: StreamedUtterance) -> None:
    utterance.sound("a", sound(1.0))
    utterance.heard_samples = 1000
    assert utterance.heard_end() == 0
    assert [(part.part, part.heard_s, part.made_s) for part in utterance.parts_heard()] == [("a", 1.0, 1.0)]


def test_while_sound_comes_words_are_said_no_faster_than_the_voice_speaks(utterance: StreamedUtterance) -> None:
    utterance.words("a", "aaaa bbbb cccc dddd")
    utterance.sound("a", sound(1.0))
    utterance.heard_samples = 1000
    assert utterance.text[: utterance.heard_end()] == "aaaa bbbb"


def test_when_all_sound_is_there_words_are_placed_by_it(utterance: StreamedUtterance) -> None:
    utterance.words("a", "aaaa bbbb cccc dddd")
    utterance.sound("a", sound(4.0))
    utterance.close()
    utterance.heard_samples = 2100
    assert utterance.text[: utterance.heard_end()] == "aaaa bbbb"
    utterance.heard_samples = 4000
    assert utterance.heard_end() == len(utterance.text)


def test_words_may_come_when_their_sound_was_heard(utterance: StreamedUtterance) -> None:
    utterance.sound("a", sound(2.0))
    utterance.sound("b", sound(2.0))
    utterance.close()
    utterance.heard_samples = 3000
    utterance.words("b", "cccc dddd")
    utterance.words("a", "aaaa bbbb")
    assert utterance.text == "aaaa bbbb cccc dddd", "in the order of the sound"
    assert utterance.text[: utterance.heard_end()] == "aaaa bbbb cccc"


def test_parts_are_heard_each_by_its_own_sound(utterance: StreamedUtterance) -> None:
    for part, seconds in (("a", 1.0), ("b", 2.0), ("c", 0.5)):
        utterance.words(part, f"{part * 4}.")
        utterance.sound(part, sound(seconds))
    utterance.heard_samples = 1500
    assert [(part.part, part.heard_s) for part in utterance.parts_heard()] == [("a", 1.0), ("b", 0.5), ("c", 0.0)]
    assert utterance.text == "aaaa. bbbb. cccc."
    assert utterance.text_of(["b", "nothing"]) == "bbbb."
    assert utterance.text_of(["a", "b"], end=9) == "aaaa. bbb"


def test_the_pace_is_told_by_what_is_whole(utterance: StreamedUtterance) -> None:
    utterance.words("a", "a" * 60)
    utterance.sound("a", sound(4.0))
    assert utterance.pace == 10.0
    utterance.close()
    assert utterance.pace == 15.0
