"""People's recordings through whole calls: the words that were said are the words of the turn, and it is one turn."""

from __future__ import annotations

import pytest

from tests.bench.hearing import ONE_TURN, WER_PHONE, WER_WIDE, listen
from tests.fixtures.human import MissingPackageError
from voice_server.house import House

SAMPLE = 30
"""Prompts; the bench takes twice as many, and so do the tests of the recogniser alone."""


@pytest.mark.parametrize(("phone", "wer"), [(False, WER_WIDE), (True, WER_PHONE)], ids=["wideband", "phone band"])
def test_what_people_say_arrives_as_they_said_it_and_as_one_turn(house: House, phone: bool, wer: float) -> None:
    try:
        hearing = listen(house, phone=phone, count=SAMPLE)
    except MissingPackageError as missing:
        pytest.skip(str(missing))
    faults = "\n".join(hearing.faults())
    assert hearing.wer <= wer, faults
    assert hearing.one_turn >= ONE_TURN, faults
