"""OpenAI's adapter, through OpenAI's SDK, on the strict service."""

from __future__ import annotations

import pytest

from pipelines.realtime.conformance import REALTIME, RealtimeCheck
from tests.realtime.openai_service.stage import open_stage

pytestmark = pytest.mark.wire


@pytest.mark.parametrize("check", REALTIME, ids=lambda check: check.__name__)
async def test_openai(check: RealtimeCheck) -> None:
    async with open_stage() as stage:
        await check(stage)
