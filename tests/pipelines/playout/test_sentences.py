"""Text is cut where a speaker would breathe, and no character of it is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.playout.sentences import Sentence, SentenceSplitter


def split(text: str, *, first_clause: int | None = None, longest: int = 300) -> list[str]:
    splitter = SentenceSplitter(first_clause=first_clause, longest=longest)
    return [piece.text for piece in splitter.feed(text) + splitter.flush()]


@pytest.mark.parametrize(
    "pieces",
    [
        ["Hello. ", "How are you? ", "Fine!"],
        ["Pi is 3.14 and e is 2.718. ", "Good."],
        ["The answer is 3. ", "Next question."],
        ["Dr. Smith met Mr. Jones. ", "They talked."],
        ["Bring fruit, e.g. apples, i.e. red ones. ", "Thanks."],
        ["J. K. Rowling wrote it. ", "She did."],
        ["Choose plan B. ", "Then call."],
        ["The U.S. Government said so. ", "It did."],
        ["She lives in the U.S. ", "He does not."],
        ["We open at 7 p.m. Tuesday."],
        ["We open at 7 p.m. and close at 9. ", "Come in."],
        ["We close at 7 p.m. ", "We open at nine."],
        ["See https://example.com/a.b?c=d. ", "Or www.example.org now."],
        ["Write to joe.doe@mail.example.com. ", "He answers."],
        ["Use version 1.2.3. ", "Not 2.0."],
        ["Well… maybe. ", "Wait... what? ", "Wait... ", "What?"],
        ["He said “Stop.” ", "Then he left."],
        ["“Really?” he asked. ", "“Yes!” ", "(He nodded.) ", "Then it ended."],
        ["What?! ", "No way!!! ", "Ok."],
        ["今日は晴れです。", "明日は？", "「雨。」", "そうですか！"],
        ["यह ठीक है। ", "धन्यवाद।"],
        ["هل أنت بخير؟ ", "نعم."],
        ["One line\n", "Another line\n\n", "A third"],
        ["Buy:\n", "1. Milk\n", "2. Bread and butter\n", "- Eggs"],
        ["Great! 😀 ", "Next one."],
        ["Great!😀 ", "Next one."],
        ["Main St. is long. ", "See No. 5 there. ", "No. ", "I mean it."],
        ["Bread, eggs, etc. are here. ", "Acme Inc. ", "The end."],
        ["**Bold stop.** ", "Next."],
        ["Done. ", "```py\nprint('a. b.')\n\nx = 1\n```\n", "There."],
        ["No stop at all"],
        ["ok. ", "sure thing."],
        ["Yes.\n\n", "---\n\nNo."],
        ["  \n Hi."],
        ["The 3rd of Nov. 2026 is near. ", "Yes."],
        ["Dr.\n", "Smith"],
    ],
)
def test_text_is_cut_at_the_ends_of_sentences_only(pieces: list[str]) -> None:
    assert split("".join(pieces)) == pieces


def test_a_stop_at_the_end_waits_for_what_follows() -> None:
    splitter = SentenceSplitter(first_clause=None)
    assert splitter.feed("It is 3.") == []
    assert splitter.feed("14 now. ") == []
    assert [piece.text for piece in splitter.feed("G")] == ["It is 3.14 now. "]
    assert [piece.text for piece in splitter.flush()] == ["G"]


def test_offsets_go_on_behind_a_flush() -> None:
    splitter = SentenceSplitter()
    first = splitter.feed("Let me look.") + splitter.flush()
    second = splitter.feed("\n\nHere. It") + splitter.flush()
    assert first == [Sentence("Let me look.", 0, 12)]
    assert second == [Sentence("\n\nHere. ", 12, 20), Sentence("It", 20, 22)]


def test_blank_text_is_no_sentence() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed(" \n\n … ") + splitter.flush() == []


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (
            "If you would like to go to Oslo, I can book it, now. Then we are done, really.",
            ["If you would like to go to Oslo, ", "I can book it, now. ", "Then we are done, really."],
        ),
        ("Yes, of course. We do that, too.", ["Yes, of course. ", "We do that, too."]),
        ("It would cost about 1,250 dollars at 7:30 or so.", ["It would cost about 1,250 dollars at 7:30 or so."]),
        ("The price of the whole thing is: nine.", ["The price of the whole thing is: ", "nine."]),
        ("The whole of the long journey—by train—is nice.", ["The whole of the long journey—", "by train—is nice."]),
        (
            "See [the page with all details, please](http://a.b), or not.",
            ["See [the page with all details, please](http://a.b), ", "or not."],
        ),
        (
            "私は今日東京の大きな会社に行きます、そして帰ります。",
            ["私は今日東京の大きな会社に行きます、", "そして帰ります。"],
        ),
    ],
)
def test_the_first_piece_may_end_early_at_a_clause(text: str, pieces: list[str]) -> None:
    assert split(text, first_clause=30) == pieces


def test_a_sentence_without_end_is_cut_where_it_hurts_least() -> None:
    clauses = "one two three four, " * 30
    assert all(len(piece) <= 300 and piece.endswith(", ") for piece in split(clauses)[:-1])
    unbroken = split("x" * 700)
    assert [len(piece) for piece in unbroken] == [300, 300, 100]
    spaced = split("word " * 100)
    assert all(piece.endswith("word ") and len(piece) <= 300 for piece in spaced)


def test_a_cut_inside_a_word_keeps_marks_with_their_letters() -> None:
    assert all(not piece.startswith("\u0301") for piece in split("e\u0301" * 50, longest=21))


def test_too_short_a_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 20 characters, got 5"):
        SentenceSplitter(longest=5)


TRICKY = """
Dr J p.m 3 14 no No He wait etc 。 . ... … ! ? , : — ``` ` " ” ) [ ] 😀 日本 é e\u0301
http://a.b/c?d xxxxxxxxxxxxxxxxx \ud800 \u200d
"""
prose = st.lists(st.sampled_from([*TRICKY.split(), ". ", ", ", " ", "\n"])).map("".join)


@given(st.text() | prose, st.sampled_from([None, 5, 30]), st.sampled_from([20, 300]))
def test_pieces_joined_are_the_source(text: str, first_clause: int | None, longest: int) -> None:
    splitter = SentenceSplitter(first_clause=first_clause, longest=longest)
    pieces = splitter.feed(text) + splitter.flush()
    joined = "".join(piece.text for piece in pieces)
    assert text.startswith(joined)
    assert not any(char.isalnum() for char in text[len(joined) :])
    at = 0
    for piece in pieces:
        assert (piece.start, piece.end, piece.text) == (at, at + len(piece.text), text[at : piece.end])
        at = piece.end


@given(st.text() | prose, st.sampled_from([None, 5, 30]), st.sampled_from([20, 300]), st.integers(1, 7))
def test_how_text_was_split_into_deltas_changes_nothing(
    text: str, first_clause: int | None, longest: int, size: int
) -> None:
    whole = SentenceSplitter(first_clause=first_clause, longest=longest)
    parts = SentenceSplitter(first_clause=first_clause, longest=longest)
    pieces = [piece for at in range(0, len(text), size) for piece in parts.feed(text[at : at + size])]
    assert pieces + parts.flush() == whole.feed(text) + whole.flush()
