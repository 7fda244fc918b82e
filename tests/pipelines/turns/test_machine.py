from __future__ import annotations

import pytest

from pipelines.responder import Expectation, ExpectationKind
from pipelines.turns.events import (
    Cause,
    Commit,
    CutSound,
    DisplayBlocked,
    Drop,
    EngineFailed,
    HearingFailed,
    Hold,
    NoteKind,
    Prepare,
    Resume,
    Speak,
)
from pipelines.turns.settings import TurnSettings
from pipelines.vad.detector import SpeechEnded, SpeechProgressed
from tests.pipelines.turns.story import NOTICED_S, Story

YES_NO = Expectation(kind=ExpectationKind.YES_NO)
DIGITS = Expectation(kind=ExpectationKind.DIGITS)
LONG_TEXT = "I can tell you the time, do sums with units and take a message for the people who work here. "


def speaking_story() -> tuple[Story, int]:
    """A caller asked something; a long answer has been sounding since 2.0 s."""
    story = Story()
    story.caller_says("What can you do?", 0.2, 1.2)
    story.until(1.9)
    return story, story.replies(LONG_TEXT * 3, 2.0)


# ------------------------------------------------------------------------------------------------------------- turns


def test_a_question_is_committed_after_its_hold_counted_from_when_speech_ended() -> None:
    story = Story()
    story.caller_says("What time is it?", 0.2, 1.2)
    story.until(5)
    assert story.committed == ["What time is it?"]
    assert story.times(Commit) == [pytest.approx(1.6)]


def test_a_hold_shorter_than_the_recogniser_commits_as_soon_as_the_words_are_there() -> None:
    story = Story(expects=YES_NO)
    story.caller_says("Yes.", 0.2, 0.5)
    story.until(5)
    assert story.times(Commit) == [pytest.approx(0.5 + NOTICED_S + 0.1)]


def test_a_pause_inside_a_dictated_number_does_not_end_the_turn() -> None:
    story = Story(expects=DIGITS)
    story.caller_says("One four.", 0.0, 0.8)
    story.caller_says("Two nine.", 2.0, 2.8)
    story.caller_says("Seven.", 4.0, 4.4)
    story.until(10)
    assert story.committed == ["One four. Two nine. Seven."]


def test_an_answer_is_prepared_as_soon_as_the_words_are_there_at_most_twice_a_turn() -> None:
    story = Story(expects=DIGITS)
    for number, text in enumerate(("One four.", "Two nine.", "Seven.")):
        story.caller_says(text, number * 2.0, number * 2.0 + 0.8)
    story.until(10)
    assert [prepare.text for prepare in story.all(Prepare)] == ["One four.", "One four. Two nine."]
    assert story.times(Prepare)[0] == pytest.approx(0.8 + NOTICED_S + 0.1)
    assert story.committed == ["One four. Two nine. Seven."]


def test_no_answer_is_prepared_when_drafts_are_off() -> None:
    story = Story(TurnSettings(drafts=0))
    story.caller_says("What time is it?", 0.2, 1.2)
    story.until(5)
    assert story.all(Prepare) == []
    assert len(story.committed) == 1


def test_words_in_a_sound_that_never_ends_are_answered() -> None:
    story = Story()
    segment = story.begin_speech(0.2, until=1.4)
    story.words(segment, "What time is it?", 1.5, final=False)
    story.until(9)
    assert story.all(CutSound) == []
    story.until(9.6)
    assert story.times(CutSound) == [pytest.approx(9.5)]
    story.feed(SpeechEnded(started_at=0.2, ended_at=9.59, voiced_s=1.2, level=0.1, sureness=0.9), 9.6)
    # The hum goes on as a new sound, which does not postpone the answer by as much again.
    story.begin_speech(9.6, until=9.7)
    story.words(segment, "What time is it?", 9.8)
    story.until(10.5)
    assert story.committed == ["What time is it?"]


