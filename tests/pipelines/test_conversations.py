"""Whole conversations on virtual time: ears, gate, turn machine, agent, player and ledger together.

Some are steered from outside while they go on: muted, committed, interrupted, narrated into, typed into, in both kinds
of turn taking.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pipelines.audio.frame import HEARING_RATE, Frame, Samples
from pipelines.call import Call
from pipelines.cascade import Cascade, CascadeSettings, Engines
from pipelines.clock import VirtualClock
from pipelines.events import CallEvent, EngineTrouble, SoundIgnored, TurnCommitted, UtteranceEnded, UtteranceStarted
from pipelines.responder import OPEN_QUESTION, Expectation, ExpectationKind
from pipelines.turns.settings import TurnSettings, TurnTaking
from tests.pipelines.scripted import (
    WORD_S,
    Answer,
    ScriptedActivity,
    ScriptedRecognizer,
    ScriptedResponder,
    ScriptedVoice,
    letters,
    spoken,
)
from voice_server.transports.recorded import RecordedCaller, RecordedOutput, Recording

Event = TypeVar("Event")

COMMANDS = ("stop", "wait", "no")
SOUNDS = ("mm-hm", "okay", "right")
AT_THE_BUTTON = {"mute", "unmute", "commit_turn"}
"""What lets a button go that the caller still holds, or presses it and forgets it."""


@dataclass(frozen=True)
class Phrase:
    """What a caller says in one go, how fast, and how long before the agent has said its first word or is idle."""

    words: tuple[str, ...]
    word_s: float
    pause_s: float
    """Silence after it, before the next recording may begin."""
    after_s: float | None


Control: TypeAlias = Literal["mute", "unmute", "commit_turn", "interrupt", "narrate", "type_in"]


@dataclass(frozen=True)
class Steered:
    """What somebody outside does, and how long after the last thing they did."""

    after_s: float
    control: Control


@dataclass(frozen=True)
class Conversation:
    phrases: tuple[Phrase, ...]
    answers: tuple[Answer, ...]
    can_pause: bool
    late_s: float
    hearing_s: float
    partial_every_s: float | None
    voice_s: float
    greeting: str | None
    turn_taking: TurnTaking = TurnTaking.AUTOMATIC
    steering: tuple[Steered, ...] = ()
    broken_ears: frozenset[int] = frozenset()
    broken_voice: frozenset[int] = frozenset()


class Outcome:
    """What came of a conversation."""

    def __init__(self, story: Conversation) -> None:
        self.events: list[tuple[float, CallEvent]] = []
        self.vocabulary: list[str] = []
        self.typed: list[str] = []
        self.clock = VirtualClock()
        self.clock.run(self._hold(story))

    async def _hold(self, story: Conversation) -> None:
        recordings = []
        number = 0
        for phrase in story.phrases:
            words = [
                word if word in COMMANDS + SOUNDS else letters(word, number := number + 1) for word in phrase.words
            ]
            said = spoken(self.vocabulary, words, phrase.word_s)
            silence: Samples = np.zeros(int(phrase.pause_s * HEARING_RATE), np.int16)
            frame = Frame(np.concatenate([said, silence]), HEARING_RATE)
            recordings.append(Recording(frame=frame, after_s=phrase.after_s))
        self.recognizer = ScriptedRecognizer(
            self.vocabulary,
            delay_s=story.hearing_s,
            partial_every_s=story.partial_every_s,
            fails_at=story.broken_ears,
        )
        self.voice = ScriptedVoice(delay_s=story.voice_s, fails_at=story.broken_voice)
        self.responder = ScriptedResponder(self.clock, story.answers)
        self.output = RecordedOutput(self.clock, can_pause=story.can_pause, late_s=story.late_s, rate=self.voice.rate)
        caller = RecordedCaller(self.clock, recordings)

        def tell(event: CallEvent) -> None:
            self.events.append((self.clock.now(), event))
            caller.notice(event)

        apology: Samples = np.full(500, 30_000, np.int16)
        turns = TurnSettings(far_field_ratio=0.0)
        call = Call(
            clock=self.clock,
            caller=caller,
            output=self.output,
            pipeline=partial(
                Cascade,
                engines=Engines(
                    activity=ScriptedActivity(),
                    recognizer=self.recognizer,
                    synthesizer=self.voice,
                    phrases={turns.engine_failed: apology, turns.not_understood: apology},
                ),
                responder=self.responder,
                settings=CascadeSettings(turns=turns, greeting=story.greeting, turn_taking=story.turn_taking),
            ),
            tell=tell,
        )
        if story.turn_taking is TurnTaking.MANUAL:
            caller.attend(began=call.unmute, ended=call.mute)
        steering = asyncio.create_task(self._steer(call, story.steering, story.turn_taking))
        await call.run()
        steering.cancel()
        self.track = self.output.track()

    async def _steer(self, call: Call, steering: tuple[Steered, ...], taking: TurnTaking) -> None:
        for number, steered in enumerate(steering):
            await self.clock.sleep(steered.after_s)
            match steered.control:
                case "narrate":
                    call.narrate(" ".join(letters("n", number, word) for word in range(5)) + ".")
                case "type_in":
                    self.typed.append(letters("typed", number))
                    call.type_in(self.typed[-1])
                case _:
                    getattr(call, steered.control)()
        if "unmute" in {steered.control for steered in steering} and taking is TurnTaking.MANUAL:
            await self.clock.sleep(1)
            call.mute()

    def all(self, kind: type[Event]) -> list[Event]:
        return [event for _, event in self.events if isinstance(event, kind)]

    @property
    def committed(self) -> list[str]:
        return [event.text for event in self.all(TurnCommitted)]

    @property
    def ignored(self) -> list[str]:
        return [event.text for event in self.all(SoundIgnored)]

    @property
    def ended(self) -> list[UtteranceEnded]:
        return self.all(UtteranceEnded)

    def played_whole(self) -> list[str]:
        """The agent's words of which every sample was played, in order; a pause inside a word does not break it."""
        sounding = self.track[(self.track > 0) & (self.track <= len(self.voice.words))]
        runs = [(int(value), len(list(run))) for value, run in groupby(sounding.tolist())]
        return [self.voice.words[value - 1] for value, count in runs if count >= self.word_samples]

    @property
    def word_samples(self) -> int:
        return int(WORD_S * self.voice.rate)


