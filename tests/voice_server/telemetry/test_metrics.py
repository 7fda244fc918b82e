from __future__ import annotations

from enum import StrEnum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from pipelines.events import ReplyWorded, TurnCommitted, UtteranceEnded, UtteranceStarted
from tests.voice_server.telemetry.telling import Hand, reworded, tell
from voice_server.telemetry.metrics import CallMetrics, Metrics


class _Over(StrEnum):
    HUNG_UP = "hung_up"


def _values(metrics: Metrics) -> dict[tuple[str, tuple[str, ...]], float]:
    """What a Prometheus server reads, without what is zero and without what it knows of the process."""
    families = text_string_to_metric_families(metrics.render().decode())
    samples = [sample for family in families for sample in family.samples]
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for sample in samples
        if sample.value and sample.name.startswith("voice_") and not sample.name.endswith(("_bucket", "_created"))
    }


def test_a_call_is_counted_and_timed() -> None:
    metrics = Metrics()
    tell(lambda now: CallMetrics(metrics, now, ["price", "slow"]).tell)
    assert _values(metrics) == {
        ("voice_calls_active", ()): 1.0,
        ("voice_calls_started_total", ()): 1.0,
        ("voice_turns_total", ()): 2.0,
        ("voice_interruptions_total", ("interrupting_word",)): 1.0,
        ("voice_sounds_ignored_total", ("backchannel",)): 1.0,
        ("voice_sounds_ignored_total", ("noise",)): 1.0,
        ("voice_engine_troubles_total", ("model",)): 1.0,
        ("voice_tool_calls_total", ("success", "price")): 1.0,
        ("voice_tool_calls_total", ("aborted", "slow")): 1.0,
        ("voice_tool_seconds_count", ()): 2.0,
        ("voice_tool_seconds_sum", ()): pytest.approx(2.9),
        ("voice_endpoint_seconds_count", ()): 2.0,
        ("voice_endpoint_seconds_sum", ()): pytest.approx(0.5 + 0.4),
        ("voice_stt_seconds_count", ()): 2.0,
        ("voice_stt_seconds_sum", ()): pytest.approx(0.3 + 0.3),
        ("voice_model_seconds_count", ()): 1.0,
        ("voice_model_seconds_sum", ()): pytest.approx(0.4),
        ("voice_tts_seconds_count", ()): 1.0,
        ("voice_tts_seconds_sum", ()): pytest.approx(0.2),
        ("voice_to_voice_seconds_count", ()): 1.0,
        ("voice_to_voice_seconds_sum", ()): pytest.approx(1.1),
    }


def test_a_call_that_ends_is_no_longer_active_and_ends_once() -> None:
    metrics, hand = Metrics(), Hand()
    call = CallMetrics(metrics, hand, [])
    hand.at += 12.0
    call.end(_Over.HUNG_UP)
    call.end(_Over.HUNG_UP)
    values = _values(metrics)
    assert ("voice_calls_active", ()) not in values
    assert values["voice_calls_ended_total", ("hung_up",)] == 1.0
    assert values["voice_call_seconds_sum", ()] == pytest.approx(12.0)


def test_every_cause_kind_and_engine_is_there_before_it_happens_first() -> None:
    text = Metrics().render().decode()
    for line in (
        'voice_interruptions_total{cause="went_on"} 0.0',
        'voice_sounds_ignored_total{kind="echo"} 0.0',
        'voice_engine_troubles_total{engine="vad"} 0.0',
    ):
        assert line in text


def test_an_answer_that_never_sounds_is_not_timed_and_not_remembered() -> None:
    metrics, hand = Metrics(), Hand()
    call = CallMetrics(metrics, hand, [])
    for turn in range(3):
        call.tell(TurnCommitted(turn=turn, utterance=turn, text="", ended_at=hand.at, heard_at=hand.at, reason=""))
        call.tell(ReplyWorded(turn=turn, utterance=turn))
        call.tell(
            UtteranceEnded(
                utterance=turn, kind="reply", turn=turn, text="", heard="", interrupted=True, estimated=False
            )
        )
        call.tell(UtteranceStarted(utterance=turn, kind="reply", turn=turn))
    assert ("voice_to_voice_seconds_count", ()) not in _values(metrics)
    assert _values(metrics)["voice_turns_total", ()] == 3.0


def test_two_servers_count_apart() -> None:
    first, second = Metrics(), Metrics()
    first.refused.labels("busy").inc()
    first.frame_lateness.observe(0.003)
    assert 'voice_calls_refused_total{reason="busy"} 1.0' in first.render().decode()
    assert 'voice_frame_lateness_seconds_bucket{le="0.005"} 1.0' in first.render().decode()
    assert "busy" not in second.render().decode()


@settings(deadline=None)
@given(st.text("abcdefghijklmnopqrstuvwxyzABCÄÖ '\"\n<", min_size=6).map(lambda word: f"Xq{word}"))
def test_no_word_that_anybody_says_or_makes_up_becomes_a_metric(word: str) -> None:
    metrics = Metrics()
    tell(lambda now: CallMetrics(metrics, now, ["price", "slow"]).tell, reworded(word))
    assert "Xq" not in metrics.render().decode()
    assert _values(metrics)["voice_tool_calls_total", ("success", "other")] == 1.0


def test_the_text_is_the_same_however_often_a_made_up_tool_is_called() -> None:
    metrics = Metrics()
    tell(lambda now: CallMetrics(metrics, now, []).tell, reworded("one"))
    lines = metrics.render().decode().count("\n")
    for number in range(50):
        tell(lambda now: CallMetrics(metrics, now, []).tell, reworded(f"tool{number}"))
    assert metrics.render().decode().count("\n") == lines
