"""Calls that are steered at any moment, in both kinds of turn taking: no word is lost, nothing stays stuck."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.clock import VirtualClock
from pipelines.events import EngineTrouble, SoundIgnored, UtteranceEnded
from pipelines.gating import Gating
from pipelines.turns.settings import TurnTaking
from tests.pipelines.line import Line, hold
from tests.pipelines.scripted import Answer, letters
from voice_server.transports.recorded import RecordedOutput


@dataclass(frozen=True)
class Says:
    """The caller says words, some of them commands, and is silent for a while."""

    words: tuple[str, ...]
    word_s: float
    then_s: float


@dataclass(frozen=True)
class Waits:
    """Nothing comes from the caller's line: it broke for a while."""

    seconds: float


Host: TypeAlias = Literal["narrates", "interrupts", "commits", "mutes", "unmutes", "blocks", "unblocks"]
Step: TypeAlias = Says | Waits | Host

steps = st.one_of(
    st.builds(
        Says,
        words=st.lists(st.sampled_from(["new"] * 6 + ["stop", "mm-hm", "wait"]), min_size=1, max_size=4).map(tuple),
        word_s=st.sampled_from([0.12, 0.3, 0.5]),
        then_s=st.sampled_from([0.1, 0.3, 0.4, 0.7, 1.5, 5.0]),
    ),
    st.builds(Waits, seconds=st.sampled_from([0.2, 0.45, 0.6, 2.0])),
    st.sampled_from(get_args(Host)),
)
answers = st.builds(
    Answer,
    words=st.sampled_from([0, 1, 5, 12]),
    delay_s=st.sampled_from([0.05, 0.5]),
    asks=st.booleans(),
    fails=st.sampled_from([False] * 9 + [True]),
)


async def take(line: Line, step: Step, number: int) -> None:
    match step:
        case Says():
            words = [letters("c", number, at) if word == "new" else word for at, word in enumerate(step.words)]
            await line.says(*words, word_s=step.word_s)
            await line.silence(step.then_s)
        case Waits():
            await line.clock.sleep(step.seconds)
        case "narrates":
            line.cascade.narrate("this is told whatever happens.")
        case "interrupts":
            line.cascade.interrupt()
        case "commits":
            line.cascade.commit_turn()
        case "mutes":
            line.cascade.mute()
        case "unmutes":
            line.cascade.unmute()
        case "blocks" | "unblocks":
            line.responder.is_blocked = step == "blocks"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    story=st.lists(steps, min_size=2, max_size=14),
    answers=st.lists(answers, min_size=1, max_size=4).map(tuple),
    can_pause=st.booleans(),
    late_s=st.sampled_from([0.0, 0.2]),
    broken_ears=st.sampled_from([frozenset(), frozenset({0}), frozenset({2})]),
    broken_voice=st.sampled_from([frozenset(), frozenset({0}), frozenset({2})]),
    greeting=st.sampled_from([None, "good day to you."]),
    turn_taking=st.sampled_from(TurnTaking),
    start_muted=st.booleans(),
    gating=st.sampled_from(Gating),
)
def test_no_word_is_lost_and_no_state_is_stuck_whatever_a_host_does(
    story: list[Step],
    can_pause: bool,
    late_s: float,
    turn_taking: TurnTaking,
    start_muted: bool,
    gating: Gating,
    **engines: Any,
) -> None:
    complaints: list[dict[str, Any]] = []
    public: list[str] = []
    """The words of all that was said while the caller was listened to."""

    async def tale(line: Line) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
        for number, step in enumerate(story):
            before = len(line.vocabulary)
            open_before = not line.cascade.muted
            await take(line, step, number)
            if open_before:
                public.extend(line.vocabulary[before:])
        line.responder.is_blocked = False
        if turn_taking is TurnTaking.MANUAL:
            line.cascade.mute()
        await line.silence(60)
        assert line.cascade.idle

    line = Line(
        clock := VirtualClock(),
        output=partial(RecordedOutput, can_pause=can_pause, late_s=late_s),
        settings={"turn_taking": turn_taking, "start_muted": start_muted, "gating": gating},
        **engines,
    )
    clock.run(line.call(tale))
    assert complaints == []
    ignored = " ".join(event.text for event in line.all(SoundIgnored))
    assert Counter(f"{' '.join(line.committed)} {ignored}".split()) == Counter(" ".join(line.recognizer.finals).split())
    finals = Counter(" ".join(line.recognizer.finals).split())
    assert finals <= Counter(public), "what was said while muted is nobody's business"
    if turn_taking is TurnTaking.MANUAL and not line.all(EngineTrouble):
        assert finals == Counter(public), "whoever holds the button is heard from the first sample to the last"
    ended = line.all(UtteranceEnded)
    assert len({event.utterance for event in ended}) == len(ended)
    assert all(event.text.startswith(event.heard) for event in ended)
    assert line.responder.committed == line.committed
    assert all(len(reply.settled) == 1 for reply in line.responder.replies)


def test_a_call_keeps_nothing_of_a_turn_that_is_over() -> None:
    kept: list[Counter[str]] = []

    async def tale(line: Line) -> None:
        for turn in range(45):
            await line.says("tell", "me")
            await line.silence(5)
            line.events.clear()
            line.output._track.clear()
            if turn in (14, 44):
                gc.collect()
                ours = (type(one) for one in gc.get_objects() if str(type(one).__module__).startswith("pipelines."))
                kept.append(Counter(kind.__qualname__ for kind in ours))

    hold(tale)
    assert kept[1] - kept[0] == Counter()
