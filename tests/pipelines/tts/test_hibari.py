import asyncio

import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.clock import RealClock, VirtualClock, fixed
from pipelines.tts.base import SynthesisError
from pipelines.tts.hibari import LONGEST_TEXT, HibariVoice, trim

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def voice() -> HibariVoice:
    voice = HibariVoice()
    voice.warm()
    return voice


def spoken(voice: HibariVoice, text: str) -> list[Samples]:
    async def gather() -> list[Samples]:
        return [audio.samples async for audio in voice.synthesize(text, RealClock())]

    return asyncio.run(gather())


def edges(samples: Samples) -> tuple[float, float]:
    """Seconds of silence before and after the sound."""
    loud = np.flatnonzero(np.abs(samples) > 60)
    return float(loud[0]) / 24_000, (len(samples) - 1 - float(loud[-1])) / 24_000


def test_a_sentence_is_int16_with_its_sound_at_the_very_start_and_a_pause_at_its_end(voice: HibariVoice) -> None:
    (samples,) = spoken(voice, "It is twenty past nine.")
    assert samples.dtype == np.int16
    assert samples.ndim == 1
    lead, tail = edges(samples)
    assert lead < 0.06
    assert 0.2 < tail < 0.4
    assert 1.0 < len(samples) / 24_000 < 2.0


def test_a_clause_whose_sentence_goes_on_has_a_shorter_pause(voice: HibariVoice) -> None:
    (samples,) = spoken(voice, "On the fourth of March,")
    assert edges(samples)[1] < 0.2


def test_the_same_text_is_the_same_audio_every_time(voice: HibariVoice) -> None:
    first, again = spoken(voice, "One moment."), spoken(HibariVoice(), "One moment.")
    assert np.array_equal(first[0], again[0])


def test_several_sentences_come_one_by_one(voice: HibariVoice) -> None:
    assert len(spoken(voice, "Hello there. Dr. Smith is in. How can I help?")) == 3


def test_a_text_of_punctuation_is_silent_and_not_an_error(voice: HibariVoice) -> None:
    for text in ("", " ", "…", "--", "?!"):
        assert spoken(voice, text) == []


def test_a_text_the_voice_has_no_sounds_for_is_an_error_that_does_not_repeat_it(voice: HibariVoice) -> None:
    with pytest.raises(SynthesisError, match="no sounds for a text of 2 characters"):
        spoken(voice, "日本")


def test_an_endless_text_is_refused(voice: HibariVoice) -> None:
    with pytest.raises(SynthesisError, match="at most 2000 characters, got 2001"):
        spoken(voice, "a" * (LONGEST_TEXT + 1))


def test_an_engine_that_fails_is_a_synthesis_error(voice: HibariVoice, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("onnx said no")

    monkeypatch.setattr("hibari.Hibari.from_phonemes", broken)
    with pytest.raises(SynthesisError, match="onnx said no"):
        spoken(voice, "Hello.")


def test_two_calls_take_turns_sentence_by_sentence(voice: HibariVoice) -> None:
    clock = VirtualClock(fixed(1.0))
    order: list[tuple[str, float]] = []

    async def speak(name: str) -> None:
        order.extend([(name, clock.now()) async for _ in voice.synthesize("One. Two. Three.", clock)])

    async def both() -> None:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(speak("a"))
            calls.create_task(speak("b"))

    clock.run(both())
    assert sorted(order, key=lambda each: each[1]) == [
        ("a", 1.0),
        ("b", 2.0),
        ("a", 3.0),
        ("b", 4.0),
        ("a", 5.0),
        ("b", 6.0),
    ]


def test_trimming_silence_leaves_nothing() -> None:
    assert len(trim(np.zeros(24_000, np.float32), tail=100)) == 0
    assert len(trim(np.zeros(7, np.float32), tail=100)) == 0


def test_trimming_keeps_twenty_milliseconds_before_the_sound_and_the_tail_asked_for() -> None:
    wave = np.zeros(24_000, np.float32)
    wave[12_000:12_120] = 0.1
    assert len(trim(wave, tail=1_000)) == 480 + 120 + 1_000
    assert len(trim(wave, tail=100_000)) == 480 + 12_000
