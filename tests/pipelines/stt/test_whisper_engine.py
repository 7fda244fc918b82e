import asyncio
import time

import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.audio.resample import Resampler
from pipelines.clock import VirtualClock, fixed
from pipelines.stt.base import Final, Partial, Recognition
from pipelines.stt.whisper import Whisper
from tests.fixtures.catalogue import Fixture, fixture
from tests.fixtures.human import HumanCaller, MissingPackageError, digits, prompts, spelled
from tests.fixtures.wer import normalised, word_errors

pytestmark = pytest.mark.engine

FRAME = 320


@pytest.fixture(scope="module")
def whisper() -> Whisper:
    whisper = Whisper()
    whisper.warm()
    return whisper


@pytest.fixture
def people() -> None:
    """Skip where the recordings of people are not installed."""
    try:
        spelled("a")
    except MissingPackageError as missing:
        pytest.skip(str(missing))


def at_16k(recording: Fixture | HumanCaller, seconds_after: float = 0.1) -> Samples:
    """A recording up to a moment after its last sound, when a pause is noticed."""
    resampler = Resampler(recording.rate, 16_000)
    samples = np.concatenate([resampler.process(recording.samples()), resampler.flush()])
    if recording.speech_end_s is None:
        return samples
    return samples[: int((recording.speech_end_s + seconds_after) * 16_000)]


def hearing_of(name: str) -> Samples:
    return at_16k(fixture(name))


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


@pytest.mark.parametrize("quiet_s", [0.0, 0.2, 0.5, 1.0])
def test_a_hum_is_heard_as_one_after_however_much_quiet(whisper: Whisper, quiet_s: float) -> None:
    quiet = np.zeros(int(quiet_s * 16_000), np.int16)
    heard = final_of(recognise(whisper, np.concatenate([quiet, hearing_of("mm-hm")])))
    assert "".join(normalised(heard)) in {"mmhm", "mmhmm", "mhm", "uhhuh"}


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


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("phone", [False, True], ids=["wideband", "phone band"])
def test_people_are_understood_with_few_errors(whisper: Whisper, phone: bool) -> None:
    errors = said = 0
    for caller in prompts(24, phone=phone):
        heard = final_of(recognise(whisper, at_16k(caller)))
        errors += word_errors(normalised(caller.words), normalised(heard))
        said += len(normalised(caller.words))
    assert errors / said <= (0.08 if phone else 0.06)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("number", ["914 857 203", "555 444 111"])
def test_a_persons_nine_digits_are_heard_without_a_fault(whisper: Whisper, number: str) -> None:
    heard = final_of(recognise(whisper, at_16k(digits(number, phone=True))))
    assert "".join(filter(str.isdigit, heard)) == number.replace(" ", "")


@pytest.mark.usefixtures("people")
def test_a_persons_spelled_address_is_written_letter_by_letter_when_spelling_is_expected(whisper: Whisper) -> None:
    heard = final_of(recognise(whisper, at_16k(spelled("laura@acme.com", phone=True)), spelling=True))
    assert heard.rstrip(".") == "L, A, U, R, A, at, A, C, M, E, dot, C, O, M"


def test_forty_seconds_of_dictation_are_heard_whole_and_once(whisper: Whisper) -> None:
    one = fixture("dictation")
    clock, said, feed_cost = VirtualClock(fixed(0.1)), list[Recognition](), list[float]()
    samples = np.tile(one.samples(), 3)
    ends = [start for start, _ in one.pauses] + [one.speech_end_s or one.duration_s]
    pauses = [lap * one.duration_s + end + 0.09 for lap in range(3) for end in ends]

    async def main() -> None:
        hearing = whisper.open(clock, said.append)
        hearing.begin(1)
        due = [int(at * 16_000) for at in pauses]
        for at in range(0, len(samples), FRAME):
            before = time.thread_time()
            hearing.feed(1, samples[at : at + FRAME])
            if due and at >= due[0]:
                hearing.pause(1)
                due.pop(0)
            feed_cost.append(time.thread_time() - before)
            await clock.sleep(0.02)
        hearing.end(1)
        await clock.sleep(5.0)

    clock.run(main())
    wanted = normalised(" ".join([one.words] * 3))
    assert word_errors(wanted, normalised(final_of(said))) / len(wanted) <= 0.06
    assert max(feed_cost) < 0.010
