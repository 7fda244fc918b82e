"""Webhooks, signed as LiveKit's server signs them; that it does so is shown with the routes."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from livekit.api import AccessToken

from voice_server.livekit import webhooks
from voice_server.livekit.access import Access
from voice_server.livekit.tokens import CONVERSATION
from voice_server.livekit.webhooks import Arrival, Closing, ForgedError, Webhooks

ACCESS = Access(url="ws://127.0.0.1:7880", api_key="key", api_secret="a-secret-of-more-than-32-characters")

ANN = {"identity": "ann", "attributes": {CONVERSATION: "trip-7"}}


def _body(event: str, id_: str = "EV_1", **fields: Any) -> bytes:
    return json.dumps({"event": event, "id": id_, "createdAt": "1796097450", **fields}).encode()


def _signature(body: bytes, *, access: Access = ACCESS, lasts: timedelta = timedelta(minutes=5)) -> str:
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    return AccessToken(access.api_key, access.api_secret).with_sha256(digest).with_ttl(lasts).to_jwt()


def _joined(**participant: Any) -> bytes:
    return _body("participant_joined", room={"name": "lobby"}, participant=participant)


def test_a_caller_s_arrival_says_who_came_where_to_go_on_with_what() -> None:
    body = _joined(**ANN)
    arrival = Arrival(room="lobby", identity="ann", conversation="trip-7")
    assert Webhooks(ACCESS).read(body, _signature(body)) == arrival


@pytest.mark.parametrize("kind", ["AGENT", "EGRESS", "INGRESS"])
def test_who_is_no_caller_does_not_arrive(kind: str) -> None:
    body = _joined(**ANN, kind=kind)
    assert Webhooks(ACCESS).read(body, _signature(body)) is None


def test_a_telephone_arrives() -> None:
    body = _joined(identity="sip_1", kind="SIP")
    assert Webhooks(ACCESS).read(body, _signature(body)) == Arrival(room="lobby", identity="sip_1", conversation=None)


def test_a_conversation_that_cannot_be_one_is_none() -> None:
    body = _joined(identity="ann", attributes={CONVERSATION: "../" * 100})
    assert Webhooks(ACCESS).read(body, _signature(body)) == Arrival(room="lobby", identity="ann", conversation=None)


def test_a_room_s_end_says_when_it_was() -> None:
    body = _body("room_finished", room={"name": "lobby"})
    at = datetime.fromtimestamp(1796097451, UTC)
    assert Webhooks(ACCESS).read(body, _signature(body)) == Closing(room="lobby", at=at)


def test_what_is_told_twice_is_acted_upon_once() -> None:
    hooks, body = Webhooks(ACCESS), _joined(**ANN)
    assert hooks.read(body, _signature(body)) is not None
    assert hooks.read(body, _signature(body)) is None
    another = _body("participant_joined", "EV_2", room={"name": "lobby"}, participant=ANN)
    assert hooks.read(another, _signature(another)) is not None


def test_what_was_told_is_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "REMEMBERED", 3)
    hooks = Webhooks(ACCESS)
    for number in range(10):
        body = _body("track_published", f"EV_{number}")
        hooks.read(body, _signature(body))
    assert len(hooks._seen) == 3


def test_what_is_not_signed_so_is_forged() -> None:
    body, others = _joined(**ANN), Access(url="", api_key="key", api_secret="another-secret-of-32-characters--")
    stranger = Access(url="", api_key="stranger", api_secret=ACCESS.api_secret)
    unbound = AccessToken(ACCESS.api_key, ACCESS.api_secret).to_jwt()
    hooks = Webhooks(ACCESS)
    for text, signature in (
        (body, ""),
        (body, "no token"),
        (body, unbound),
        (body, _signature(body, access=others)),
        (body, _signature(body, access=stranger)),
        (body, _signature(body, lasts=timedelta(minutes=-3))),
        (body.replace(b"ann", b"bob"), _signature(body)),
        (b"\xff\xfe", _signature(b"\xff\xfe")),
        (b"no json", _signature(b"no json")),
    ):
        with pytest.raises(ForgedError) as caught:
            hooks.read(text, signature)
        assert signature == "" or signature not in str(caught.value)
    assert hooks.read(body, _signature(body)) is not None, "a forged one takes no place"