def test_a_sound_without_words_after_a_question_does_not_keep_the_answer_for_ever() -> None:
    story = Story()
    story.caller_says("What time is it?", 0.2, 1.2)
    story.begin_speech(1.5, until=4.0)
    story.until(30)
    assert story.times(Commit) == [pytest.approx(1.5 + 8.0)]
    assert not story.silent()


def test_the_groups_of_a_number_are_heard_as_one_sound_but_not_while_the_agent_speaks() -> None:
    story = Story(expects=DIGITS)
    story.begin_speech(0.0, until=0.5)
    assert story.machine.patience_s == 1.3
    asked = Story()
    asked.caller_says("Take a message.", 0.2, 1.2)
    asked.until(2)
    asked.replies("What number can we call you back on?", 2.0, asks=True, expects=DIGITS)
    asked.begin_speech(2.5, until=2.8)
    assert asked.machine.patience_s == 0.0


def test_a_sound_at_the_end_of_a_hold_postpones_the_commit_and_a_misfire_lets_it_happen() -> None:
    story = Story()
    story.caller_says("What time is it?", 0.2, 1.2)
    story.blip(1.56, 1.62)
    story.until(5)
    assert story.times(Commit) == [pytest.approx(1.62 + NOTICED_S)]


def test_words_that_came_after_a_turn_was_committed_are_no_part_of_it() -> None:
    story = Story()
    story.caller_says("What time is it?", 0.2, 1.2)
    story.until(2)
    story.words(1, "What time is it now?", 2.1)
    story.until(5)
    assert story.committed == ["What time is it?"]


def test_a_segment_whose_final_never_comes_is_dropped_and_apologised_for() -> None:
    story = Story()
    story.speech(0.2, 1.2)
    story.until(10)
    assert story.times(Drop) == [pytest.approx(6.2)]
    assert [speak.kind for speak in story.all(Speak)] == ["apology"]
    assert story.notes == [NoteKind.UNHEARD]


def test_a_partial_text_stands_in_for_a_final_that_never_comes() -> None:
    story = Story()
    segment = story.begin_speech(0.2, until=1.2)
    story.words(segment, "What time is it", 1.0, final=False)
    story.end_speech(0.2, 1.2)
    story.until(10)
    assert story.committed == ["What time is it"]
    assert story.all(Speak) == []


def test_words_of_earlier_segments_survive_a_failed_one() -> None:
    story = Story(expects=DIGITS)
    story.caller_says("One four.", 0.0, 0.8)
    segment = story.speech(1.5, 2.2)
    story.feed(HearingFailed(segment=segment), 2.6)
    story.until(10)
    assert story.committed == ["One four."]


# ------------------------------------------------------------------------------------------------------ interruption


def test_the_first_sound_holds_the_output_at_once() -> None:
    story, _ = speaking_story()
    story.begin_speech(3.0, until=3.1)
    assert story.times(Hold) == [pytest.approx(3.032)]
    assert story.silent()


def test_a_cough_without_words_resumes_when_the_recogniser_says_so_and_is_no_turn() -> None:
    story, _ = speaking_story()
    story.caller_says("", 3.0, 3.7)
    story.until(10)
    assert story.times(Resume) == [pytest.approx(3.7 + NOTICED_S + 0.1)]
    assert story.notes == [NoteKind.NOISE]
    assert len(story.committed) == 1


def test_a_cough_the_recogniser_is_slow_about_resumes_at_the_latest_within_800_ms() -> None:
    story, _ = speaking_story()
    segment = story.speech(3.0, 3.7)
    story.until(6)
    assert story.times(Resume) == [pytest.approx(4.4)]
    story.words(segment, "", 6.5)
    assert story.causes == []


def test_evidence_that_arrives_after_the_resume_still_cancels() -> None:
    story, utterance = speaking_story()
    segment = story.speech(3.0, 4.0)
    story.until(5.5)
    story.words(segment, "Tell me the time instead.", 5.6)
    assert story.causes == [Cause.SPEECH]
    story.until(9)
    assert story.committed[1:] == ["Tell me the time instead."]
    assert utterance not in [line.utterance for line in story.machine.floor.interruptible()]


