"""Gemini's adapter, through Google's SDK, on the strict service."""

from __future__ import annotations

import pytest

from pipelines.realtime.conformance import REALTIME, RealtimeCheck
from tests.realtime.gemini_service.stage import open_stage

pytestmark = pytest.mark.wire

MODELS = ("gemini-3.8-live", "models/gemini-2.5-flash-native-audio-preview-12-2025")


@pytest.mark.parametrize("check", REALTIME, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", MODELS, ids=("3.8", "2.5"))
async def test_gemini(model: str, check: RealtimeCheck) -> None:
    async with open_stage(model) as stage:
        await check(stage)
