from __future__ import annotations

import subprocess
import sys


def test_a_server_without_rooms_does_not_load_the_sdk() -> None:
    code = (
        "import sys, voice_server.serve; print([name for name in ('livekit', 'aiohttp', 'jwt') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "[]"