phrases = st.builds(
    Phrase,
    words=st.lists(st.sampled_from(("word", "name", *COMMANDS, *SOUNDS)), min_size=1, max_size=5).map(tuple),
    word_s=st.sampled_from([0.12, 0.2, 0.3]),
    pause_s=st.sampled_from([0.02, 0.3, 0.9]),
    after_s=st.one_of(st.none(), st.floats(min_value=0, max_value=3)),
)
expectations = st.sampled_from(
    [OPEN_QUESTION, Expectation(kind=ExpectationKind.YES_NO), Expectation(kind=ExpectationKind.DIGITS)]
)
answers = st.builds(
    Answer,
    words=st.integers(min_value=0, max_value=14),
    delay_s=st.sampled_from([0.0, 0.1, 1.5]),
    pace_s=st.sampled_from([0.0, 0.02, 0.4]),
    asks=st.booleans(),
    expects=expectations,
)
conversations = st.builds(
    Conversation,
    phrases=st.lists(phrases, min_size=1, max_size=5).map(tuple),
    answers=st.lists(answers, min_size=1, max_size=3).map(tuple),
    can_pause=st.booleans(),
    late_s=st.sampled_from([0.0, 0.2]),
    hearing_s=st.sampled_from([0.0, 0.1, 0.6]),
    partial_every_s=st.sampled_from([None, 0.3, 1.0]),
    voice_s=st.sampled_from([0.0, 0.08, 0.5]),
    greeting=st.sampled_from([None, "hello there what can be done"]),
)

steering = st.lists(
    st.builds(
        Steered,
        after_s=st.floats(min_value=0.01, max_value=4),
        control=st.sampled_from(get_args(Control)),
    ),
    min_size=1,
    max_size=8,
).map(tuple)