def test_a_blip_resumes_as_soon_as_it_is_known_to_be_one() -> None:
    story, _ = speaking_story()
    story.blip(3.0, 3.1)
    assert story.times(Resume) == [pytest.approx(3.1 + NOTICED_S)]
    assert story.notes == [NoteKind.NOISE]


@pytest.mark.parametrize("text", ["Mm-hm.", "Uh-huh", "Okay.", "Right, I see."])
def test_an_acknowledgement_ends_nothing_and_is_no_turn_and_no_prefix_of_one(text: str) -> None:
    story, utterance = speaking_story()
    story.caller_says(text, 3.0, 3.5)
    story.over(utterance, 8.0)
    story.caller_says("What time is it?", 9.0, 10.0)
    story.until(15)
    assert story.notes == [NoteKind.BACKCHANNEL]
    assert story.causes == []
    assert story.committed[1:] == ["What time is it?"]


def test_a_short_word_over_the_agent_is_an_aside() -> None:
    story, _ = speaking_story()
    story.caller_says("Tuesday.", 3.0, 3.5)
    story.until(6)
    assert story.notes == [NoteKind.ASIDE]
    assert story.causes == []


@pytest.mark.parametrize("text", ["Stop.", "Wait a second.", "No!", "Hang on."])
def test_an_interrupting_word_cancels_however_short(text: str) -> None:
    story, _ = speaking_story()
    story.caller_says(text, 3.0, 3.4)
    story.until(10)
    assert story.causes == [Cause.INTERRUPTING_WORD]
    assert story.committed[1:] == [text]


def test_a_partial_is_evidence_before_the_caller_has_finished() -> None:
    story, _ = speaking_story()
    segment = story.begin_speech(3.0, until=3.5)
    story.words(segment, "Stop", 3.52, final=False)
    assert story.causes == [Cause.INTERRUPTING_WORD]


def test_words_become_evidence_when_the_voice_grows_long_enough() -> None:
    story, _ = speaking_story()
    segment = story.begin_speech(3.0, until=3.4)
    story.words(segment, "What about", 3.41, final=False)
    assert story.causes == []
    story.feed(SpeechProgressed(voiced_s=0.64, level=0.1, sureness=0.9), 3.64)
    assert story.causes == [Cause.SPEECH]


def test_three_seconds_of_voice_without_words_cancel_and_are_asked_about() -> None:
    story, _ = speaking_story()
    segment = story.speech(3.0, 6.3)
    assert story.causes == [Cause.WORDLESS_SPEECH]
    story.words(segment, "", 6.7)
    assert NoteKind.UNRECOGNISED in story.notes
    assert [speak.text for speak in story.all(Speak)] == ["Sorry, I didn't catch that."]


def test_three_seconds_of_voice_without_words_in_silence_are_asked_about_too() -> None:
    story = Story()
    story.caller_says("", 1.0, 4.2)
    assert [speak.kind for speak in story.all(Speak)] == ["apology"]
    assert story.times(Speak)[0] <= 4.2 + 2.0


def test_any_word_answers_an_open_question_and_it_is_open_only_when_it_was_heard() -> None:
    text = "Shall I keep the message?"
    story = Story()
    story.caller_says("Take a message.", 0.2, 1.2)
    story.until(2)
    utterance = story.replies(text, 2.0, asks=True, expects=YES_NO)
    story.heard(utterance, len(text) - 4, 3.0)
    assert not story.asked()
    story.heard(utterance, len(text), 3.3)
    assert story.asked()
    story.over(utterance, 3.4)
    story.caller_says("Mm-hm.", 4.0, 4.3)
    story.until(8)
    assert story.committed[1:] == ["Mm-hm."]
    assert not story.asked()


def test_mm_hm_over_the_end_of_a_yes_no_question_is_its_answer() -> None:
    text = "Shall I keep the message?"
    story = Story()
    story.caller_says("Take a message.", 0.2, 1.2)
    story.until(2)
    utterance = story.replies(text, 2.0, asks=True, expects=YES_NO)
    story.heard(utterance, len(text), 3.2)
    story.caller_says("Mm-hm.", 3.25, 3.6)
    story.until(8)
    assert story.causes == [Cause.ANSWER]
    assert story.committed[1:] == ["Mm-hm."]


