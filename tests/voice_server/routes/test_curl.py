"""The lines of docs/protocol.md that talk to a server, run as they stand there."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from tests.voice_server.chat.visitor import visiting

PROTOCOL = Path(__file__).parents[3] / "docs" / "protocol.md"


@pytest.mark.realtime
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl: apt-get install curl")
async def test_the_lines_of_the_protocol_do_what_it_says() -> None:
    (lines,) = re.findall(r"## Chat.*?```sh\n(.*?)```", PROTOCOL.read_text(), re.DOTALL)
    async with visiting() as visitor:
        script = lines.replace("127.0.0.1:8080", f"127.0.0.1:{visitor.port}").replace(
            "curl ", "curl --silent --show-error "
        )
        shell = await asyncio.create_subprocess_exec(
            "sh", "-e", "-c", script, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output, _ = await asyncio.wait_for(shell.communicate(), 30)
        assert shell.returncode == 0, output.decode()
        status, _ = await visitor.ask("GET", "/api/conversations/ann")
        assert status == 404
    told = output.decode()
    answered, again = re.findall(r'^id: (\d+)\nevent: ended\ndata: .*"reason":"answered"', told, re.MULTILINE)
    assert answered == again
    assert told.count("12 times 7 is 84.") == 7  # as written, whole and as read, all twice, and in the history
    assert told.count("event: turn") == 1
    assert '{"stopped":0}' in told and '"conversations":[{"id":"ann"' in told
