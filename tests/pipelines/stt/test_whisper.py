from collections.abc import Callable

import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.clock import Charge, Clock, VirtualClock, fixed
from pipelines.lane import Lane
from pipelines.stt.base import Final, Partial, Recognition, RecognitionFailed
from pipelines.stt.whisper import WhisperHearing
from pipelines.stt.whisper_model import WhisperModel

FRAME = 320


class Ear(WhisperModel):
    """Says how long each decode's audio was, in tenths of a second."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[float] = []
        self.spelled: list[bool] = []
        self.broken = False

    def hear(self, samples: Samples, *, spelling: bool = False) -> str:
        if self.broken:
            raise RuntimeError("out of memory")
        self.heard.append(round(len(samples) / 16_000, 2))
        self.spelled.append(spelling)
        return f"{len(samples) / 16_000:.1f}"


def voice(seconds: float, level: float = 3_000.0) -> Samples:
    wave: Samples = (level * np.sin(np.arange(int(seconds * 16_000)) * 0.2)).astype(np.int16)
    return wave


def room_tone(seconds: float) -> Samples:
    return voice(seconds, level=10.0)


def silence(seconds: float) -> Samples:
    return np.zeros(int(seconds * 16_000), np.int16)


class Caller:
    """Feeds a hearing in real time of a virtual clock and keeps what it says, with the time."""

    def __init__(
        self, clock: Clock, open_hearing: Callable[[Clock, Callable[[Recognition], None]], WhisperHearing]
    ) -> None:
        self.clock = clock
        self.said: list[tuple[float, Recognition]] = []
        self.hearing = open_hearing(clock, self._keep)

    def _keep(self, recognition: Recognition) -> None:
        self.said.append((round(self.clock.now(), 3), recognition))

    async def speak(self, samples: Samples, segment: int = 1) -> None:
        for at in range(0, len(samples), FRAME):
            self.hearing.feed(segment, samples[at : at + FRAME])
            await self.clock.sleep(0.02)

    @property
    def finals(self) -> list[tuple[float, str]]:
        return [(at, each.text) for at, each in self.said if isinstance(each, Final)]

    @property
    def partials(self) -> list[tuple[float, str]]:
        return [(at, each.text) for at, each in self.said if isinstance(each, Partial)]


def call(story: Callable[[Caller], object], ear: WhisperModel, charge: Charge) -> Caller:
    clock, lane = VirtualClock(charge), Lane("stt.test")
    caller: list[Caller] = []

    async def main() -> None:
        caller.append(Caller(clock, lambda c, emit: WhisperHearing(ear, lane, c, emit)))
        await story(caller[0])  # type: ignore[misc]
        await clock.sleep(5.0)

    clock.run(main())
    return caller[0]


def test_a_decode_begun_in_the_pause_is_the_final_and_hides_behind_the_notice_of_the_end() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        await caller.speak(voice(0.4))
        await caller.speak(silence(0.1))
        caller.hearing.pause(1)
        await caller.speak(silence(0.16))
        caller.hearing.end(1)

    ear = Ear()
    caller = call(story, ear, fixed(0.1))
    assert ear.heard == [0.5]
    assert caller.said == [(0.6, Partial(segment=1, text="0.5")), (0.66, Final(segment=1, text="0.5"))]


def test_a_decode_that_is_not_ready_at_the_end_is_the_final_when_it_is() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        await caller.speak(voice(0.4))
        caller.hearing.pause(1)
        await caller.speak(silence(0.16))
        caller.hearing.end(1)

    ear = Ear()
    caller = call(story, ear, fixed(0.3))
    assert ear.heard == [0.4]
    assert caller.said == [(0.7, Final(segment=1, text="0.4"))]


@pytest.mark.parametrize("after", [voice(0.2), silence(0.5)], ids=["speech", "a long silence"])
def test_what_follows_a_pause_makes_its_decode_a_partial_and_all_is_decoded_at_the_end(after: Samples) -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        await caller.speak(voice(0.4))
        caller.hearing.pause(1)
        await caller.speak(after)
        caller.hearing.end(1)

    ear = Ear()
    caller = call(story, ear, fixed(0.05))
    whole = round(0.4 + len(after) / 16_000, 2)
    assert ear.heard == [0.4, whole]
    assert [text for _, text in caller.partials] == ["0.4"]
    assert [text for _, text in caller.finals] == [f"{whole:.1f}"]


def test_partials_begin_after_half_a_second_of_speech_and_come_once_a_second_of_it() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        for _ in range(40):  # a gate's pre-roll comes at once
            caller.hearing.feed(1, room_tone(0.02))
        await caller.speak(voice(3.0))

    ear = Ear()
    caller = call(story, ear, fixed(0.1))
    assert ear.heard == [1.3, 2.3, 3.3]
    assert [at for at, _ in caller.partials] == pytest.approx([0.58, 1.58, 2.58])


def test_a_slow_engine_has_one_partial_outstanding_and_skips_the_others() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        await caller.speak(voice(5.0))

    ear = Ear()
    call(story, ear, fixed(1.7))
    assert ear.heard == [0.5, 2.2, 3.9]


def test_the_end_drops_a_partial_that_waits_and_its_result_if_it_runs() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        await caller.speak(voice(0.6))
        caller.hearing.end(1)

    caller = call(story, Ear(), fixed(0.5))
    assert caller.partials == []
    assert caller.finals == [(1.48, "0.6")]


def test_finals_go_before_the_partials_of_other_calls() -> None:
    clock, lane, ear = VirtualClock(fixed(0.2)), Lane("stt.test"), Ear()

    async def main() -> None:
        callers = [Caller(clock, lambda c, emit: WhisperHearing(ear, lane, c, emit)) for _ in range(3)]
        for caller in callers:
            caller.hearing.begin(1)
        callers[0].hearing.feed(1, voice(1.0))
        await clock.sleep(0.01)
        callers[1].hearing.feed(1, voice(2.0))
        await clock.sleep(0.01)
        callers[2].hearing.feed(1, voice(0.3))
        callers[2].hearing.end(1)
        await clock.sleep(2.0)

    clock.run(main())
    assert ear.heard == [1.0, 0.3, 2.0]


def test_a_long_dictation_is_locked_at_its_pauses_and_nothing_of_it_is_decoded_over_and_over() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        for _ in range(4):
            await caller.speak(voice(10.0))
            caller.hearing.pause(1)
            await caller.speak(silence(0.4))
        caller.hearing.end(1)

    ear = Ear()
    caller = call(story, ear, fixed(0.05))
    assert [text for _, text in caller.finals] == ["10.0 10.4 10.4 10.4"]
    assert sum(ear.heard) < 5 * 40
    assert max(ear.heard) <= 10.5
    assert all(
        new.startswith(old[:4]) for (_, old), (_, new) in zip(caller.partials[8:], caller.partials[9:], strict=False)
    )


def test_speech_without_any_pause_is_cut_before_the_window_is_full() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        await caller.speak(voice(60.0))
        caller.hearing.end(1)

    ear = Ear()
    caller = call(story, ear, fixed(0.0))
    assert [text for _, text in caller.finals] == ["28.0 28.0 4.0"]
    assert max(ear.heard) <= 28.0


def test_a_minute_fed_at_once_is_cut_like_any_other() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        caller.hearing.feed(1, voice(60.0))
        caller.hearing.end(1)

    assert [text for _, text in call(story, Ear(), fixed(0.0)).finals] == ["28.0 28.0 4.0"]


def test_two_segments_do_not_mix_and_each_has_one_final() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        await caller.speak(voice(0.4))
        caller.hearing.end(1)
        caller.hearing.begin(2, spelling=True)
        await caller.speak(voice(0.3), segment=2)
        caller.hearing.end(2)
        caller.hearing.end(2)
        caller.hearing.feed(2, voice(0.3))

    ear = Ear()
    caller = call(story, ear, fixed(0.5))
    assert [each for _, each in caller.said] == [Final(segment=1, text="0.4"), Final(segment=2, text="0.3")]
    assert ear.spelled == [False, True]


def test_a_segment_that_ends_with_no_audio_has_an_empty_final() -> None:
    async def story(caller: Caller) -> None:
        caller.hearing.begin(1)
        caller.hearing.end(1)

    assert [text for _, text in call(story, WhisperModel(), fixed(0.0)).finals] == [""]


@pytest.mark.parametrize("how", ["drop", "aclose"])
def test_after_a_drop_or_a_close_nothing_more_is_said(how: str) -> None:
    async def story(caller: Caller) -> None:
        for segment in (1, 2):
            caller.hearing.begin(segment)
            await caller.speak(voice(0.4), segment=segment)
        caller.hearing.pause(1)
        caller.hearing.end(1)
        caller.hearing.pause(2)
        if how == "drop":
            caller.hearing.drop(1)
            caller.hearing.drop(2)
            caller.hearing.drop(3)
        else:
            await caller.hearing.aclose()
            await caller.hearing.aclose()
            caller.hearing.begin(4)
            caller.hearing.end(4)
        caller.hearing.end(2)

    assert call(story, Ear(), fixed(0.1)).said == []


def test_an_engine_that_fails_says_so_once_and_then_nothing() -> None:
    ear = Ear()

    async def story(caller: Caller) -> None:
        ear.broken = True
        for segment in (1, 2):
            caller.hearing.begin(segment)
            await caller.speak(voice(0.2), segment=segment)
            caller.hearing.end(segment)
        await caller.clock.sleep(1.0)
        ear.broken = False
        caller.hearing.begin(3)
        caller.hearing.end(3)

    assert [each for _, each in call(story, ear, fixed(0.5)).said] == [
        RecognitionFailed(segment=1, reason="RuntimeError: out of memory")
    ]
