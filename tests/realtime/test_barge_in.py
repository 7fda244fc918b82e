"""Barge-in: what is cut, what the model is told it said, and what is stored."""

from __future__ import annotations

import asyncio
import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from pipelines.audio.frame import Samples
from pipelines.events import OutputHeld, OutputResumed, SoundIgnored, UtteranceCancelled, UtteranceEnded
from pipelines.realtime.base import TurnDetection
from pipelines.realtime.events import ReplyAudio, ReplyWords
from pipelines.realtime.settings import RealtimeSettings
from pipelines.responder import ExpectationKind
from tests.realtime.scripted import RATE, RealtimeLine, hold, tool, words

FRAME_S = 0.02
SAID = "I have found three flights to Vienna, the first one leaves at noon and costs ninety euros. Shall I book it?"
OURS = RealtimeSettings(turn_detection=TurnDetection.OURS)


@dataclass(frozen=True)
class Spoken:
    """A sentence as it is said: its sound, and where each word of it begins and ends, in seconds."""

    samples: Samples
    spans: tuple[tuple[float, float], ...]


def spoken(text: str) -> Spoken:
    """Say a text at a human pace: letters take their time, more or less, and marks make pauses."""
    dice = random.Random(7)
    parts, spans, at = [], [], 0.0
    for number, word in enumerate(text.split(), 1):
        letters = sum(char.isalpha() for char in word)
        length = (0.07 * letters + 0.06) * dice.uniform(0.85, 1.15)
        pause = 0.35 if word[-1] in ".?" else 0.22 if word[-1] == "," else 0.0
        spans.append((at, at + length))
        parts += [np.full(round(length * RATE), 100 + number, np.int16), np.ones(round(pause * RATE), np.int16)]
        at += length + pause
    return Spoken(samples=np.concatenate(parts), spans=tuple(spans))


VOICE = spoken(SAID)
LENGTH_S = len(VOICE.samples) / RATE


