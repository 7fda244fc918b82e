"""Export: the process's tracing can be set up only once, so whatever sets it up runs in a process of its own."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from voice_server.errors import UsageError
from voice_server.telemetry.export import current_tracer, export_traces

ROOT = Path(__file__).parents[3]

CALL = """
import os
from voice_server.telemetry.export import current_tracer, export_traces
from tests.voice_server.records.story import HEADING
from tests.voice_server.telemetry.telling import tell
from voice_server.telemetry.spans import CallSpans

finish = export_traces(os.environ)
tracer = current_tracer()
print(tracer is not None)
if tracer is not None:
    tell(lambda now: CallSpans(tracer, now, HEADING, "call-1", ["price"]).tell)
finish()
"""


class _Collector(HTTPServer):
    """Takes what is exported over OTLP, like a collector."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[ExportTraceServiceRequest] = []


class _Handler(BaseHTTPRequestHandler):
    server: _Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[_Collector]:
    server = _Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _run(**variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return subprocess.run(
        [sys.executable, "-c", CALL],
        env={**kept, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.wire
def test_the_standard_variables_send_traces_to_a_collector(collector: _Collector) -> None:
    done = _run(
        OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{collector.server_port}",
        OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=here",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
    (resource,) = (spans for request in collector.requests for spans in request.resource_spans)
    named = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert (named["service.name"], named["deployment.environment.name"]) == ("glove-voice", "here")
    names = [span.name for scope in resource.scope_spans for span in scope.spans]
    assert names.count("voice.turn") == 2
    assert "execute_tool price" in names


@pytest.mark.wire
def test_a_service_has_the_name_it_is_given(collector: _Collector) -> None:
    done = _run(
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"http://127.0.0.1:{collector.server_port}/v1/traces",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL="http/protobuf",
        OTEL_SERVICE_NAME="front-desk",
        OTEL_TRACES_SAMPLER="always_on",
    )
    assert done.returncode == 0
    (resource,) = (spans for request in collector.requests for spans in request.resource_spans)
    assert "front-desk" in [one.value.string_value for one in resource.resource.attributes]


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
    ],
)
def test_unless_traces_are_asked_for_nobody_takes_any(variables: dict[str, str]) -> None:
    done = _run(**variables)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"OTEL_TRACES_EXPORTER": "pigeon"}, "asks for 'pigeon', which is not installed"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, "'http/json': use one of grpc"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_sentence(variables: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        export_traces(variables)
    assert current_tracer() is None


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'glove-voice\[telemetry\]'"):
        export_traces({"OTEL_TRACES_EXPORTER": "console"})
