"""The whole API against its own description: made-up requests, good and bad, on a real server.

Some seconds of it in the suite; ``FUZZ_S=60`` goes on for a minute.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules

from fastapi.routing import APIRoute, APIRouter
from pydantic import SecretStr

from tests.voice_server.chat.visitor import SILENT
from tests.voice_server.serving import serving
from voice_server import routes
from voice_server.app import create_app
from voice_server.service import Front
from voice_server.settings import load_settings

KEY = "sesame-open"

EXAMPLES = 25
"""Made-up requests an operation is asked with, besides those that its description suggests."""

FUZZ_S = os.environ.get("FUZZ_S")
"""Seconds for which more are made up."""

NOBODY = """
[[operations]]
include-operation-id = "followChat"
parameters = { "path.conversation" = "nobody" }
"""
"""The stream of a chat that is there never ends, which a tool that waits for ends cannot know."""


def test_every_answer_is_one_that_the_description_tells_of(tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(NOBODY)
    for_long = ["--max-time", FUZZ_S] if FUZZ_S else []
    with serving(SILENT, key=KEY, agent="agents.concierge:create") as served:
        arguments = ["--header", f"Authorization: Bearer {KEY}", "--max-examples", str(EXAMPLES), "--seed", "1"]
        quietly = ["--request-timeout", "20", "--suppress-health-check", "all", "--warnings", "off", "--no-color"]
        run = subprocess.run(
            [
                Path(sys.executable).with_name("st"),
                "run",
                f"http://127.0.0.1:{served.port}/openapi.json",
                *arguments,
                *quietly,
                *for_long,
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=200 + 2 * float(FUZZ_S or 0),
            check=False,
        )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "No issues found" in run.stdout


def test_no_operation_reads_a_body_without_a_limit() -> None:
    modules = [importlib.import_module(f"{routes.__name__}.{found.name}") for found in iter_modules(routes.__path__)]
    found = [route for module in modules for route in getattr(module, "router", APIRouter()).routes]
    taking = [
        route
        for route in found
        if isinstance(route, APIRoute) and (route.body_field or "requestBody" in (route.openapi_extra or {}))
    ]
    assert len(taking) >= 8
    assert [route.path for route in taking if type(route) is APIRoute] == []


def test_operations_have_names_answers_and_a_word_of_explanation() -> None:
    settings = load_settings(model="offline").model_copy(update={"key": SecretStr(KEY)})
    described = create_app(Front(settings)).openapi()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation["operationId"] and operation["summary"] and operation["description"], (method, path)
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    assert answer["content"]["application/json"]["schema"], (method, path, status)
    chat = described["paths"]["/api/chat"]["post"]
    assert set(chat["responses"]) == {"200", "400", "401", "413", "422", "429", "503"}
    assert set(chat["responses"]["200"]["content"]) == {"text/event-stream"}
