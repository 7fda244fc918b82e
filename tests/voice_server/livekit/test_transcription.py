from __future__ import annotations

from voice_server.clients.events import CallerMuted, CallerWords, UtteranceClosed, UtteranceHeard
from voice_server.livekit.transcription import Grow, Replace, Transcription


def _closed(heard: str, *, interrupted: bool = False) -> UtteranceClosed:
    return UtteranceClosed(
        utterance=1, kind="reply", turn=0, text="All that was meant.", heard=heard, interrupted=interrupted
    )


def test_a_later_version_of_the_caller_s_words_is_of_the_same_segment() -> None:
    words = Transcription("c")
    assert words.feed(CallerWords(segment=3, text="Two", final=False)) == Replace(
        segment="c-caller-3", text="Two", final=False
    )
    assert words.feed(CallerWords(segment=3, text="To Vienna.", final=True)) == Replace(
        segment="c-caller-3", text="To Vienna.", final=True
    )


def test_the_agent_s_words_grow_by_what_is_heard_and_end_with_it() -> None:
    words = Transcription("c")
    assert words.feed(UtteranceHeard(utterance=1, text="All")) == Grow(segment="c-agent-1", text="All", final=False)
    assert words.feed(UtteranceHeard(utterance=1, text="All")) is None
    assert words.feed(UtteranceHeard(utterance=1, text="All that")) == Grow(
        segment="c-agent-1", text=" that", final=False
    )
    assert words.feed(_closed("All that was", interrupted=True)) == Grow(segment="c-agent-1", text=" was", final=True)


def test_what_was_not_heard_is_not_shown() -> None:
    words = Transcription("c")
    assert words.feed(_closed("", interrupted=True)) is None
    assert words.feed(CallerMuted(muted=True)) is None


def test_an_utterance_of_which_everything_was_told_is_still_closed() -> None:
    words = Transcription("c")
    words.feed(UtteranceHeard(utterance=1, text="All that"))
    assert words.feed(_closed("All that")) == Grow(segment="c-agent-1", text="", final=True)
