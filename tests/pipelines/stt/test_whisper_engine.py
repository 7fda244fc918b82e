import asyncio

import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.audio.resample import Resampler
from pipelines.clock import VirtualClock, fixed
from pipelines.stt.base import Final, Partial, Recognition
from pipelines.stt.whisper import Whisper
from tests.fixtures.catalogue import fixture
from tests.fixtures.wer import normalised

pytestmark = pytest.mark.engine

FRAME = 320


@pytest.fixture(scope="module")
def whisper() -> Whisper:
    whisper = Whisper()
    whisper.warm()
    return whisper


def hearing_of(name: str, seconds_after: float = 0.1) -> Samples:
    recording = fixture(name)
    resampler = Resampler(recording.rate, 16_000)
    samples = np.concatenate([resampler.process(recording.samples()), resampler.flush()])
    end = recording.speech_end_s or recording.duration_s
    return samples[: int((end + seconds_after) * 16_000)]


def final_of(said: list[Recognition]) -> str:
    (final,) = (each.text for each in said if isinstance(each, Final))
    return final


def recognise(whisper: Whisper, samples: Samples, *, spelling: bool = False) -> list[Recognition]:
    clock, said = VirtualClock(fixed(0.1)), list[Recognition]()

    async def main() -> None:
        hearing = whisper.open(clock, said.append)
        hearing.begin(1, spelling=spelling)
        for at in range(0, len(samples), FRAME):
            hearing.feed(1, samples[at : at + FRAME])
            await clock.sleep(0.02)
        hearing.pause(1)
        await clock.sleep(0.16)
        hearing.end(1)
        await clock.sleep(5.0)
        await hearing.aclose()

    clock.run(main())
    return said


@pytest.mark.parametrize(
    "name",
    [
        "what-time-is-it",
        "yes",
        "no",
        "stop",
        "tuesday",
        "quiet-caller",
        "phone-band",
        "long-question",
        "stop-tell-me-the-time",
    ],
)
def test_a_caller_is_understood_word_for_word(whisper: Whisper, name: str) -> None:
    assert normalised(final_of(recognise(whisper, hearing_of(name)))) == normalised(fixture(name).words)


@pytest.mark.parametrize("name", ["cough", "throat-clear", "blip", "door-slam", "fan", "room-tone"])
@pytest.mark.parametrize("spelling", [False, True])
def test_noise_is_no_words(whisper: Whisper, name: str, spelling: bool) -> None:
    said = recognise(whisper, hearing_of(name), spelling=spelling)
    assert said == [Final(segment=1, text="")]


def test_a_hum_is_heard_as_one(whisper: Whisper) -> None:
    assert "".join(normalised(final_of(recognise(whisper, hearing_of("mm-hm"))))) in {"mmhm", "mmhmm", "mhm", "uhhuh"}


def test_partials_of_a_long_answer_grow_toward_the_final(whisper: Whisper) -> None:
    said = recognise(whisper, hearing_of("dictation"))
    partials = [normalised(each.text) for each in said if isinstance(each, Partial)]
    assert len(partials) >= 5
    assert normalised("please tell her")[:3] == partials[1][:3]
    assert normalised(final_of(said)) == normalised(fixture("dictation").words)


def test_a_model_is_loaded_once_however_many_threads_ask(whisper: Whisper) -> None:
    async def both() -> None:
        await asyncio.gather(*(asyncio.to_thread(whisper.warm) for _ in range(4)))

    asyncio.run(both())
