from __future__ import annotations

import pytest

from pipelines.clock import RealClock
from pipelines.tts.absent import Absent
from pipelines.tts.base import SynthesisError


async def test_what_it_is_to_say_fails_with_the_reason() -> None:
    with pytest.raises(SynthesisError, match="pip install"):
        _ = [audio async for audio in Absent("there is no voice; pip install one").synthesize("Hello.", RealClock())]
