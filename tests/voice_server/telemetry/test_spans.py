from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from pipelines.events import CallEvent, Tell, ToolCalled, ToolReturned
from tests.voice_server.records.story import BEGAN, HEADING, STORY
from tests.voice_server.telemetry.telling import Hand, reworded, tell
from voice_server.telemetry import spans
from voice_server.telemetry.spans import CallSpans


def _told(story: Any = STORY, *, sampler: Any = None) -> tuple[ReadableSpan, ...]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tell(_listener(provider), story)
    return exporter.get_finished_spans()


def _listener(provider: TracerProvider) -> Callable[[Hand], Tell]:
    return lambda now: (
        CallSpans(provider.get_tracer("test"), now, HEADING, "call-1", ["price", "slow"], lambda: HEADING.began_at).tell
    )


def _at(ns: int | None) -> float:
    """A moment of the story."""
    assert ns is not None
    return round(ns / 1e9 - HEADING.began_at.timestamp() + BEGAN, 3)


def _turn(spans: tuple[ReadableSpan, ...], number: int) -> ReadableSpan:
    return next(span for span in spans if (span.attributes or {}).get("voice.turn.number") == number)


def _tree(spans: tuple[ReadableSpan, ...]) -> dict[str, list[tuple[str, float, float]]]:
    """For each root, in the order they ended, its spans with their times."""
    roots = {span.context.span_id: span for span in spans if span.parent is None and span.context is not None}
    names = {
        at: f"{root.name} {(root.attributes or {}).get('voice.utterance.number', '')}" for at, root in roots.items()
    }
    tree: dict[str, list[tuple[str, float, float]]] = {name: [] for name in names.values()}
    for span in spans:
        assert span.context is not None
        root = span.context.span_id if span.parent is None else span.parent.span_id
        assert root in names, "every span is a root or the child of one"
        tree[names[root]].append((span.name, _at(span.start_time), _at(span.end_time)))
    return {name: sorted(children, key=lambda child: child[1]) for name, children in tree.items()}


def test_a_turn_is_a_trace_with_its_stages_at_the_times_they_had() -> None:
    tree = _tree(_told())
    assert tree["voice.turn 2"] == [
        ("voice.speech", 101.9, 103.5),
        ("voice.turn", 101.9, 108.6),
        ("voice.endpoint", 103.5, 104.0),
        ("voice.stt", 103.5, 103.8),
        ("invoke_agent agents.desk:create", 104.0, 104.4),
        ("execute_tool price", 104.1, 104.3),
        ("voice.tts", 104.4, 104.6),
        ("voice.tts", 104.6, 104.8),
        ("voice.playout", 104.6, 108.6),
    ]


def test_what_answers_nothing_is_a_trace_of_its_own() -> None:
    tree = _tree(_told())
    assert tree["voice.utterance 1"] == [
        ("voice.tts", 100.0, 100.2),
        ("voice.utterance", 100.0, 100.9),
        ("voice.playout", 100.1, 100.9),
    ]


def test_a_trace_says_how_it_came_out_in_sizes_and_names() -> None:
    turn = next(span for span in _told() if span.name == "voice.turn")
    assert dict(turn.attributes or {}) == {
        "voice.call.id": "call-1",
        "voice.pipeline": "cascade",
        "voice.utterance.number": 2,
        "voice.utterance.kind": "reply",
        "voice.turn.number": 0,
        "voice.outcome": "interrupted",
        "voice.interrupted.cause": "interrupting_word",
        "voice.voice_to_voice.seconds": 1.1,
    }
    playout = next(span for span in _told() if span.name == "voice.playout" and _at(span.end_time) == 108.6)
    assert dict(playout.attributes or {}) == {
        "voice.text.characters": 74,
        "voice.heard.characters": 43,
        "voice.held.seconds": pytest.approx(0.7 + 0.6),
        "voice.heard.estimated": False,
    }
    tool = next(span for span in _told() if span.name == "execute_tool price")
    assert dict(tool.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "price",
        "gen_ai.tool.type": "function",
        "voice.tool.status": "success",
    }


def test_a_tool_that_returns_after_its_answer_belongs_to_its_turn_all_the_same() -> None:
    tool = next(span for span in _told() if span.name == "execute_tool slow")
    turn = _turn(_told(), 1)
    assert (_at(tool.start_time), _at(tool.end_time), _at(turn.end_time)) == (109.3, 112.0, 109.5)
    assert tool.attributes is not None
    assert tool.attributes["voice.tool.status"] == "aborted"
    assert _tree(_told())["voice.turn 3"][-1][0] == "execute_tool slow"


def test_a_tool_that_failed_is_an_error() -> None:
    tool = ToolReturned(turn=0, call_id="t1", name="price", status="error", duration_ms=1.0)
    story = [(at, tool if isinstance(event, ToolReturned) and event.call_id == "t1" else event) for at, event in STORY]
    span = next(span for span in _told(story) if span.name == "execute_tool price")
    assert span.status.status_code is StatusCode.ERROR
    assert (span.attributes or {})["error.type"] == "tool_error"


def test_the_result_of_no_turn_is_a_root() -> None:
    story: list[tuple[float, CallEvent]] = [
        (101.0, ToolCalled(turn=None, call_id="x", name="price", input={})),
        (102.0, ToolReturned(turn=None, call_id="x", name="price", status="success", duration_ms=1.0)),
        (103.0, ToolReturned(turn=None, call_id="never called", name="price", status="success", duration_ms=1.0)),
    ]
    (span,) = _told(story)
    assert (span.name, span.parent, (span.attributes or {})["voice.call.id"]) == ("execute_tool price", None, "call-1")


def test_a_trouble_marks_what_was_going_on_and_does_not_say_why() -> None:
    turn = _turn(_told(), 1)
    assert turn.status.status_code is StatusCode.ERROR
    assert [(one.name, dict(one.attributes or {})) for one in turn.events] == [
        ("voice.engine_trouble", {"voice.engine.kind": "model"})
    ]
    assert _turn(_told(), 0).status.status_code is StatusCode.UNSET


def test_a_turn_that_is_not_sampled_costs_no_stage() -> None:
    assert _told(sampler=ALWAYS_OFF) == ()


def test_the_documentation_names_every_span_and_attribute() -> None:
    told = _told()
    names = {span.name.partition(" ")[0] for span in told}
    attributes = {name for span in told for name in span.attributes or {}}
    attributes |= {name for span in told for event in span.events for name in (event.name, *(event.attributes or {}))}
    assert len(names) == 9
    assert not [name for name in names | attributes if f"``{name}" not in (spans.__doc__ or "")]


@settings(deadline=None)
@given(st.text("abcdefghijklmnopqrstuvwxyzABCÄÖ '\"\n<", min_size=6).map(lambda word: f"Xq{word}"))
def test_no_word_that_anybody_says_or_makes_up_gets_into_a_trace(word: str) -> None:
    spans = _told(reworded(word))
    assert len(spans) > 10
    everything = json.dumps([json.loads(span.to_json()) for span in spans], ensure_ascii=False)
    assert "Xq" not in everything
    assert "c-1" not in everything, "nor what the conversation is called"
