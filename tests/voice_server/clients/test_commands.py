import pytest

from voice_server.clients.commands import LONGEST_COMMAND, CommandError, Played, Say, Start, parse_command


def test_a_start_without_anything_means_a_new_call_as_the_server_is_set() -> None:
    assert parse_command('{"type":"start"}') == Start()


def test_an_ack_says_how_much_of_which_epoch_was_played() -> None:
    assert parse_command('{"type":"played","epoch":3,"ms":120.5}') == Played(epoch=3, ms=120.5)


def test_what_is_typed_may_be_two_thousand_characters_in_lines() -> None:
    assert parse_command('{"type":"say","text":"one\\ntwo"}') == Say(text="one\ntwo")
    assert parse_command(f'{{"type":"say","text":"{"x" * 2_000}"}}') == Say(text="x" * 2_000)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("hello", "JSON"),
        ("[]", "command"),
        ("{}", "type"),
        ('{"type":"dance"}', "dance"),
        ('{"type":"played","epoch":-1,"ms":0}', "played.epoch"),
        ('{"type":"played","epoch":0,"ms":NaN}', "played.ms"),
        ('{"type":"played","epoch":0,"ms":1,"more":2}', "played.more"),
        ('{"type":"start","rate":1}', "start.rate"),
        ('{"type":"start","conversation":"../../etc"}', "start.conversation"),
        ('{"type":"start","conversation":"a\\n"}', "start.conversation"),
        ('{"type":"resolve"}', "resolve.slot"),
        ('{"type":"say","text":" \\n "}', "say.text"),
        ('{"type":"say","text":"a\\u0007"}', "say.text"),
        (f'{{"type":"say","text":"{"x" * 2_001}"}}', "say.text"),
        ("[" * 10_000, "JSON"),
        (f'{{"type":"resolve","slot":"s","value":"{"x" * LONGEST_COMMAND}"}}', "too long"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence_that_says_where(text: str, about: str) -> None:
    with pytest.raises(CommandError, match=r".") as refused:
        parse_command(text)
    assert about in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_refusal_does_not_repeat_what_was_said() -> None:
    with pytest.raises(CommandError) as refused:
        parse_command('{"type":"start","key":["a-secret-key"]}')
    assert "a-secret-key" not in str(refused.value)
