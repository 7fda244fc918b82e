"""When the result of a slow tool is told."""

from __future__ import annotations

import pytest

from pipelines.turns.events import Cancel, Cause, Commit, Report, ResultReady
from pipelines.turns.settings import TurnSettings
from tests.pipelines.turns.story import NOTICED_S, Story

SETTINGS = TurnSettings()


def ready(story: Story, at: float) -> None:
    story.feed(ResultReady(), at)


def test_a_result_is_told_once_after_a_short_silence() -> None:
    story = Story()
    utterance = story.agent_says("I am searching.", 1.0)
    ready(story, 1.5)
    story.over(utterance, 2.0)
    story.until(20)
    assert story.times(Report) == [pytest.approx(2.0 + SETTINGS.result_after_s)]
    (report,) = story.all(Report)
    assert story.machine.floor.line is not None and story.machine.floor.line.kind == "tool_result"
    story.over(report.utterance, 21)
    story.until(60)
    assert len(story.all(Report)) == 1


def test_after_a_long_silence_it_is_told_at_once() -> None:
    story = Story()
    story.over(story.agent_says("I am searching.", 1.0), 2.0)
    ready(story, 30.0)
    story.until(40)
    assert story.times(Report) == [pytest.approx(30.0)]


def test_it_waits_while_the_caller_speaks_and_until_they_were_answered() -> None:
    story = Story()
    story.over(story.agent_says("I am searching.", 1.0), 2.0)
    segment = story.begin_speech(3.0, until=4.0)
    ready(story, 4.0)
    story.end_speech(3.0, 4.0)
    story.words(segment, "What time is it?", 4.0 + NOTICED_S + 0.1)
    story.until(6)
    assert len(story.all(Commit)) == 1 and story.all(Report) == []
    story.over(story.replies("It is nine.", 6.1), 7.0)
    story.until(10)
    assert story.times(Report) == [pytest.approx(7.0 + SETTINGS.result_after_s)]


def test_a_sound_in_the_silence_begins_the_wait_again() -> None:
    story = Story()
    ready(story, 1.0)
    story.blip(1.1, 1.2)
    story.until(5)
    assert story.times(Report) == [pytest.approx(1.2 + NOTICED_S + SETTINGS.result_after_s)]


def test_a_caller_who_was_asked_has_time_to_answer() -> None:
    story = Story()
    utterance = story.agent_says("Which day?", 1.0, asks=True)
    story.heard(utterance, len("Which day?"), 1.5)
    story.over(utterance, 1.6)
    ready(story, 2.0)
    story.until(20)
    assert story.times(Report) == [pytest.approx(1.6 + SETTINGS.result_after_question_s)]


def test_it_can_be_interrupted_and_gives_way_to_a_turn() -> None:
    story = Story()
    ready(story, 1.0)
    story.until(2)
    story.caller_says("Stop, what time is it?", 2.2, 3.4)
    story.until(6)
    (cancel,) = story.all(Cancel)
    assert cancel.utterance == story.all(Report)[0].utterance
    assert story.committed == ["Stop, what time is it?"]


def test_a_short_word_into_the_silence_of_an_agent_that_waits_for_a_tool_is_a_turn() -> None:
    text = "I am searching."
    for heard, committed in ((len(text), ["Tuesday."]), (4, [])):
        story = Story()
        story.caller_says("What can you do?", 0.2, 1.0)
        story.until(2)
        utterance = story.replies(text, 2.0)
        story.heard(utterance, heard, 3.0)
        story.caller_says("Tuesday.", 5.0, 5.4)
        story.until(8)
        assert story.committed == ["What can you do?", *committed]
        assert story.causes == ([Cause.WENT_ON] if committed else [])
