from __future__ import annotations

import gc
import weakref
from typing import TypeVar

import numpy as np
import pytest

from pipelines.playout.player import (
    Advanced,
    Began,
    Clear,
    Pause,
    Play,
    Player,
    PlayerAction,
    Settled,
    Unpause,
)
from pipelines.playout.speakable import speakable
from pipelines.playout.utterance import Break, Utterance
from pipelines.tts.base import WordTime

RATE = 1000
Action = TypeVar("Action")


def utterance(number: int = 1, *, words: int = 8, complete: bool = True) -> Utterance:
    """Words "one".."eight" of exactly a quarter second each."""
    names = ["one", "two", "three", "four", "five", "six", "seven", "eight"][:words]
    text = " ".join(names) + "."
    made = Utterance(number, "reply", rate=RATE)
    made.text = text
    ends = [text.index(name) + len(name) for name in names]
    times = tuple(WordTime(end_char=end, end_s=0.25 * (n + 1)) for n, end in enumerate(ends))
    piece = made.open_piece(0, speakable(text))
    made.append(np.ones(250 * words, np.int16), times)
    piece.complete = made.complete = complete
    return made


class Stage:
    """A player, what it did, and an output that plays at once what it is given."""

    def __init__(self, *, can_pause: bool) -> None:
        self.player = Player(rate=RATE, can_pause=can_pause)
        self.now = 0.0
        self.actions: list[tuple[float, PlayerAction]] = []

    def did(self, actions: list[PlayerAction]) -> None:
        self.actions += [(self.now, action) for action in actions]

    def until(self, when: float) -> None:
        while (deadline := self.player.deadline) is not None and deadline <= when:
            self.now = max(self.now, deadline)
            self.did(self.player.tick(self.now))
        self.now = when

    def report(self, played_s: float, *, epoch: int = 0, final: bool = False) -> None:
        self.did(self.player.report(epoch, played_s, self.now, final=final))

    def all(self, kind: type[Action]) -> list[Action]:
        return [action for _, action in self.actions if isinstance(action, kind)]

    def given_s(self, epoch: int) -> float:
        return sum(len(play.samples) for play in self.all(Play) if play.epoch == epoch) / RATE


def test_audio_is_given_a_little_ahead_of_its_time_and_no_more() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(), 0.0))
    assert 0.2 <= stage.given_s(0) <= 0.24
    stage.until(1.0)
    assert 1.2 <= stage.given_s(0) <= 1.24
    assert len(stage.all(Began)) == 1


@pytest.mark.parametrize("can_pause", [True, False])
def test_what_was_not_heard_when_the_line_broke_is_played_when_it_is_back(can_pause: bool) -> None:
    stage = Stage(can_pause=can_pause)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(1.0)
    stage.report(0.8)
    stage.did(stage.player.suspend(stage.now))
    stage.until(60.0)
    assert stage.all(Clear) == [Clear(epoch=1)]
    assert not stage.all(Settled)
    assert stage.player.deadline is None
    stage.did(stage.player.restore(stage.now))
    stage.until(60.4)
    assert 0.2 <= stage.given_s(1) <= 0.35
    stage.until(62.0)
    assert stage.given_s(1) == pytest.approx(1.25)  # from the fourth word on, of eight that last 2 s
    stage.report(1.25, epoch=1)
    assert [settled.interrupted for settled in stage.all(Settled)] == [False]


def test_what_a_client_that_is_back_tells_of_the_time_before_is_not_played_again() -> None:
    stage = Stage(can_pause=False)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(1.0)
    stage.did(stage.player.suspend(stage.now))
    stage.until(5.0)
    stage.did(stage.player.restore(stage.now))
    stage.until(5.1)
    stage.report(1.0, final=True)
    stage.until(8.0)
    assert stage.given_s(1) == pytest.approx(1.0)


