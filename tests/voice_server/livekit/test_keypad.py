from __future__ import annotations

from voice_server.livekit.keypad import MOST, Keypad


def test_the_hash_ends_what_was_keyed_and_is_none_of_it() -> None:
    keypad = Keypad()
    assert [keypad.press(key, 0.0) for key in "12*4"] == [None] * 4
    assert keypad.press("#", 0.5) == "DTMF: 12*4"
    assert keypad.press("#", 0.6) is None
    assert keypad.deadline is None


def test_two_seconds_after_the_last_key_they_are_complete() -> None:
    keypad = Keypad()
    keypad.press("1", 0.0)
    keypad.press("2", 1.9)
    assert keypad.deadline == 3.9
    assert keypad.tick(3.8) is None
    assert keypad.tick(3.9) == "DTMF: 12"
    assert keypad.tick(9.0) is None


def test_what_is_no_key_is_not_taken() -> None:
    keypad = Keypad()
    assert [keypad.press(key, 0.0) for key in ("", "12", "x", "\n")] == [None] * 4
    assert keypad.press("#", 0.0) is None


def test_a_cat_on_the_keypad_is_not_waited_for() -> None:
    keypad = Keypad()
    answers = [keypad.press("7", float(count)) for count in range(MOST)]
    assert answers[-1] == "DTMF: " + "7" * MOST
    assert set(answers[:-1]) == {None}
