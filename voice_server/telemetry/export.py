"""Export: where traces go, as OpenTelemetry's standard variables say. Without them, or without the SDK, nowhere.

Above: the server asks once, at start-up. Below: the SDK, which comes with the extra ``telemetry``. It is set up when
``OTEL_TRACES_EXPORTER`` or an ``OTEL_EXPORTER_OTLP_…ENDPOINT`` is set; samplers, batches, headers, resources and the
rest are read by the SDK from its own variables.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import NoOpTracerProvider, ProxyTracerProvider, Tracer

from voice_server.errors import UsageError

__all__ = ["current_tracer", "export_traces"]

NAME = "glove-voice"
"""What we call ourselves: of the tracer, and of the service unless ``OTEL_SERVICE_NAME`` says otherwise."""

_WANTED = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}


def current_tracer() -> Tracer | None:
    """Give what makes spans; ``None`` when nobody would take them, so that nobody needs to tell."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, ProxyTracerProvider | NoOpTracerProvider):
        return None
    return provider.get_tracer(NAME)


def export_traces(environment: Mapping[str, str]) -> Callable[[], None]:
    """Set up the process's tracing, unless whoever started it has done so. Blocking, and not to be called twice.

    Args:
        environment: of the process, from which the SDK reads the rest.

    Returns:
        What sends the last spans and ends it; blocking. Call it in the end.

    Raises:
        UsageError: what the variables name is not installed or not known.
    """
    names = _exporters(environment)
    if not names or current_tracer() is not None:
        return lambda: None
    if importlib.util.find_spec("opentelemetry.sdk") is None:
        raise UsageError(
            "OTEL_… asks for traces, which need the SDK; run `pip install 'glove-voice[telemetry]'`, or set "
            "OTEL_SDK_DISABLED=true"
        )
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    exporters = [_load(name) for name in names]
    resource = Resource.create()
    if str(resource.attributes.get("service.name", "")).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": NAME}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter()))
    trace.set_tracer_provider(provider)
    return provider.shutdown


def _exporters(environment: Mapping[str, str]) -> list[str]:
    """Name the entry points of the exporters that are wanted."""
    disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if disabled or not any(environment.get(name) for name in _WANTED):
        return []
    wanted = (environment.get("OTEL_TRACES_EXPORTER") or "otlp").split(",")
    names = [name.strip() for name in wanted if name.strip() not in ("", "none")]
    return [_otlp(environment) if name == "otlp" else name for name in names]


def _otlp(environment: Mapping[str, str]) -> str:
    """Choose the protocol; gRPC when nothing is said, as OpenTelemetry does in Python."""
    protocol = (
        environment.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
        or environment.get("OTEL_EXPORTER_OTLP_PROTOCOL")
        or "grpc"
    ).strip()
    if protocol not in _PROTOCOLS:
        raise UsageError(f"OTEL_EXPORTER_OTLP_PROTOCOL is {protocol!r}: use one of {', '.join(_PROTOCOLS)}")
    return _PROTOCOLS[protocol]


def _load(name: str) -> Any:
    for found in entry_points(group="opentelemetry_traces_exporter", name=name):
        return found.load()
    raise UsageError(
        f"OTEL_TRACES_EXPORTER asks for {name!r}, which is not installed; run `pip install 'glove-voice[telemetry]'`, "
        "or set OTEL_TRACES_EXPORTER=none"
    )