def test_a_noise_does_not_close_a_question() -> None:
    text = "Shall I keep the message?"
    story = Story()
    story.caller_says("Take a message.", 0.2, 1.2)
    story.until(2)
    utterance = story.replies(text, 2.0, asks=True, expects=YES_NO)
    story.heard(utterance, len(text), 3.2)
    story.over(utterance, 3.2)
    story.caller_says("", 4.0, 4.4)
    assert story.asked()


def test_the_agents_own_words_are_echo_and_never_evidence() -> None:
    story, utterance = speaking_story()
    story.heard(utterance, 20, 2.8)
    story.caller_says("the time, do sums with units", 3.0, 4.4)
    story.until(6)
    assert story.causes == []
    assert story.notes == [NoteKind.ECHO]


def test_a_voice_far_below_the_caller_neither_holds_for_long_nor_is_a_turn() -> None:
    story, _ = speaking_story()
    segment = story.speech(3.0, 6.5, level=0.02)
    assert story.times(Resume)[0] <= 3.4
    story.words(segment, "and then he went home", 6.9)
    story.until(10)
    assert story.causes == []
    assert story.notes == [NoteKind.FAR_FIELD]


def test_people_who_talk_on_behind_a_caller_who_is_recognised_late_are_no_turn_and_keep_nobody_waiting() -> None:
    story = Story()
    caller = story.speech(0.2, 1.4, level=0.15)
    behind = story.begin_speech(2.2, until=2.3, level=0.033)
    story.words(caller, "What time is it, please?", 2.31)
    for voiced_s in (0.2, 0.31, 3.0, 6.0):
        story.feed(SpeechProgressed(voiced_s=voiced_s, level=0.033, sureness=0.9), 2.2 + voiced_s)
    assert story.times(Commit) == [pytest.approx(2.51)]
    story.end_speech(2.2, 8.2, level=0.033)
    story.words(behind, "well nobody said so", 8.6)
    story.until(12)
    assert story.committed == ["What time is it, please?"]
    assert story.notes == [NoteKind.FAR_FIELD]


def test_a_soft_beginning_that_grows_loud_is_the_caller_going_on() -> None:
    story = Story()
    story.caller_says("I would like to", 0.2, 1.4, level=0.15)
    segment = story.begin_speech(2.0, until=2.5, level=0.03)
    story.feed(SpeechProgressed(voiced_s=0.52, level=0.15, sureness=0.9), 2.52)
    story.end_speech(2.0, 3.2, level=0.15)
    story.words(segment, "leave a message.", 3.6)
    story.until(6)
    assert story.committed == ["I would like to leave a message."]


def test_the_output_is_never_held_for_longer_than_the_limit() -> None:
    story, _ = speaking_story()
    segment = story.begin_speech(3.0, until=3.5)
    story.words(segment, "mm-hm", 3.6, final=False)
    story.until(20)
    assert story.times(Resume) == [pytest.approx(3.032 + 8.0)]


def test_a_caller_who_goes_on_before_the_first_sound_is_answered_once_with_both() -> None:
    story = Story()
    story.caller_says("What time is it?", 0.2, 1.2)
    story.until(1.7)
    story.caller_says("In Vienna, I mean.", 1.8, 2.8)
    story.until(8)
    assert story.causes == [Cause.WENT_ON]
    assert story.committed == ["What time is it?", "In Vienna, I mean."]


def test_speech_does_not_cancel_while_a_display_slot_waits_for_an_answer() -> None:
    story, utterance = speaking_story()
    story.feed(DisplayBlocked(blocked=True), 2.5)
    story.caller_says("Stop, tell me the time.", 3.0, 4.5)
    story.until(6)
    assert story.causes == []
    assert story.times(Hold) == []
    story.over(utterance, 7.0)
    assert story.committed[1:] == ["Stop, tell me the time."]


# --------------------------------------------------------------------------------------------------- narration, trouble


