"""Turns that a caller ends with a button: no detector, no gate and no hold decides them."""

from __future__ import annotations

import pytest

from pipelines.turns.events import Cause, Commit, DisplayBlocked, Hold, Note, NoteKind, Prepare, TalkBegan, TalkEnded
from tests.pipelines.turns.story import Story


def test_what_is_said_while_the_button_is_held_is_a_turn_as_soon_as_its_text_is_there() -> None:
    story = Story()
    segment = story.press(1.0, 3.0)
    story.words(segment, "I would like to and", 3.4)
    assert story.committed == ["I would like to and"]
    (commit,) = story.all(Commit)
    assert (story.times(Commit), commit.ended_at, commit.reason) == ([3.4], 3.0, "host")


@pytest.mark.parametrize("text", ["thank you", "yes", "mm-hm", "you"])
def test_a_button_is_evidence_enough_where_a_detector_heard_nothing(text: str) -> None:
    story = Story()
    story.words(story.press(1.0, 1.4), text, 1.8)
    assert story.committed == [text]


def test_a_button_held_over_nothing_is_told_and_nothing_is_said_about_it() -> None:
    story = Story()
    story.words(story.press(1.0, 9.0), "", 9.4)
    story.until(20)
    assert story.notes == [NoteKind.NOTHING_SAID]
    assert len(story.actions) == 1


def test_more_words_than_anybody_can_say_while_it_was_held_are_nobodys() -> None:
    story = Story()
    story.words(story.press(1.0, 1.35), "this is what a recogniser that loops writes " * 3, 1.8)
    assert story.notes == [NoteKind.PHANTOM]


def test_a_press_interrupts_an_agent_that_speaks_before_a_word_is_said() -> None:
    story = Story()
    utterance = story.agent_says("Here is a long story about a ship.", 1.0)
    story.feed(TalkBegan(at=2.0), 2.0)
    assert [(at, type(action).__name__) for at, action in story.actions if at == 2.0] == [(2.0, "Cancel")]
    assert story.causes == [Cause.PRESSED]
    story.over(utterance, 2.1)
    story.feed(TalkEnded(at=3.0, level=0.1, sureness=0.9), 3.0)
    story.words(story.machine.segment, "tell me of a train", 3.3)
    assert story.committed == ["tell me of a train"]
    assert not story.silent()


def test_what_the_agent_says_as_the_button_is_pressed_is_no_echo_when_the_caller_says_it() -> None:
    story = Story()
    story.over(story.agent_says("Do you want the small blue one?", 1.0), 2.5)
    story.words(story.press(2.0, 3.0), "the small blue one", 3.3)
    assert story.committed == ["the small blue one"]


def test_a_press_before_the_first_sound_of_a_reply_takes_it_back() -> None:
    story = Story()
    story.words(story.press(0.0, 1.0), "tell me", 1.3)
    story.feed(TalkBegan(at=1.5), 1.5)
    assert story.causes == [Cause.PRESSED]


def test_a_narration_is_heard_to_its_end_and_answered_after_it() -> None:
    story = Story()
    utterance = story.agent_says("This is told whatever happens.", 1.0, kind="narration")
    story.words(story.press(1.5, 2.5), "what about Tuesday", 2.8)
    story.until(4.0)
    assert (story.causes, story.committed) == ([], [])
    assert story.all(Hold) == []
    story.over(utterance, 4.0)
    assert story.committed == ["what about Tuesday"]


def test_while_a_slot_waits_a_press_stops_nothing_and_is_answered_after_it() -> None:
    story = Story()
    utterance = story.agent_says("Please choose on the screen.", 1.0)
    story.feed(DisplayBlocked(blocked=True), 1.2)
    story.words(story.press(1.5, 2.5), "what about Tuesday", 2.8)
    story.until(4.0)
    assert (story.causes, story.committed) == ([], [])
    story.over(utterance, 4.0)
    story.feed(DisplayBlocked(blocked=False), 5.0)
    assert story.committed == ["what about Tuesday"]


def test_the_agents_own_words_over_which_it_was_pressed_are_an_echo() -> None:
    story = Story()
    story.agent_says("This is told whatever happens.", 1.0, kind="narration")
    story.words(story.press(1.5, 2.5), "told whatever happens", 2.8)
    assert story.notes == [NoteKind.ECHO]


def test_a_button_may_be_held_in_silence_for_as_long_as_one_likes() -> None:
    story = Story()
    story.feed(TalkBegan(at=0.0), 0.0)
    assert story.machine.deadline is None
    story.until(300.0)
    assert story.actions == []
    assert story.machine.busy


def test_a_second_press_before_the_text_of_the_first_makes_one_turn_of_both() -> None:
    story = Story()
    first = story.press(0.0, 1.0)
    story.feed(TalkBegan(at=1.1), 1.1)
    story.words(first, "tell me", 1.3)
    story.until(3.0)
    assert story.committed == []
    story.feed(TalkEnded(at=3.0, level=0.1, sureness=0.9), 3.0)
    story.words(story.machine.segment, "of a train", 3.3)
    assert story.committed == ["tell me of a train"]


def test_a_second_press_over_nothing_does_not_keep_the_first() -> None:
    story = Story()
    first = story.press(0.0, 1.0)
    story.feed(TalkBegan(at=1.1), 1.1)
    story.words(first, "tell me", 1.3)
    story.feed(TalkEnded(at=3.0, level=0.1, sureness=0.9), 3.0)
    story.words(story.machine.segment, "", 3.3)
    assert story.committed == ["tell me"]


def test_a_commit_behind_a_release_changes_nothing_and_one_of_nothing_is_told() -> None:
    story = Story()
    story.until(0.5)
    story.host_commits()
    assert [at for at, action in story.actions if isinstance(action, Note)] == [0.5]
    segment = story.press(1.0, 2.0)
    story.host_commits()
    story.words(segment, "tell me and", 2.3)
    story.until(5.0)
    assert story.committed == ["tell me and"]
    assert story.notes == [NoteKind.NOTHING_SAID]
    assert story.all(Prepare) == []