@pytest.mark.parametrize("can_pause", [True, False])
def test_a_hold_outlasts_a_broken_line_and_a_resume_waits_for_it(can_pause: bool) -> None:
    stage = Stage(can_pause=can_pause)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(0.5)
    stage.did(stage.player.hold(stage.now))
    stage.did(stage.player.suspend(stage.now))
    stage.did(stage.player.restore(stage.now))
    stage.until(3.0)
    assert not stage.given_s(1)
    stage.did(stage.player.suspend(stage.now))
    stage.did(stage.player.resume(stage.now))
    stage.until(6.0)
    assert not stage.given_s(1)
    stage.did(stage.player.restore(stage.now))
    stage.until(9.0)
    assert stage.given_s(1) == pytest.approx(2.0)


def test_what_begins_while_the_line_is_broken_waits_and_may_be_cancelled() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.suspend(0.0))
    stage.did(stage.player.begin(utterance(1), 0.0))
    stage.did(stage.player.begin(utterance(2), 0.0))
    stage.until(10.0)
    assert not stage.all(Began)
    stage.did(stage.player.cancel(1, stage.now))
    assert [settled.utterance.number for settled in stage.all(Settled)] == [1]
    stage.did(stage.player.restore(stage.now))
    stage.until(11.0)
    assert [began.utterance.number for began in stage.all(Began)] == [2]


def test_an_utterance_is_over_when_all_of_it_is_reported_played() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(2.0)
    stage.report(1.0)
    assert stage.all(Settled) == []
    stage.report(2.0)
    (settled,) = stage.all(Settled)
    assert (settled.heard_end, settled.interrupted, settled.estimated) == (len(settled.utterance.text), False, False)


def test_heard_words_advance_with_reports_and_are_rounded_down() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(0.8)
    stage.report(0.7)
    assert [advanced.heard_end for advanced in stage.all(Advanced)] == [len("one two")]


def test_a_report_that_runs_ahead_of_time_proves_only_what_time_allowed() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(0.3)
    stage.report(1.9)
    assert stage.player.current is not None
    assert stage.player.current.heard_samples <= 330


def test_an_output_that_pauses_goes_on_at_the_sample() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(0.6)
    stage.did(stage.player.hold(0.6))
    stage.report(0.6)
    stage.until(5.0)
    assert stage.given_s(0) < 0.85
    stage.did(stage.player.resume(5.0))
    assert [type(action) for _, action in stage.actions if isinstance(action, Pause | Unpause)] == [Pause, Unpause]
    stage.until(6.6)
    assert stage.given_s(0) == 2.0
    assert stage.all(Clear) == []


def test_an_output_that_cannot_pause_says_the_unproven_word_again_under_a_new_epoch() -> None:
    stage = Stage(can_pause=False)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(0.6)
    stage.did(stage.player.hold(0.6))
    assert stage.all(Clear) == [Clear(epoch=1)]
    stage.report(0.6, epoch=0, final=True)
    stage.until(1.0)
    stage.did(stage.player.resume(1.0))
    stage.until(4.0)
    # "three" began at 0.5 s and was cut at 0.6 s: 1.5 s are said again.
    assert stage.given_s(1) == pytest.approx(1.5, abs=0.01)


def test_a_resume_waits_for_late_reports_but_not_for_ever() -> None:
    stage = Stage(can_pause=False)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(0.6)
    stage.did(stage.player.hold(0.6))
    stage.did(stage.player.resume(0.65))
    stage.until(0.89)
    assert stage.given_s(1) == 0
    stage.until(0.91)
    assert stage.given_s(1) > 0


def test_a_late_report_after_a_resume_still_counts_as_heard() -> None:
    stage = Stage(can_pause=False)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(0.6)
    stage.did(stage.player.hold(0.6))
    stage.did(stage.player.resume(0.6))
    stage.until(1.2)
    stage.report(0.55, epoch=0, final=True)
    assert stage.player.current is not None
    assert stage.player.current.heard_samples == 550


