from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.responder import Expectation, ExpectationKind
from voice_server.errors import UsageError
from voice_server.options import RecordedTurn, parse_expectation, parse_recording


@pytest.mark.parametrize(
    ("argument", "path", "after_s"),
    [
        ("a.wav", "a.wav", None),
        ("a.wav@+1.2", "a.wav", 1.2),
        ("folder/a.wav@+0", "folder/a.wav", 0.0),
        ("odd@+name/a.wav", "odd@+name/a.wav", None),
        ("a@+1@+2", "a@+1", 2.0),
        ("me@home.wav", "me@home.wav", None),
    ],
)
def test_an_offset_is_read_off_the_end_of_the_name(argument: str, path: str, after_s: float | None) -> None:
    assert parse_recording(argument) == RecordedTurn(path=Path(path), after_s=after_s)


def test_a_file_whose_name_looks_like_an_offset_is_taken_as_named(tmp_path: Path) -> None:
    odd = tmp_path / "take@+2"
    odd.touch()
    assert parse_recording(str(odd)) == RecordedTurn(path=odd)


@pytest.mark.parametrize("seconds", ["", "x", "-1", "nan", "inf", "1e9", "1,5"])
def test_an_offset_that_is_no_number_of_seconds_is_refused(seconds: str) -> None:
    with pytest.raises(UsageError, match=r"after '@\+' stand seconds from 0 to 600.*write for example 'a.wav@\+1.2'"):
        parse_recording(f"a.wav@+{seconds}")


def test_a_forgotten_plus_is_pointed_out() -> None:
    with pytest.raises(UsageError, match=r"write 'a.wav@\+1.5'"):
        parse_recording("a.wav@1.5")


@example("x" * 300)
@given(st.text(min_size=1).filter(lambda text: "\0" not in text))
def test_any_argument_is_a_recording_or_a_usage_error(argument: str) -> None:
    try:
        turn = parse_recording(argument)
    except UsageError as error:
        assert argument in str(error) or repr(argument) in str(error)
    else:
        assert turn.after_s is None or math.isfinite(turn.after_s)


@pytest.mark.parametrize(
    ("argument", "expectation"),
    [
        ("open", Expectation(kind=ExpectationKind.OPEN)),
        ("yes_no", Expectation(kind=ExpectationKind.YES_NO)),
        ("yes-no", Expectation(kind=ExpectationKind.YES_NO)),
        ("spelling", Expectation(kind=ExpectationKind.SPELLING)),
        ("digits", Expectation(kind=ExpectationKind.DIGITS)),
        ("digits:9", Expectation(kind=ExpectationKind.DIGITS, length=9)),
        ("choice:red, green", Expectation(kind=ExpectationKind.CHOICE, choices=("red", "green"))),
    ],
)
def test_what_is_expected_is_read(argument: str, expectation: Expectation) -> None:
    assert parse_expectation(argument) == expectation


@pytest.mark.parametrize("argument", ["", "maybe", "digits:0", "digits:x", "digits:²", "choice", "choice:a", "open:a"])
def test_an_expectation_that_is_none_is_refused_with_the_right_form(argument: str) -> None:
    with pytest.raises(UsageError, match="--expect"):
        parse_expectation(argument)
