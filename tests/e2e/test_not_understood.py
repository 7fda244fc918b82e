from __future__ import annotations

import pytest

from pipelines.stt.silent import Silent
from pipelines.turns.settings import TurnSettings
from tests.e2e.stage import ALL_OUTPUTS, Stage, heard_by
from tests.fixtures.wer import normalised
from voice_server.options import OutputKind

SORRY = TurnSettings().not_understood


@pytest.mark.parametrize("output", ALL_OUTPUTS)
def test_three_seconds_without_a_text_bring_an_event_and_one_short_sorry_within_2_s(
    stage: Stage, output: OutputKind
) -> None:
    call = stage.call("near-speech", output=output, house=stage.with_engines(recognizer=Silent()))
    ((began, ended),) = call.spoke_at
    assert ended - began >= 3.0
    assert call.kinds() == ["unrecognised"]
    assert call.turns == ()
    (sorry,) = call.report.utterances
    assert (sorry.kind, sorry.text, sorry.heard) == ("apology", SORRY, SORRY)
    assert ended < call.audible_from(ended) <= ended + 2.0
    assert normalised(heard_by(call.agent)) == normalised("sorry i didn't catch that")


def test_a_word_without_a_text_is_let_pass(stage: Stage) -> None:
    call = stage.call("tuesday", house=stage.with_engines(recognizer=Silent()))
    assert (call.kinds(), call.turns, call.report.utterances) == (["noise"], (), ())
