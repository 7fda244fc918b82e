"""What is spoken can be read by any voice, and leads back to what was written."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.playout.speakable import speakable

TABLE = [
    # (source, spoken)
    ("**Bold** and _it_ `code` ~~gone~~.", "Bold and it code gone."),
    ("## A title", "A title"),
    ("- item one", "item one"),
    ("- [ ] to do", "to do"),
    ("> quoted", "quoted"),
    ("1. Buy milk", "one. Buy milk"),
    ("See [our page](https://x.y/z_(a)) now", "See our page now"),
    ("![a picture](x.png)", "a picture"),
    ("<b>bold</b> text", "bold text"),
    ("---", ""),
    ("| a | b |", "a, b"),
    ("| a | b |\n|---|---|\n| c | d |", "a, b\nc, d"),
    ("```py\nx = 1\n```", "code omitted"),
    ("So:\n```\nnever closed", "So:\ncode omitted"),
    ("snake_case", "snake case"),
    ("See https://www.example.com/x-y.", "See example dot com slash x dash y."),
    ("example.com/x", "example dot com slash x"),
    ("https://example.com/" + "a" * 80, "example dot com"),
    ("name@example.com, ok", "name at example dot com, ok"),
    ("joe.doe_2@mail.example.com", "joe dot doe underscore two at mail dot example dot com"),
    ("Great 😀! Next", "Great! Next"),
    ("Yes 👍🏽 👨‍👩‍👧 now", "Yes now"),
    ("Dr. Smith, e.g. fish, etc.", "Doctor Smith, for example fish, et cetera."),
    ("i.e. approx. 5 vs. 6", "that is approximately five versus six"),
    ("Main St. is in St. Louis.", "Main Street is in Saint Louis."),
    ("$9.99", "nine dollars and ninety-nine cents"),
    ("$1.01, $0.50, $1, $5.00", "one dollar and one cent, fifty cents, one dollar, five dollars"),
    ("$1.5 million or €3 or 5 EUR or £2.50", "one point five million dollars or three euros or five euros or "
     "two pounds and fifty pence"),
    ("5 km, 1 kg, 3-5 km, 5%", "five kilometres, one kilogram, three to five kilometres, five percent"),
    ("20°C, 60 km/h", "twenty degrees Celsius, sixty kilometres per hour"),
    ("Pi is 3.14", "Pi is three point one four"),
    ("1,250 people", "one thousand two hundred fifty people"),
    ("in 1999 and 2026", "in nineteen ninety-nine and twenty twenty-six"),
    ("the 3rd and 23rd", "the third and twenty-third"),
    ("the 1990s", "the nineteen nineties"),
    ("on 2026-11-30.", "on November thirtieth, twenty twenty-six."),
    ("on 2026-13-45", "on two zero two six, one three, four five"),
    ("Nov. 30, 2026 or May 5", "November thirtieth, twenty twenty-six or May fifth"),
    ("30/11/2026 and 11/30/2026", "November thirtieth, twenty twenty-six and November thirtieth, twenty twenty-six"),
    ("3/4/2026", "three, four, twenty twenty-six"),
    ("at 7:30 pm, 7:05, 7:00, 13:00", "at seven thirty p m, seven oh five, seven o'clock, thirteen hundred"),
    ("7 a.m. to 7 p.m.", "seven a m to seven p m."),
    ("12:30-1:30 pm", "twelve thirty to one thirty p m"),
    ("code 12345", "code one two three four five"),
    ("142-958-637", "one four two, nine five eight, six three seven"),
    ("(555) 123-4567", "five five five, one two three, four five six seven"),
    ("call +43 660 1234567", "call plus four three, six six zero, one two three four five six seven"),
    ("3-5 days", "three to five days"),
    ("-5 degrees", "minus five degrees"),
    ("AT&T & NASA", "AT and T and NASA"),
    ("3 * 4 = 12", "three times four equals twelve"),
    ("1/2 and 24/7 and/or", "one half and twenty-four seven and or"),
    ("1.2.3 and v2.0", "one point two point three and version two point zero"),
    ("A380, mp3, COVID-19", "A three eight zero, mp three, COVID-nineteen"),
    ("#5 and No. 6", "number five and number six"),
    ("~5 min w/o me", "about five minutes without me"),
    ("Well — yes", "Well, yes"),
    ("x -> y", "x to y"),
    ("\ud800bad\x00 \u202ebits", "bad bits"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "spoken"), TABLE)
def test_written_things_are_said(source: str, spoken: str) -> None:
    assert speakable(source).text == spoken


@pytest.mark.parametrize(
    "text",
    ["", "Hello there.", "NASA said so, didn't it?", "今日は晴れです。", "नमस्ते दुनिया।", "مرحبا", "e\u0301le\u0300ve"],
)
def test_plain_text_stays_as_it_is(text: str) -> None:
    spoken = speakable(text)
    assert spoken.text == text
    assert [spoken.source_end(chars) for chars in range(len(text) + 1)] == list(range(len(text) + 1))


def test_only_english_is_put_into_english_words() -> None:
    assert speakable("**5 km** fahren", language="de").text == "5 km fahren"
    assert speakable("我有5个苹果 😀").text == "我有5个苹果"


def test_a_rewritten_stretch_is_heard_whole_or_not_at_all() -> None:
    spoken = speakable("It costs $9.99 now.")
    assert spoken.text == "It costs nine dollars and ninety-nine cents now."
    assert spoken.source_word_end(len("It costs nine dollars")) == len("It costs")
    assert spoken.source_word_end(len("It costs nine dollars and ninety-nine cents")) == len("It costs $9.99")


def test_a_word_is_heard_when_its_last_letter_is() -> None:
    spoken = speakable("Hello (dear) world")
    assert spoken.source_word_end(4) == 0
    assert spoken.source_word_end(5) == len("Hello")
    assert spoken.source_word_end(7) == len("Hello")
    assert spoken.source_word_end(11) == len("Hello (dear")


def test_silent_marks_count_with_the_word_they_touch() -> None:
    spoken = speakable("Say **hello** 😀 to *me* now")
    assert spoken.text == "Say hello to me now"
    assert spoken.source_word_end(3) == len("Say")
    assert spoken.source_word_end(len("Say hello")) == len("Say **hello** 😀")
    assert spoken.source_word_end(len("Say hello to")) == len("Say **hello** 😀 to")


def test_characters_of_unspaced_scripts_are_words() -> None:
    assert speakable("今日は晴れ").source_word_end(2) == 2


tricky = st.lists(
    st.sampled_from([source for source, _ in TABLE] + [" ", "\n", ".", "**", "`", "[", "](", "5", ":", "$", "-", "a"]),
    max_size=8,
).map("".join)
texts = st.text() | tricky | st.text(alphabet="*_`#[]()|<>~-=+ \n0123456789.,:/$%@&ab£", max_size=60)


@given(texts, st.sampled_from(["en", "de"]))
def test_spans_cover_both_texts_in_order(text: str, language: str) -> None:
    spoken = speakable(text, language=language)
    spans = spoken.spans
    assert all(a.source_end == b.source_start and a.spoken_end == b.spoken_start for a, b in pairwise(spans))
    assert all(span.source_start < span.source_end and span.spoken_start <= span.spoken_end for span in spans)
    assert (spans[0].source_start, spans[0].spoken_start) == (0, 0) if spans else text == ""
    assert (spans[-1].source_end, spans[-1].spoken_end) == (len(text), len(spoken.text)) if spans else True
    for span in spans:
        if span.copied:
            assert spoken.text[span.spoken_start : span.spoken_end] == text[span.source_start : span.source_end]


@given(texts)
def test_more_heard_is_never_less_source(text: str) -> None:
    spoken = speakable(text)
    for place in (spoken.source_end, spoken.source_word_end):
        ends = [place(chars) for chars in range(len(spoken.text) + 1)]
        assert ends == sorted(ends)
        assert ends[-1] == len(text)
    assert all(spoken.source_word_end(n) <= spoken.source_end(n) for n in range(len(spoken.text) + 1))


@given(texts)
def test_a_place_in_the_source_is_never_spoken_after_what_follows_it(text: str) -> None:
    spoken = speakable(text)
    starts = [spoken.spoken_start(offset) for offset in range(len(text) + 1)]
    assert starts == sorted(starts)
    assert starts[-1] == len(spoken.text)


@given(texts)
def test_no_markup_is_left(text: str) -> None:
    said = speakable(text).text
    assert not re.search(r"[*_`#~\[\]{}|<>^\\\ud800-\udfff]", said)
    said.encode()


@given(st.text(alphabet="abc $€%0123456789.,:/-"))
def test_no_figures_are_left_in_english(text: str) -> None:
    assert not re.search("[0-9]", speakable(f"So {text}").text)


REPEATED = """
plain a 1 [ ]( ![ ** ``` ` | <a http:// www. a@ a. 1, 1- 1: (1 +1 - _ = 😀 \ud800 1. 1/ Jan Jan~1~ & $1 St.~ # ~
\n |~ -~ a.~
The~price~is~$9.99,~call~555-1234~at~7:30~pm.~ plain~words~only~here~
"""


@pytest.mark.parametrize("unit", [unit.replace("~", " ") for unit in REPEATED.split()] + ["\n", "\t", " \n"])
def test_ten_thousand_characters_of_anything_are_quick(unit: str) -> None:
    text = (unit * (10_000 // len(unit) + 1))[:10_000]
    speakable(text[:100])
    started = time.process_time()
    speakable(text)
    # A tenth of this on an idle machine; what is quadratic takes seconds.
    assert time.process_time() - started < 0.5