def test_a_cancelled_utterance_is_settled_by_its_last_report() -> None:
    stage = Stage(can_pause=False)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(0.9)
    stage.report(0.8)
    stage.did(stage.player.cancel(1, 0.9))
    assert stage.all(Settled) == []
    stage.now = 1.0
    stage.report(0.9, epoch=0, final=True)
    (settled,) = stage.all(Settled)
    assert settled.interrupted
    assert settled.utterance.text[: settled.heard_end] == "one two three"


def test_a_cancelled_utterance_whose_output_says_nothing_is_settled_after_300_ms() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(0.9)
    stage.report(0.3)
    stage.did(stage.player.cancel(1, 0.9))
    stage.until(1.19)
    assert stage.all(Settled) == []
    stage.until(1.21)
    assert [settled.heard_end for settled in stage.all(Settled)] == [len("one")]


def test_what_was_never_given_to_the_output_is_settled_at_once_as_unheard() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.hold(0.0))
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.did(stage.player.cancel(1, 0.1))
    (settled,) = stage.all(Settled)
    assert (settled.heard_end, settled.interrupted) == (0, True)
    assert stage.all(Play) == []


def test_a_hold_outlives_a_cancel_and_the_next_utterance_waits_for_the_resume() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(1), 0.0))
    stage.until(0.5)
    stage.did(stage.player.hold(0.5))
    stage.did(stage.player.cancel(1, 0.6))
    stage.did(stage.player.begin(utterance(2), 0.7))
    stage.until(2.0)
    assert stage.given_s(1) == 0
    stage.did(stage.player.resume(2.0))
    assert stage.given_s(1) > 0


def test_the_next_utterance_begins_when_the_one_before_is_over() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(1, words=2), 0.0))
    stage.did(stage.player.begin(utterance(2, words=2), 0.0))
    stage.until(0.5)
    assert [began.utterance.number for began in stage.all(Began)] == [1]
    stage.report(0.5)
    assert [began.utterance.number for began in stage.all(Began)] == [1, 2]


def test_an_utterance_without_audio_is_over_at_once_and_the_next_one_begins() -> None:
    stage = Stage(can_pause=True)
    empty = Utterance(1, "reply", rate=RATE)
    empty.complete = True
    stage.did(stage.player.begin(empty, 0.0))
    stage.did(stage.player.begin(utterance(2), 0.0))
    assert [settled.utterance.number for settled in stage.all(Settled)] == [1]
    assert [began.utterance.number for began in stage.all(Began)] == [2]


def test_an_output_that_never_reports_is_believed_to_have_played_after_a_while_and_it_is_said() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(3.4)
    assert stage.all(Settled) == []
    stage.until(3.6)
    (settled,) = stage.all(Settled)
    assert settled.estimated
    assert settled.heard_end == len(settled.utterance.text)


def test_audio_that_comes_slower_than_real_time_is_given_as_it_comes() -> None:
    stage = Stage(can_pause=True)
    slow = utterance(words=2, complete=False)
    stage.did(stage.player.begin(slow, 0.0))
    stage.until(2.0)
    assert stage.given_s(0) == 0.5
    slow.append(np.ones(250, np.int16))
    stage.did(stage.player.tick(2.0))
    assert stage.given_s(0) == pytest.approx(0.74, abs=0.01)
    assert stage.all(Settled) == []


def test_text_that_was_never_made_into_audio_is_not_heard_and_the_utterance_counts_as_cut() -> None:
    stage = Stage(can_pause=True)
    broken = utterance(words=2)
    broken.text += " And this could not be said."
    broken.cut_short = True
    stage.did(stage.player.begin(broken, 0.0))
    stage.until(0.5)
    stage.report(0.5)
    (settled,) = stage.all(Settled)
    assert settled.interrupted
    assert settled.utterance.text[: settled.heard_end] == "one two."


@pytest.mark.parametrize("nonsense", [float("nan"), float("inf"), -1.0])
def test_a_report_that_is_no_time_proves_nothing(nonsense: float) -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(), 0.0))
    stage.until(1.0)
    stage.report(0.5)
    stage.report(nonsense)
    stage.report(0.9, epoch=7)
    assert stage.player.current is not None
    assert stage.player.current.heard_samples == 500


