"""Words that a caller types instead of speaking."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipelines.turns.events import Cause, Commit, DisplayBlocked, Hold, Prepare
from tests.pipelines.turns.story import NOTICED_S, Story


def silence(story: Story) -> None:
    """Nobody says anything."""


def a_greeting_sounds(story: Story) -> None:
    story.agent_says("Here is a long story about a ship.", 1.0)


def a_reply_is_made(story: Story) -> None:
    story.words(story.press(0.0, 0.5), "tell me", 0.8)


def a_slot_waits_in_silence(story: Story) -> None:
    story.feed(DisplayBlocked(blocked=True), 1.2)


def something_was_said_and_its_text_is_there(story: Story) -> None:
    story.caller_says("I would like to and", 0.5, 1.4)


def there_is_a_noise(story: Story) -> None:
    story.begin_speech(1.5, until=1.95)


@pytest.mark.parametrize(
    ("before", "turns", "at", "causes"),
    [
        (silence, ["Nairobi"], 2.0, []),
        (a_greeting_sounds, ["Nairobi"], 2.0, [Cause.TYPED]),
        (a_reply_is_made, ["tell me", "Nairobi"], 2.0, [Cause.TYPED]),
        (a_slot_waits_in_silence, ["Nairobi"], 2.0, []),
        (something_was_said_and_its_text_is_there, ["I would like to and Nairobi"], 2.0, []),
        (there_is_a_noise, ["Nairobi"], 2.0, []),
    ],
)
def test_typed_words_are_a_turn_at_once(
    before: Callable[[Story], None], turns: list[str], at: float, causes: list[Cause]
) -> None:
    story = Story()
    before(story)
    story.types(" Nairobi\n", 2.0)
    assert story.committed == turns
    commit = story.all(Commit)[-1]
    assert (story.times(Commit)[-1], commit.ended_at, commit.heard_at, commit.reason) == (at, 2.0, 2.0, "typed")
    assert story.causes == causes
    assert [prepared.text for prepared in story.all(Prepare) if "Nairobi" in prepared.text] == []


@pytest.mark.parametrize("kind", ["narration", "slot"])
def test_what_is_heard_to_its_end_is_not_interrupted_and_typed_words_are_answered_after_it(kind: str) -> None:
    story = Story()
    utterance = story.agent_says("Listen to this.", 1.0, kind="narration" if kind == "narration" else "greeting")
    if kind == "slot":
        story.feed(DisplayBlocked(blocked=True), 1.2)
    story.types("Nairobi", 2.0)
    story.types("at nine", 3.0)
    story.until(4.0)
    assert (story.causes, story.committed) == ([], [])
    story.over(utterance, 4.0)
    assert story.committed == ["Nairobi at nine"]
    assert story.all(Hold) == []


def test_words_that_were_spoken_before_are_waited_for_and_come_first() -> None:
    story = Story()
    segment = story.speech(1.0, 2.0)
    story.types("Nairobi", 2.0 + NOTICED_S + 0.1)
    assert story.committed == []
    story.words(segment, "I fly from", 2.8)
    assert (story.committed, story.times(Commit)) == (["I fly from Nairobi"], [2.8])


def test_words_that_never_come_are_waited_for_no_longer_than_otherwise() -> None:
    story = Story()
    story.speech(1.0, 2.0)
    story.types("Nairobi", 2.5)
    story.until(30.0)
    assert story.committed == ["Nairobi"]
    assert story.times(Commit) == [pytest.approx(2.0 + story.machine.settings.final_limit_s)]


def test_over_an_agent_that_speaks_what_was_being_said_belongs_to_the_typed_turn() -> None:
    story = Story()
    story.agent_says("Here is a long story about a ship.", 1.0)
    segment = story.speech(2.0, 2.2)
    story.types("in Nairobi", 2.5)
    story.words(segment, "how warm is it", 2.8)
    assert story.causes == [Cause.TYPED]
    assert story.committed == ["how warm is it in Nairobi"]
    assert not story.silent()


def test_a_sound_that_goes_on_is_a_turn_of_its_own() -> None:
    story = Story()
    segment = story.begin_speech(1.0, until=2.0)
    story.types("Nairobi", 2.0)
    assert story.committed == ["Nairobi"]
    story.end_speech(1.0, 2.5)
    story.words(segment, "or rather Mombasa.", 2.9)
    story.until(20.0)
    assert story.committed == ["Nairobi", "or rather Mombasa."]


def test_an_answer_that_is_typed_closes_the_question() -> None:
    story = Story()
    utterance = story.agent_says("Where do you fly from?", 1.0, asks=True)
    story.heard(utterance, 22, 2.0)
    assert story.asked()
    story.types("Nairobi", 3.0)
    assert not story.asked()
