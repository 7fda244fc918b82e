"""What is heard in a room, against what was said."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import numpy as np
import pytest

from tests.e2e.agents import STORY
from tests.e2e.stage import heard_by
from tests.fixtures.catalogue import fixture
from tests.fixtures.wer import wer
from tests.livekit.alignment import align, silences
from tests.livekit.server import LiveKitServer
from tests.livekit.stage import staged
from tests.livekit.voices import KeptVoice, ToneVoice, words_heard
from voice_server.house import House

pytestmark = [pytest.mark.room, pytest.mark.realtime, pytest.mark.engine]

TELLER = "tests.e2e.agents:storyteller"
SENTENCE = STORY.partition(". ")[0] + "."

STRETCH_S = 0.1
"""Seconds by which a jitter buffer may move what it plays."""


async def test_what_is_said_arrives_whole_and_without_a_gap(house: House, livekit_server: LiveKitServer) -> None:
    voice = KeptVoice(house.synthesizer)
    async with staged(replace(house, synthesizer=voice), livekit_server, agent=TELLER) as stage:
        call, room = stage.invite()
        ann = await stage.caller(room)
        await ann.until(lambda: call.attached)
        assert call.controls is not None
        call.controls.narrate(SENTENCE)
        spoken = await ann.told("spoken")
        await ann.quiet(0.3)
    sent, received = np.concatenate(voice.kept), ann.heard.samples
    assert spoken["heard"] == SENTENCE
    places = align(sent, received)
    lost = [place for place in places if place.likeness < 0.3]
    assert len(places) > 20 and not lost, lost
    assert max(place.late_s for place in places) - min(place.late_s for place in places) <= STRETCH_S
    for begins, ends in silences(received, 0.15):
        assert any(begins > b - STRETCH_S and ends < e + STRETCH_S for b, e in silences(sent, 0.08)), (begins, ends)
    assert wer(SENTENCE, heard_by(received)) <= wer(SENTENCE, heard_by(sent)) + 0.05


@pytest.mark.parametrize("words", ["stop", "wait-a-second"])
async def test_who_interrupts_hears_silence_at_once_and_history_ends_where_it_began(
    words: str, house: House, livekit_server: LiveKitServer
) -> None:
    async with staged(replace(house, synthesizer=ToneVoice()), livekit_server, agent=TELLER) as stage:
        call, room = stage.invite()
        ann = await stage.caller(room)
        await ann.until(lambda: call.attached)
        assert call.controls is not None
        call.controls.type_in("Tell me a story.")
        await ann.until(lambda: any(len(event["text"].split()) == 4 for event in ann.all("heard")))
        ann.says(words)
        await ann.until(lambda: bool(ann.said_at))
        onset = ann.said_at[0] + (fixture(words).speech_start_s or 0.0)
        assert ann.heard.loud_at()[-1] > time.monotonic() - 0.1
        spoken = await ann.told("spoken")
        cancelled = time.monotonic()
        reply = await ann.told("utterance", count=2)
        sounding = [at for at in ann.heard.loud_at() if at < cancelled]
        assert onset < sounding[-1] < onset + 0.4
        first = len(words_heard(ann.heard.samples))
        await ann.told("spoken", count=2)
        await ann.quiet(0.3)
    assert reply["kind"] == "reply"
    heard = spoken["heard"].split()
    audible = words_heard(np.concatenate([part for at, part in ann.heard.parts if at < cancelled]))
    assert audible == list(range(len(audible)))
    assert spoken["interrupted"] and len(audible) - 1 <= len(heard) <= len(audible) == first
    assert "".join(ann.texts[0][2]).split() == heard, "what is shown is not what was heard"
    after = words_heard(np.concatenate([part for at, part in ann.heard.parts if at >= cancelled]))
    assert after and not set(after) & set(range(len(audible) + 1)), "the old utterance goes on"


async def test_after_a_cough_the_voice_goes_on_at_the_sample(house: House, livekit_server: LiveKitServer) -> None:
    async with staged(replace(house, synthesizer=ToneVoice()), livekit_server, agent=TELLER) as stage:
        call, room = stage.invite()
        ann = await stage.caller(room)
        await ann.until(lambda: call.attached)
        assert call.controls is not None
        call.controls.type_in("Tell me a story.")
        await ann.until(lambda: any(len(event["text"].split()) == 2 for event in ann.all("heard")))
        ann.says("cough")
        await ann.until(lambda: any(len(event["text"].split()) == 12 for event in ann.all("heard")))
        await asyncio.sleep(0.2)
    audible = words_heard(ann.heard.samples)
    assert len(ann.all("sound")) == 1
    assert len(silences(ann.heard.samples, 0.2)) >= 1, "the voice was not held"
    heard = [word for index, word in enumerate(audible) if index == 0 or word != audible[index - 1]]
    assert heard[:12] == list(range(12)), "words were lost or said again"