thousand = settings(
    max_examples=1000,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


def tally(texts: list[str]) -> list[str]:
    return sorted(word for text in texts for word in text.split())


@thousand
@given(conversations)
def test_no_word_is_lost_or_answered_twice_every_utterance_ends_once_and_heard_is_what_was_played(
    story: Conversation,
) -> None:
    outcome = Outcome(story)
    assert_words_are_answered_once(outcome)
    assert_utterances_end_once(outcome)
    assert_heard_was_played(outcome, spare=1 + (story.late_s > 0) * 2)


@settings(parent=thousand, max_examples=200)
@given(conversations, steering, st.sampled_from(TurnTaking))
def test_whatever_is_done_to_a_call_from_outside_no_word_is_lost_or_answered_twice_and_it_ends(
    story: Conversation, steering: tuple[Steered, ...], turn_taking: TurnTaking
) -> None:
    outcome = Outcome(replace(story, steering=steering, turn_taking=turn_taking))
    assert_words_are_answered_once(outcome)
    assert_utterances_end_once(outcome)
    assert_heard_was_played(outcome, spare=1 + (story.late_s > 0) * 2)
    # What was said to a closed microphone was not heard; whoever holds a button is heard as long as they hold it.
    assert Counter(tally(outcome.recognizer.finals)) <= Counter(outcome.vocabulary)
    if turn_taking is TurnTaking.MANUAL and not {steered.control for steered in steering} & AT_THE_BUTTON:
        assert tally(outcome.recognizer.finals) == sorted(outcome.vocabulary)


@given(conversations, st.frozensets(st.integers(0, 6), min_size=1), st.frozensets(st.integers(0, 6)))
@settings(parent=thousand, max_examples=150)
def test_broken_engines_lose_no_word_that_was_recognised_and_end_every_utterance(
    story: Conversation, broken_ears: frozenset[int], broken_voice: frozenset[int]
) -> None:
    outcome = Outcome(replace(story, broken_ears=broken_ears, broken_voice=broken_voice))
    known = Counter(tally(outcome.committed + outcome.ignored))
    assert Counter(tally(outcome.recognizer.finals)) <= known <= Counter(outcome.vocabulary)
    assert outcome.responder.committed == outcome.committed
    assert_utterances_end_once(outcome)
    troubles = {event.engine for event in outcome.all(EngineTrouble)}
    assert troubles <= {"recognizer", "synthesizer"}
    if troubles:
        assert outcome.recognizer.opened >= 1


def assert_words_are_answered_once(outcome: Outcome) -> None:
    # Every word that was recognised or typed is in one turn, or was reported as no turn: never both, never neither.
    assert tally(outcome.recognizer.finals + outcome.typed) == tally(outcome.committed + outcome.ignored)
    # Every committed turn was given to the agent, once, in order.
    assert outcome.responder.committed == outcome.committed
    # Every reply was settled once.
    assert all(len(reply.settled) == 1 for reply in outcome.responder.replies)


def assert_utterances_end_once(outcome: Outcome) -> None:
    numbers = [event.utterance for event in outcome.ended]
    assert len(numbers) == len(set(numbers))
    started = {event.utterance for event in outcome.all(UtteranceStarted)}
    assert started <= set(numbers)
    for event in outcome.ended:
        assert event.text.startswith(event.heard)
        assert event.interrupted or event.heard == event.text
        assert not event.estimated


def assert_heard_was_played(outcome: Outcome, *, spare: int) -> None:
    played = outcome.played_whole()
    heard = [word for event in outcome.ended for word in event.heard.split()]
    assert set(heard) <= set(played)
    # In order; an output that cannot pause may have said some words twice.
    written = [word for event in sorted(outcome.ended, key=number) for word in event.text.split()]
    assert once(played) == [word for word in written if word in played]
    # What was played and is not said to be heard is no more than reports may miss.
    for event in outcome.ended:
        missed = [word for word in event.text[len(event.heard) :].split() if word in played]
        assert len(missed) <= spare, (event, missed)


def number(event: UtteranceEnded) -> int:
    return event.utterance


def once(words: list[str]) -> list[str]:
    """Drop repetitions of words said before."""
    return list(dict.fromkeys(words))