def test_sound_that_an_output_lost_does_not_delay_the_end_of_later_utterances() -> None:
    stage = Stage(can_pause=True)
    stage.did(stage.player.begin(utterance(1), 0.0))
    stage.until(2.0)
    stage.report(1.9)  # a tenth of a second was lost on the way
    stage.until(4.0)
    assert [settled.estimated for settled in stage.all(Settled)] == [True]
    stage.did(stage.player.begin(utterance(2), 4.0))
    stage.until(6.0)
    stage.report(2.0, epoch=stage.player.epoch)
    assert [settled.estimated for settled in stage.all(Settled)] == [True, False]


def test_the_audio_of_what_was_never_reported_is_let_go() -> None:
    stage = Stage(can_pause=True)
    spoken = []
    for number in range(20):
        made = utterance(number)
        spoken.append(weakref.ref(made))
        stage.did(stage.player.begin(made, stage.now))
        del made
        stage.until(stage.now + 4.0)
    assert len(stage.all(Settled)) == 20
    stage.actions.clear()
    gc.collect()
    assert sum(made() is not None for made in spoken) <= 6


def test_at_a_break_another_is_heard_before_the_rest_and_what_was_heard_of_both_is_told() -> None:
    stage = Stage(can_pause=True)
    first, other = utterance(1), utterance(2, words=2)
    first.breaks.append(Break(at_sample=1000, other=2))
    stage.did(stage.player.begin(first, 0.0))
    stage.did(stage.player.begin(other, 0.0))
    stage.until(1.5)
    assert stage.given_s(0) == 1.0, "nothing of the other before all of the first was heard"
    stage.report(1.0)
    stage.until(2.2)
    assert [began.utterance.number for began in stage.all(Began)] == [1, 2]
    assert stage.given_s(0) == 1.5
    stage.report(1.5)
    stage.until(4.0)
    stage.report(2.5)
    assert [(settled.utterance.number, settled.interrupted) for settled in stage.all(Settled)] == [
        (2, False),
        (1, False),
    ]
    assert [advanced.heard_end for advanced in stage.all(Advanced) if advanced.utterance is first][-1] == len(
        first.text
    )
    assert sum(len(play.samples) for play in stage.all(Play)) == first.samples + other.samples


def test_a_break_for_an_utterance_that_is_not_wanted_any_more_is_none() -> None:
    stage = Stage(can_pause=True)
    first = utterance(1)
    first.breaks.append(Break(at_sample=1000, other=2))
    stage.did(stage.player.begin(first, 0.0))
    stage.did(stage.player.begin(utterance(2, words=2), 0.0))
    stage.until(0.5)
    stage.did(stage.player.cancel(2, stage.now))
    stage.until(3.0)
    assert stage.given_s(0) == 2.0


def test_an_utterance_cancelled_at_its_break_is_settled_by_what_was_heard_of_it() -> None:
    stage = Stage(can_pause=True)
    first = utterance(1)
    first.breaks.append(Break(at_sample=1000, other=2))
    stage.did(stage.player.begin(first, 0.0))
    stage.did(stage.player.begin(utterance(2, words=2), 0.0))
    stage.until(1.1)
    stage.report(1.0)
    stage.until(1.3)
    stage.did(stage.player.cancel(1, stage.now))
    (settled,) = stage.all(Settled)
    assert (settled.utterance.number, first.text[: settled.heard_end]) == (1, "one two three four")
    assert stage.all(Clear) == [], "the other is being heard"


def test_an_output_that_never_reports_keeps_nobody_waiting_at_a_break() -> None:
    stage = Stage(can_pause=True)
    first = utterance(1)
    first.breaks.append(Break(at_sample=1000, other=2))
    stage.did(stage.player.begin(first, 0.0))
    stage.did(stage.player.begin(utterance(2, words=2), 0.0))
    stage.until(1.0 + stage.player.settings.watchdog_s + 0.1)
    assert [began.utterance.number for began in stage.all(Began)] == [1, 2]
