"""Run a command beside a stand-in for OpenAI's Realtime API, which hears, decides and speaks on this machine.

``python -m tests.realtime.beside COMMAND…``: the command finds it by OpenAI's own variables. No key, no network.
"""

from __future__ import annotations

import asyncio
import os
import sys

from pipelines.vad.silero import SileroModel
from tests.realtime.local_mind import LocalMind
from tests.realtime.openai_service.service import KEY, OpenAIService

__all__ = ["run"]


async def run(command: list[str]) -> int:
    """Run the command to its end.

    Returns:
        Its exit status.
    """
    mind, ear = LocalMind(), SileroModel()
    await asyncio.to_thread(mind.warm)
    ear.warm()
    async with OpenAIService(mind, voice_model=ear) as service:
        variables = {"S2S_PROVIDER": "openai", "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": service.base_url}
        process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **variables})
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(run(sys.argv[1:])))