async def stream(line: RealtimeLine, reply: str, *, speed: float, words_ahead_s: float, items: int = 1) -> None:
    """Send the sentence in pieces of 100 ms, faster than it is said, its words some time before their sound."""
    texts = SAID.split(" ")
    told = 0
    for start in range(0, len(VOICE.samples), RATE // 10):
        at = start / RATE
        while told < len(texts) and VOICE.spans[told][0] <= at + words_ahead_s:
            item = f"i{told * items // len(texts)}"
            line.session.tell(ReplyWords(reply=reply, item=item, text=texts[told] + " "))
            told += 1
        place = next((n for n, span in enumerate(VOICE.spans) if at < span[1]), len(texts) - 1)
        samples = VOICE.samples[start : start + RATE // 10]
        item = f"i{place * items // len(texts)}"
        line.session.tell(ReplyAudio(reply=reply, item=item, samples=samples))
        await line.wait(0.1 / speed)


def cut_at(moment_s: float, *, speed: float, words_ahead_s: float, items: int = 1, **output: Any) -> RealtimeLine:
    """Hold a call in which the caller barges in so long after the first sound."""

    async def tale(line: RealtimeLine) -> None:
        line.turn("Which flights are there?", "c1")
        reply = line.begin()
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(stream(line, reply, speed=speed, words_ahead_s=words_ahead_s, items=items))
            await line.wait(moment_s)
            sending.cancel()
        made = LENGTH_S / speed <= moment_s
        line.end(reply) if made else None
        line.barge_in(None if made else reply)
        await line.wait(1.0)

    return hold(tale, output=output)


@pytest.mark.parametrize(("speed", "words_ahead_s", "every"), [(4.0, 0.2, 1), (4.0, 2.0, 3)])
def test_what_is_cut_every_tenth_of_a_second_is_what_was_played(speed: float, words_ahead_s: float, every: int) -> None:
    for tenth in range(1, int(LENGTH_S * 10), every):
        line = cut_at(tenth / 10, speed=speed, words_ahead_s=words_ahead_s)
        played_s = _played_s(line)
        truncated = [heard_s for _, heard_s in line.session.of("truncate")]
        (ended,) = line.all(UtteranceEnded)
        if ended.interrupted:
            assert truncated and abs(truncated[0] - played_s) <= FRAME_S, (tenth, truncated, played_s)
        heard = len(ended.heard.split())
        begun = sum(start < played_s for start, _ in VOICE.spans)
        over = sum(end <= played_s for _, end in VOICE.spans)
        assert heard <= begun, f"at {played_s:.2f} s {ended.heard!r} was not all said"
        assert heard >= over - 1, f"at {played_s:.2f} s more than {ended.heard!r} was said"
        stored = asyncio.run(line.stored())
        assert stored[1:] == ([f"agent: {ended.heard}"] if ended.heard else [])


def _played_s(line: RealtimeLine) -> float:
    """How much of the sentence the output really played, in seconds."""
    track = line.output.track()
    first = int(np.flatnonzero(track)[0])
    played = track[first:]
    length = min(len(played), len(VOICE.samples))
    differs = np.flatnonzero(played[:length] != VOICE.samples[:length])
    return (int(differs[0]) if len(differs) else length) / RATE


@pytest.mark.parametrize("words_ahead_s", [-0.3, 3.0])
def test_no_word_is_heard_that_was_not_said_whenever_words_come(words_ahead_s: float) -> None:
    for tenth in range(3, int(LENGTH_S * 10), 5):
        line = cut_at(tenth / 10, speed=1.05, words_ahead_s=words_ahead_s)
        played_s = _played_s(line)
        (ended,) = line.all(UtteranceEnded)
        begun = sum(start < played_s for start, _ in VOICE.spans)
        assert len(ended.heard.split()) <= begun, f"at {played_s:.2f} s {ended.heard!r} was not all said"


def test_each_item_of_a_reply_is_cut_where_it_was_heard() -> None:
    line = cut_at(4.0, speed=4.0, words_ahead_s=0.2, items=3)
    played_s = _played_s(line)
    cut = dict(line.session.of("truncate"))
    assert "i0" not in cut, "all of it was heard"
    assert cut["i2"] == 0.0, "nothing of it was"
    begins_s = math.ceil(VOICE.spans[6][1] * 10) / 10
    assert abs(cut["i1"] - (played_s - begins_s)) <= FRAME_S, "counted from where the second item begins"


@pytest.mark.parametrize("output", [{"can_pause": False}, {"late_s": 0.15}, {"can_pause": False, "late_s": 0.15}])
def test_what_is_cut_is_what_was_played_on_every_output(output: dict[str, Any]) -> None:
    for tenth in range(5, 60, 7):
        line = cut_at(tenth / 10, speed=4.0, words_ahead_s=0.2, **output)
        ((_, heard_s),) = line.session.of("truncate")
        assert abs(heard_s - _played_s(line)) <= FRAME_S


def test_what_was_heard_whole_is_not_cut() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        line.answer("One two.", words(2))
        await line.wait(1.0)
        line.barge_in()
        await line.wait(0.5)

    line = hold(tale)
    assert not line.session.of("truncate")
    (ended,) = line.all(UtteranceEnded)
    assert not ended.interrupted and ended.heard == "One two."


def test_an_answer_that_nobody_heard_a_word_of_is_not_stored() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        reply = line.begin()
        line.session.tell(ReplyWords(reply=reply, item="i", text="Well"))
        line.barge_in(reply)
        line.turn("No, wait.", "c2")
        await line.wait(0.5)
        line.answer("Yes?", words(1))
        await line.wait(1.0)

    line = hold(tale)
    assert asyncio.run(line.stored()) == ["caller: Hello.", "caller: No, wait.", "agent: Yes?"]
    assert [event.turn for event in line.all(UtteranceEnded)] == [0, 1], "one per turn"


def test_nothing_of_a_void_reply_is_played_after_the_clear() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        reply = line.begin()
        line.say(reply, "one two three four five six", words(6))
        await line.wait(0.6)
        line.barge_in(reply)
        line.session.tell(ReplyAudio(reply=reply, item=f"{reply}.item", samples=words(6, first=50)))
        line.turn("Stop.", "c2")
        line.answer("Yes?", words(1, first=90))
        await line.wait(1.0)

    track = hold(tale).output.track()
    assert not np.isin(track, [value * 10 for value in range(50, 57)]).any()
    first_of_next = int(np.flatnonzero(track == 900)[0])
    assert not np.isin(track[first_of_next:], [10, 20, 30, 40, 50, 60]).any()


# -------------------------------------------------------------------------------------------- our own turn detection


def test_a_cough_holds_the_output_and_is_no_barge_in() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        line.answer("one two three four five six seven eight", words(8))
        await line.silence(0.5)
        await line.voiced(0.16)
        await line.silence(3.0)

    line = hold(tale, settings=OURS)
    (held,), (resumed,) = line.times(OutputHeld), line.times(OutputResumed)
    assert 0.2 <= resumed - held <= 0.6
    assert not line.all(UtteranceCancelled) and not line.session.of("interrupt")
    assert not line.session.of("begin"), "it never reached the model"
    assert np.count_nonzero(line.output.track()) == 8 * 0.25 * RATE


def test_a_short_sound_of_a_voice_is_forgotten_and_the_agent_goes_on() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        line.answer("one two three four five six seven eight", words(8))
        await line.silence(0.5)
        await line.voiced(0.45)
        await line.silence(3.0)

    line = hold(tale, settings=OURS)
    assert line.session.of("end") == [False]
    assert not line.all(UtteranceCancelled) and len(line.all(SoundIgnored)) == 1
    assert np.count_nonzero(line.output.track()) == 8 * 0.25 * RATE


def test_a_voice_that_lasts_interrupts_and_is_a_turn() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        line.answer("one two three four five six seven eight", words(8))
        await line.silence(0.5)
        await line.voiced(1.2)
        await line.silence(1.5)

    line = hold(tale, settings=OURS)
    names = [name for name, _ in line.session.sent]
    assert names.index("begin") < names.index("interrupt") < names.index("end")
    assert line.session.of("end") == [True]
    (cancelled,) = line.times(UtteranceCancelled)
    assert cancelled - line.times(OutputHeld)[0] <= 0.7
    voiced = np.count_nonzero(line.session.voice)
    assert voiced == round(1.2 * 16_000), "every sample of it, with what was before it was believed"


@pytest.mark.parametrize(("kind", "pause_s", "turns"), [
    (ExpectationKind.OPEN, 0.8, 1),
    (ExpectationKind.OPEN, 1.3, 2),
    (ExpectationKind.YES_NO, 0.5, 2),
    (ExpectationKind.DIGITS, 1.2, 1),
])  # fmt: skip
def test_a_turn_is_held_by_what_was_asked(kind: ExpectationKind, pause_s: float, turns: int) -> None:
    async def asks(_: Any, ctx: Any) -> str:
        ctx.expect(kind.value)
        return "asked"

    async def tale(line: RealtimeLine) -> None:
        if kind is not ExpectationKind.OPEN:
            line.calls(("k1", "ask", "{}"))
            await line.wait(0.5)
        await line.silence(0.2)
        await line.voiced(0.5)
        await line.silence(pause_s)
        await line.voiced(0.5)
        await line.silence(2.5)

    line = hold(tale, settings=OURS, tools=(tool("ask", asks),))
    assert line.session.of("end") == [True] * turns
    assert np.count_nonzero(line.session.voice) == 16_000, "nothing twice, nothing lost"


def test_a_provider_that_hears_a_turn_is_told_when_no_more_comes() -> None:
    async def tale(line: RealtimeLine) -> None:
        await line.voiced(0.5)
        assert not line.session.of("end")
        await line.wait(1.0)
        assert line.session.of("end") == [True], "the frames stopped"
        await line.voiced(0.5)
        line.pipeline.mute()
        await line.voiced(0.5)

    line = hold(tale)
    assert line.session.of("end") == [True, True], "the microphone was closed"
    assert np.count_nonzero(line.session.voice) == 16_000


def test_a_button_makes_the_turn() -> None:
    from pipelines.turns.settings import TurnTaking

    async def tale(line: RealtimeLine) -> None:
        await line.voiced(0.5)
        line.pipeline.unmute()
        await line.voiced(0.3)
        await line.silence(2.0)
        await line.voiced(0.3)
        line.pipeline.commit_turn()
        await line.voiced(0.5)

    line = hold(tale, settings=RealtimeSettings(turn_taking=TurnTaking.MANUAL), listens=True)
    assert [name for name, _ in line.session.sent if name in ("begin", "end")] == ["begin", "end"]
    assert np.count_nonzero(line.session.voice) == round(0.6 * 16_000)
