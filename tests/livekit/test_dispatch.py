from __future__ import annotations

import json
from typing import Any

import pytest

from pipelines.turns.settings import TurnTaking
from voice_server.livekit.dispatch import LARGEST_METADATA, Dispatch, DispatchError
from voice_server.loading import Wanted


@pytest.mark.parametrize("metadata", ["", "  ", "{}"])
def test_a_dispatch_may_say_nothing(metadata: str) -> None:
    invitation = Dispatch.read(metadata).invitation("lobby", "agent-1")
    assert (invitation.room, invitation.identity, invitation.wanted) == ("lobby", "agent-1", Wanted())
    assert invitation.conversation and invitation.listen_to is None and invitation.mode is None


def test_a_dispatch_says_who_answers_whom_and_how() -> None:
    said = {"agent": "desk", "inputs": {"a": [1]}, "conversation": "ann-7", "listen_to": "ann", "mode": "manual"}
    invitation = Dispatch.read(json.dumps(said)).invitation("lobby", "agent-1")
    assert invitation.wanted == Wanted(agent="desk", inputs={"a": [1]})
    assert (invitation.conversation, invitation.listen_to, invitation.mode) == ("ann-7", "ann", TurnTaking.MANUAL)


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ("hello", "Invalid JSON"),
        ("[]", "it: Input should be an object"),
        ({"room": "lobby"}, "room: Extra inputs are not permitted"),
        ({"agent": 3}, "agent: Input should be a valid string"),
        ({"inputs": "secret"}, "inputs: Input should be an object"),
        ({"conversation": "secret secret"}, "conversation: String should match pattern"),
        ({"mode": "secret"}, "mode: Input should be 'automatic' or 'manual'"),
        ("x" * (LARGEST_METADATA + 1), "is longer than 16,000 bytes"),
    ],
)
def test_what_is_no_dispatch_is_refused_without_being_repeated(metadata: str | dict[str, Any], says: str) -> None:
    with pytest.raises(DispatchError, match=says) as refused:
        Dispatch.read(metadata if isinstance(metadata, str) else json.dumps(metadata))
    assert "secret" not in str(refused.value)