def test_words_over_a_narration_are_answered_after_it() -> None:
    story = Story()
    utterance = story.agent_says("Please listen to this carefully until the end.", 1.0, kind="narration")
    story.caller_says("What time is it?", 2.0, 3.0)
    story.until(5)
    assert story.times(Hold) == []
    assert story.committed == []
    story.over(utterance, 6.0)
    assert story.committed == ["What time is it?"]
    assert story.times(Commit) == [pytest.approx(6.0)]


def test_the_host_may_interrupt_even_a_narration() -> None:
    story = Story()
    story.agent_says("Please listen to this carefully.", 1.0, kind="narration")
    story.actions += [(story.now, action) for action in story.machine.interrupt(2.0)]
    assert story.causes == [Cause.HOST]


def test_an_engine_is_apologised_for_at_most_once_in_thirty_seconds() -> None:
    story = Story()
    for at in (1.0, 5.0, 20.0, 32.0):
        story.feed(EngineFailed(engine="model"), at)
    assert story.times(Speak) == [1.0, 32.0]


def test_what_begins_while_the_caller_sounds_waits_until_they_are_silent() -> None:
    story = Story()
    story.begin_speech(1.0, until=1.5)
    story.feed(EngineFailed(engine="synthesizer"), 1.55)
    assert story.silent()
    segment = story.end_speech(1.0, 1.6)
    story.words(segment, "", 2.0)
    assert not story.silent()


def test_words_begun_over_an_agent_that_other_words_stopped_are_part_of_the_turn() -> None:
    story = Story()
    story.agent_says(LONG_TEXT, 0.0)
    first = story.speech(1.0, 1.4)
    story.begin_speech(1.75, until=2.1)
    story.words(first, "stop", 2.15)
    second = story.end_speech(1.75, 2.2)
    story.words(second, "Tuesday", 2.6)
    story.until(8.0)
    assert story.committed == ["stop Tuesday"]


def test_words_begun_over_an_agent_that_the_host_stopped_are_a_turn() -> None:
    story = Story()
    story.agent_says(LONG_TEXT, 0.0)
    story.begin_speech(1.0, until=1.3)
    story.host_interrupts()
    segment = story.end_speech(1.0, 1.4)
    story.words(segment, "Tuesday", 1.8)
    story.until(8.0)
    assert story.committed == ["Tuesday"]
    assert not story.silent()


def test_a_display_that_opens_under_the_callers_words_is_not_cancelled_by_them() -> None:
    story = Story()
    utterance = story.agent_says(LONG_TEXT, 0.0)
    story.begin_speech(1.0, until=1.4)
    assert story.silent()
    story.feed(DisplayBlocked(blocked=True), 1.4)
    assert not story.silent()
    segment = story.end_speech(1.0, 2.2)
    story.words(segment, "what about Tuesday", 2.6)
    story.until(4.0)
    assert story.causes == []
    assert story.committed == []
    story.feed(DisplayBlocked(blocked=False), 5.0)
    story.over(utterance, 5.0)
    story.until(9.0)
    assert story.committed == ["what about Tuesday"]


def test_a_host_that_commits_before_the_final_text_is_there_does_not_wait_for_the_hold_afterwards() -> None:
    story = Story()
    segment = story.speech(0.0, 1.0)
    story.host_commits()
    story.words(segment, "I would like to and", 1.5)
    assert story.committed == ["I would like to and"]
    assert story.times(Commit) == [1.5]


def test_a_host_that_commits_in_mid_word_gets_the_whole_word() -> None:
    story = Story()
    segment = story.begin_speech(0.0, until=0.8)
    story.host_commits()
    story.end_speech(0.0, 1.0)
    story.words(segment, "I would like to and", 1.5)
    assert story.times(Commit) == [1.5]


def test_a_commit_of_nothing_is_forgotten() -> None:
    story = Story()
    story.host_commits()
    story.caller_says("I would like to and", 2.0, 3.0)
    assert story.committed == []
    story.blip(4.0, 4.1)
    story.until(9.0)
    assert story.committed == ["I would like to and"]
