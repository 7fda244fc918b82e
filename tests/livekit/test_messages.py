"""What is told, typed, keyed and sent in a room."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from livekit import rtc

from tests.livekit.server import LiveKitServer
from tests.livekit.stage import Caller, Stage, staged
from tests.livekit.voices import ToneVoice
from voice_server.house import House
from voice_server.live import LiveCall

pytestmark = [pytest.mark.room, pytest.mark.realtime, pytest.mark.engine]


@pytest.fixture
async def stage(house: House, livekit_server: LiveKitServer) -> AsyncIterator[Stage]:
    voiced = replace(house, synthesizer=ToneVoice())
    async with staged(voiced, livekit_server, agent="tests.e2e.agents:echo", grace_s=3.0) as stage:
        yield stage


async def _call(stage: Stage, **token: Any) -> tuple[LiveCall, str, Caller]:
    call, room = stage.invite()
    caller = await stage.caller(room, **token)
    await caller.until(lambda: call.attached)
    return call, room, caller


def _agent(caller: Caller) -> rtc.RemoteParticipant:
    return caller.room.remote_participants["agent"]


async def test_what_is_typed_is_answered_aloud_and_shown_as_livekit_s_components_show_it(stage: Stage) -> None:
    call, _, ann = await _call(stage)
    states: list[str] = []
    ann.room.on("participant_attributes_changed", lambda changed, _: states.append(changed["lk.agent.state"]))
    await ann.room.local_participant.send_text("two of us", topic="lk.chat")
    spoken = await ann.told("spoken")
    assert spoken["heard"].strip() == "You said two of us"
    await ann.until(lambda: bool(states) and states[-1] == "listening")
    assert states[-3:] == ["thinking", "speaking", "listening"]
    assert _agent(ann).kind == rtc.ParticipantKind.PARTICIPANT_KIND_AGENT
    (identity, attributes, pieces), *others = ann.texts
    assert not others
    assert (identity, "".join(pieces)) == ("agent", spoken["heard"])
    assert len(pieces) > 1, "the words came at once, and not as they were heard"
    voice = next(iter(_agent(ann).track_publications.values()))
    assert attributes["lk.transcribed_track_id"] == voice.sid
    assert attributes["lk.transcription_final"] == "true"
    assert attributes["lk.segment_id"].startswith(call.id)


async def test_keys_of_a_telephone_are_told_to_the_agent(stage: Stage) -> None:
    call, room, phone = await _call(
        stage, kind="sip", attributes={"sip.phoneNumber": "+43664123456", "sip.callID": "SCL_1"}
    )
    page = await stage.caller(room, "page")
    await page.told("ready")
    for code, digit in ((1, "1"), (2, "2"), (11, "#"), (3, "3"), (4, "4")):
        await phone.room.local_participant.publish_dtmf(code=code, digit=digit)
    first = await page.told("turn")
    assert first["text"] == "DTMF: 12"
    second = await page.told("turn", 5.0, count=2)
    assert second["text"] == "DTMF: 34"
    assert call.ending is None


MISTAKES: tuple[tuple[str | bytes, str], ...] = (
    (b"\xff\xfe{", "Invalid JSON"),
    ('{"type": "dance"}', "dance"),
    ('{"type": "say", "text": ""}', "say.text"),
    ('{"type": "say", "text": "%s"}' % ("a" * 13_000), "say.text"),
    ('{"type": "mute", "please": true}', "please"),
)


async def test_what_cannot_be_understood_is_answered_to_its_sender_alone(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    _, room, ann = await _call(stage)
    bob = await stage.caller(room, "bob")
    await bob.told("ready")
    for count, (sent, complaint) in enumerate(MISTAKES, 1):
        await ann.sends(sent)
        refusal = await ann.told("error", count=count)
        assert refusal["code"] == "bad_message" and complaint in refusal["message"]
    assert caplog.text.count(f"room '{room}', participant 'ann'") == len(MISTAKES)
    await ann.commands("say", text="still there")
    await bob.told("turn", text="still there")
    assert not bob.all("error")


async def test_a_long_command_comes_as_a_text_and_one_too_long_is_refused(stage: Stage) -> None:
    _, _, ann = await _call(stage)
    long = json.dumps({"type": "resolve", "slot": "none", "value": "a" * 20_000})
    await ann.room.local_participant.send_text(long, topic="glove")
    assert "no screen" in (await ann.told("error"))["message"]
    too_long = json.dumps({"type": "resolve", "slot": "none", "value": "a" * 70_000})
    await ann.room.local_participant.send_text(too_long, topic="glove")
    assert "longer than" in (await ann.told("error", count=2))["message"]
    await ann.commands("say", text="still there")
    await ann.told("turn", text="still there")


async def test_nobody_can_claim_to_have_heard_what_they_did_not(stage: Stage) -> None:
    _, room, ann = await _call(stage)
    bob = await stage.caller(room, "bob")
    await bob.told("ready")
    await ann.commands("say", text="one two three four five six seven eight nine ten")
    await ann.told("heard")
    for liar in (ann, bob):
        for epoch in range(3):
            await liar.commands("played", epoch=epoch, ms=1e9, final=True)
    await ann.commands("interrupt")
    spoken = await ann.told("spoken")
    assert spoken["interrupted"] and spoken["heard"] and len(spoken["heard"].split()) < 8
    assert {error["code"] for error in bob.all("error")} == {"not_yours"}
    assert not ann.all("error")


async def test_who_makes_mistake_after_mistake_is_answered_no_more_and_the_call_goes_on(stage: Stage) -> None:
    _, room, ann = await _call(stage)
    bob = await stage.caller(room, "bob")
    await bob.told("ready")
    for _ in range(200):
        await bob.sends("nonsense")
    await ann.commands("say", text="still there")
    await bob.told("turn", text="still there")
    assert len(bob.all("error")) == 5


async def test_nobody_speaks_for_somebody_else_by_naming_them_as_the_sender(stage: Stage) -> None:
    _, room, ann = await _call(stage)
    bob = await stage.caller(room, "bob")
    await bob.told("ready")
    writer = await bob.room.local_participant.stream_text(topic="lk.chat", sender_identity="ann")
    await writer.write("it was ann")
    await writer.aclose()
    assert (await bob.told("error"))["code"] == "not_yours"
    assert not ann.all("turn")


async def test_an_event_too_large_for_a_packet_comes_whole(stage: Stage) -> None:
    _, _, ann = await _call(stage)
    for _ in range(8):
        await ann.commands("say", text="x" * 1_990)
        await ann.commands("interrupt")
    await ann.told("turn", count=8)
    await ann.commands("start", after=0)
    known = ann.all("turn")
    await ann.until(lambda: ann.again >= known[-1]["turn"])
    assert [turn["text"] for turn in known] == ["x" * 1_990] * 8
