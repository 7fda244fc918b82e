"""Run a command beside a stand-in for OpenAI's Realtime API, which hears, decides and speaks on this machine.

``python -m tests.realtime.beside COMMAND…``: the command finds it by OpenAI's own variables. No key, no network.
"""

from __future__ import annotations

import asyncio
import os
import signal
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
        # Whoever ends this ends the command, which then says when it is over; a terminal's Ctrl-C it has had by itself.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, process.terminate)
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
        return await process.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(run(sys.argv[1:])))
