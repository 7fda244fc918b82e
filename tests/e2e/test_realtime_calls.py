"""Calls with a speech-to-speech model over a socket and by the command: what is chosen, told and refused."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.realtime.openai.adapter import OpenAIRealtime
from pipelines.vad.silero import SileroModel
from tests.fixtures.catalogue import fixture
from tests.realtime.mind import Called, ScriptedMind
from tests.realtime.openai_service.service import KEY, MODEL, OpenAIService
from tests.voice_server.phone import calling
from tests.voice_server.serving import serving
from voice_server.house import House

pytestmark = [pytest.mark.wire, pytest.mark.realtime]

ROOT = Path(__file__).parents[2]


def mind() -> ScriptedMind:
    return ScriptedMind(
        hears=["What time is it?"], answers=[[Called(name="tell_time")], ["It is noon."], ["You are welcome."]]
    )


@pytest.fixture(scope="module")
def ear() -> SileroModel:
    made = SileroModel()
    made.warm()
    return made


@pytest.fixture
async def service(ear: SileroModel) -> AsyncIterator[OpenAIService]:
    async with OpenAIService(mind(), voice_model=ear) as made:
        yield made


async def test_a_client_chooses_the_pipeline_of_its_call(service: OpenAIService, house: House) -> None:
    adapter = OpenAIRealtime(MODEL, api_key=KEY, base_url=service.base_url)
    with serving(replace(house, adapter=adapter)) as served:
        async with calling(served.voice, start={"pipeline": "realtime"}) as phone:
            phone.says("what-time-is-it")
            spoken = (await phone.hears("spoken"))["data"]
            await phone.send("say", text="Thank you.")
            await phone.hears("spoken", count=2)
            await phone.send("hangup")
            await phone.closed()
        ready = phone.events[0]["data"]
        assert (ready["pipeline"], ready["model"], ready["stt"]) == ("realtime", f"openai:{MODEL}", f"openai:{MODEL}")
        assert (spoken["text"].strip(), spoken["heard"].strip()) == ("It is noon.", "It is noon.")
        assert phone.all("turn")[0]["data"]["text"] in ("", "What time is it?")
        assert [tool["data"]["name"] for tool in phone.all("tool")][:1] == ["tell_time"]
        assert service.session.config["tools"], "the agent's"
        async with calling(served.voice) as phone:
            await phone.hears("ready")
            await phone.send("hangup")
            await phone.closed()
        assert phone.events[0]["data"]["pipeline"] == "cascade"
        assert len(service.sessions) == 1


@pytest.mark.parametrize(
    ("without", "pipeline", "says"),
    [({}, "realtime", "S2S_PROVIDER"), ({"hears": False}, "cascade", "no recogniser")],
)
async def test_a_pipeline_that_the_server_cannot_hold_is_refused_with_the_reason(
    house: House, without: dict[str, Any], pipeline: str, says: str
) -> None:
    with serving(replace(house, **without)) as served:
        async with calling(served.voice, start={"pipeline": pipeline}) as phone:
            refused = (await phone.hears("error"))["data"]
            assert (await phone.closed())[0] == 4400
    assert refused["code"] == "unable"
    assert says in refused["message"]


async def test_a_caller_whose_provider_refuses_is_told_so_and_the_call_ends(
    service: OpenAIService, house: House
) -> None:
    adapter = OpenAIRealtime(MODEL, api_key="sk-wrong-key-of-somebody", base_url=service.base_url)
    with serving(replace(house, adapter=adapter)) as served:
        async with calling(served.voice, start={"pipeline": "realtime"}) as phone:
            told = (await phone.hears("error", code="provider"))["data"]
            ended = (await phone.hears("ended"))["data"]
    assert "Incorrect API key" in told["message"]
    assert "sk-wrong" not in json.dumps(phone.events)
    assert ended["reason"] == "failed"
    assert [event["data"]["kind"] for event in phone.all("spoken")] == ["apology"]


@dataclass
class Done:
    status: int
    out: str
    err: str


async def command(folder: Path, *arguments: str, **variables: str) -> Done:
    """Run `voice-server turn` on one recording, on the realtime pipeline, where there is no engine of our own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("VOICE_", "S2S_", "OPENAI_"))}
    program = Path(sys.executable).with_name("voice-server")
    process = await asyncio.create_subprocess_exec(
        str(program),
        "turn",
        str(fixture("what-time-is-it").path),
        *("--pipeline", "realtime", "--agent", "agents.desk:create", "--tts", "none.installed:here"),
        *arguments,
        cwd=folder,
        env={**clean, "PYTHONPATH": str(ROOT), **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    return Done(process.returncode or 0, out.decode(), err.decode())


async def test_the_command_holds_a_call_with_a_provider_and_keeps_its_record(
    service: OpenAIService, tmp_path: Path
) -> None:
    done = await command(
        tmp_path, "--json", "--out", "out", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=service.base_url, S2S_VOICE="marin"
    )
    assert (done.status, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["pipeline"], report["model"]) == ("realtime", f"openai:{MODEL}")
    (turn,) = report["turns"]
    assert (turn["caller"], turn["agent"].strip(), turn["interrupted"]) == ("What time is it?", "It is noon.", False)
    assert [(tool["name"], tool["status"]) for tool in turn["tools"]] == [("tell_time", "success")]
    assert turn["latency_ms"]["voice_to_voice"] > 0
    assert service.session.config["audio"]["output"]["voice"] == "marin"
    assert {"call.wav", "agent.wav", "caller.wav", "events.jsonl", "report.json"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({}, "OPENAI_API_KEY or GEMINI_API_KEY"),
        ({"OPENAI_API_KEY": "sk-wrong-key-of-somebody"}, "Incorrect API key provided"),
    ],
)
async def test_what_cannot_be_had_is_one_sentence_in_the_provider_s_words_and_status_2(
    service: OpenAIService, tmp_path: Path, variables: dict[str, str], says: str
) -> None:
    done = await command(tmp_path, OPENAI_BASE_URL=service.base_url, **variables)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert says in done.err
    assert "sk-" not in done.err
