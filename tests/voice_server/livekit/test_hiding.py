from __future__ import annotations

import logging
from unittest.mock import Mock

import pytest

from tests.livekit.server import LiveKitServer
from voice_server.livekit.access import Access
from voice_server.livekit.hiding import hide_tokens
from voice_server.livekit.room import JoinError, Room
from voice_server.livekit.tokens import agent_token

ACCESS = Access(url="ws://127.0.0.1:7880", api_key="key", api_secret="a-secret-of-more-than-32-characters")


def test_a_token_in_a_log_line_is_hidden_and_the_rest_is_not(caplog: pytest.LogCaptureFixture) -> None:
    token = agent_token(ACCESS, room="lobby", lasts_s=60.0)
    caplog.handler.addFilter(hide_tokens)
    logging.getLogger("livekit").error("401 Unauthorized - invalid token: %s, error: it is expired", token)
    logging.getLogger("livekit").error("100 %% of %d", 7)
    caplog.handler.removeFilter(hide_tokens)
    assert [record.getMessage() for record in caplog.records] == [
        "401 Unauthorized - invalid token: (a token), error: it is expired",
        "100 % of 7",
    ]


def test_whoever_has_access_does_not_show_the_secret() -> None:
    assert ACCESS.api_secret not in repr(ACCESS)


@pytest.mark.room
async def test_why_a_room_cannot_be_joined_is_told_without_the_token(livekit_server: LiveKitServer) -> None:
    stranger = Access(url=livekit_server.url, api_key=livekit_server.api_key, api_secret=ACCESS.api_secret)
    token = agent_token(stranger, room="lobby", lasts_s=60.0)
    with pytest.raises(JoinError, match="401 Unauthorized") as caught:
        await Room(Mock()).join(stranger.url, token)
    assert token not in str(caught.value)
