"""Guards keep out the neighbour and the recogniser's inventions, and let the quiet caller through."""

from __future__ import annotations

import pytest

from pipelines.turns.guards import NearField, Nearness, Phantom, PhantomRule, VoiceEvidence

NEAR, FAR = Nearness.NEAR, Nearness.FAR


def anchored(level: float = 0.08, **settings: float) -> NearField:
    field = NearField(**settings)
    field.observe(level, 0.0)
    return field


def test_the_first_speaker_is_near_whatever_the_level() -> None:
    assert NearField().judge(0.002, 0.0) is NEAR


def test_a_neighbour_is_far_and_half_the_level_is_near() -> None:
    assert anchored().judge(0.012, 1.0) is FAR
    assert anchored().judge(0.04, 1.0) is NEAR


def test_the_reference_halves_in_twenty_seconds_however_often_it_is_asked() -> None:
    field = anchored()
    for tick in range(1000):
        field.reference(tick * 0.02)
    assert field.reference(20.0) == pytest.approx(0.04)


def test_a_caller_who_speaks_softly_after_a_pause_is_heard() -> None:
    assert anchored().judge(0.016, 25.0) is NEAR


def test_asking_whether_a_level_is_far_rejects_nothing() -> None:
    field = anchored()
    assert all(field.is_far(0.01, 0.1) for _ in range(9))
    assert field.reference(0.1) > 0.07
    assert not field.is_far(0.04, 0.1)


def test_the_third_rejection_in_a_row_moves_the_reference() -> None:
    field = anchored()
    verdicts = [field.judge(0.0032, 25.0 + n) for n in range(4)]
    assert verdicts == [FAR, FAR, FAR, NEAR]


def test_accepted_speech_between_rejections_starts_the_count_again() -> None:
    field = anchored()
    far = [field.judge(0.01, 0.1), field.judge(0.01, 0.2)]
    field.observe(0.08, 0.3)
    far += [field.judge(0.01, 0.4), field.judge(0.01, 0.5)]
    assert far == [FAR] * 4
    assert field.reference(0.5) == pytest.approx(0.08, rel=0.01)


def test_soft_accepted_speech_does_not_lower_the_reference() -> None:
    field = anchored()
    field.observe(0.02, 1.0)
    assert field.reference(1.0) > 0.07


def test_below_the_smallest_reference_everybody_is_near() -> None:
    assert anchored(0.009).judge(0.0001, 0.0) is NEAR


def test_a_ratio_of_zero_takes_everybody_and_an_impossible_one_is_refused() -> None:
    assert anchored(ratio=0.0).judge(0.0, 0.0) is NEAR
    with pytest.raises(ValueError, match=r"between 0 \(off\) and 1, got 2"):
        NearField(ratio=2.0)


@pytest.mark.parametrize(
    ("text", "voiced_s", "probability", "expected"),
    [
        ("Thank you.", 0.15, 0.9, Phantom.CANNED),
        ("Yes.", 0.5, 0.01, Phantom.CANNED),
        ("you", 0.3, 0.5, Phantom.CANNED),
        ("Bye!", 0.1, 0.55, Phantom.CANNED),
        ("Yes.", 0.25, 0.9, None),
        ("Thank you.", 0.6, 0.95, None),
        ("My engine is on fire.", 0.8, 0.2, None),
        ("My engine is on fire.", 0.6, 0.08, None),
        ("Thanks for watching!", 0.9, 0.99, Phantom.CREDITS),
        ("Thanks for watching the dog.", 0.9, 0.99, None),
        ("[BLANK_AUDIO]", 2.0, 0.99, Phantom.WORDLESS),
        ("(coughs)", 0.6, 0.99, Phantom.WORDLESS),
        ("...", 0.6, 0.99, Phantom.WORDLESS),
        ("(sighs) Thank you.", 0.1, 0.9, Phantom.CANNED),
        ("one two three four five six seven eight nine ten", 0.3, 0.99, Phantom.CROWDED),
        ("one two three four five six seven eight nine ten", 1.0, 0.99, None),
        ("今日は晴れです明日も晴れです", 1.0, 0.99, None),
    ],
)
def test_a_final_nobody_said_is_named(text: str, voiced_s: float, probability: float, expected: Phantom | None) -> None:
    assert PhantomRule().judge(text, VoiceEvidence(voiced_s=voiced_s, peak_probability=probability)) is expected
