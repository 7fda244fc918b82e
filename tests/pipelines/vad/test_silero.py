import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.audio.resample import Resampler
from pipelines.vad.base import WINDOW
from pipelines.vad.silero import SileroModel, SileroStream, SileroWeightsError, find_weights
from tests.fixtures.catalogue import fixture

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def model() -> SileroModel:
    model = SileroModel()
    model.warm()
    return model


def hearing(name: str) -> Samples:
    recording = fixture(name)
    resampler = Resampler(recording.rate, 16_000)
    return np.concatenate([resampler.process(recording.samples()), resampler.flush()])


@pytest.mark.parametrize("name", ["what-time-is-it", "phone-band", "quiet-caller"])
def test_speech_is_probable_where_somebody_speaks_and_improbable_in_the_silence_before(
    model: SileroModel, name: str
) -> None:
    recording = fixture(name)
    assert recording.speech_start_s is not None and recording.speech_end_s is not None
    probabilities = model.open().feed(hearing(name))
    first, last = (int(at * 16_000) // WINDOW for at in (recording.speech_start_s, recording.speech_end_s))
    assert np.mean(np.array(probabilities[first : last + 1]) > 0.5) > 0.75
    assert max(probabilities[: max(1, first - 1)]) < 0.5


def test_room_tone_and_a_fan_are_no_speech(model: SileroModel) -> None:
    for name in ("room-tone", "fan"):
        assert max(model.open().feed(hearing(name))) < 0.5


@pytest.mark.parametrize("chunk", [1, 160, 320, 511, 513, 4_000])
def test_chunking_makes_no_difference(model: SileroModel, chunk: int) -> None:
    samples = hearing("what-time-is-it")[:16_000]
    whole, stream = model.open().feed(samples), model.open()
    pieces = [p for i in range(0, len(samples), chunk) for p in stream.feed(samples[i : i + chunk])]
    assert pieces == whole
    assert len(whole) == len(samples) // WINDOW
    assert stream.pending == len(samples) % WINDOW


def test_after_a_reset_a_stream_hears_like_a_new_one(model: SileroModel) -> None:
    samples, stream = hearing("what-time-is-it")[:16_000], model.open()
    stream.feed(samples[:12_345])
    stream.reset()
    assert stream.pending == 0
    assert stream.feed(samples) == model.open().feed(samples)


def test_windows_judged_together_come_to_what_each_comes_to_alone(model: SileroModel) -> None:
    sounds = [hearing(name) for name in ("what-time-is-it", "fan", "no", "long-question", "stop")]
    alone, together = [model.open() for _ in sounds], [model.open() for _ in sounds]
    for at in range(0, 20_000, 320):  # frames of 20 ms: some complete a window, some do not
        frames = [sound[at : at + 320] for sound in sounds]
        model.foresee(list(zip(together, frames, strict=True)))
        for one, other, frame in zip(alone, together, frames, strict=True):
            assert other.feed(frame) == pytest.approx(one.feed(frame), abs=1e-4)
            assert one.pending == other.pending


def test_what_was_foreseen_of_other_samples_or_before_a_reset_is_forgotten(model: SileroModel) -> None:
    speech, noise = hearing("what-time-is-it")[6_000:6_512], hearing("fan")[:512]
    spoilers: list[Callable[[SileroStream], object]] = [lambda stream: stream.feed(noise), SileroStream.reset]
    for spoil in spoilers:
        plain, stream = model.open(), model.open()
        model.foresee([(stream, speech), (model.open(), speech)])
        spoil(stream)
        spoil(plain)
        assert stream.feed(speech) == plain.feed(speech)


def test_streams_of_several_threads_do_not_disturb_each_other(model: SileroModel) -> None:
    samples = hearing("what-time-is-it")[:32_000]
    alone = model.open().feed(samples)
    streams = [model.open() for _ in range(8)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(SileroStream.feed, streams, [samples] * 8)) == [alone] * 8


def test_a_window_costs_well_under_a_millisecond_of_thread_time(model: SileroModel) -> None:
    stream, samples = model.open(), np.zeros(WINDOW * 200, np.int16)
    stream.feed(samples)
    started = time.thread_time()
    stream.feed(samples)
    assert (time.thread_time() - started) / 200 < 1e-3


def test_the_weights_are_found_without_importing_whoever_ships_them() -> None:
    code = (
        "import sys; from pipelines.vad.silero import SileroModel; SileroModel().open();"
        "assert not [m for m in sys.modules if m.startswith(('livekit', 'silero_vad', 'torch'))]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_weights_the_error_names_where_was_looked_and_the_fix() -> None:
    with pytest.raises(
        SileroWeightsError, match=r"no silero_vad.onnx in 'no-such-vad' or 'numpy': run `pip install numpy`"
    ):
        find_weights(("no-such-vad", "numpy"))
