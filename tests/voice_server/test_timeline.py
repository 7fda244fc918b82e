from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.trace import Mark, MarkKind, Sentence, Span, SpanKind, Trace
from voice_server.timeline import lay_out

spans = st.lists(
    st.tuples(st.floats(0, 120_000), st.floats(0, 20_000)).map(
        lambda pair: Span(kind=SpanKind.SPEECH, start_ms=pair[0], end_ms=pair[0] + pair[1])
    ),
    max_size=12,
)


def test_long_silence_is_cut_and_its_length_kept() -> None:
    trace = Trace()
    trace.span(SpanKind.SPEECH, 1_000, 2_000)
    trace.span(SpanKind.SPEECH, 30_000, 31_000)
    (stave,), _ = lay_out(trace)
    first, second = stave.pieces
    assert (first.start_ms, first.end_ms) == (600, 2_400)
    assert (second.start_ms, second.end_ms) == (29_600, 31_400)
    assert second.skipped_ms == pytest.approx(27_200)
    assert stave.locate(15_000) is None


def test_a_pause_inside_a_turn_stays() -> None:
    trace = Trace()
    trace.span(SpanKind.SPEECH, 1_000, 2_000)
    trace.span(SpanKind.SPEECH, 3_200, 4_000)
    (stave,), _ = lay_out(trace)
    assert len(stave.pieces) == 1


def test_noise_that_the_detector_doubted_is_shown() -> None:
    trace = Trace(probabilities=[(5_000, 0.1), (9_000, 0.4), (14_000, 0.1)])
    (stave,), _ = lay_out(trace)
    assert stave.locate(9_000) is not None
    assert stave.locate(5_000) is None


def test_a_long_call_is_wrapped_where_nobody_speaks() -> None:
    trace = Trace()
    for start in range(0, 24_000, 4_000):
        trace.sentences.append(Sentence(start_ms=start, end_ms=start + 3_000, text="Hello.", heard="Hello."))
    staves, _ = lay_out(trace, length_ms=9_000)
    assert len(staves) > 1
    for stave in staves[1:]:
        assert stave.pieces[0].start_ms % 4_000 >= 3_000


def test_an_empty_call_is_a_stave_all_the_same() -> None:
    (stave,), length_ms = lay_out(Trace())
    assert stave.length_ms == length_ms == 4_000


@given(spans)
def test_everything_that_happened_is_on_exactly_one_stave_in_order(busy: list[Span]) -> None:
    staves, length_ms = lay_out(Trace(spans=busy))
    pieces = [piece for stave in staves for piece in stave.pieces]
    assert all(stave.length_ms <= length_ms + 1e-6 for stave in staves)
    assert all(a.end_ms <= b.start_ms + 1e-6 for a, b in itertools.pairwise(pieces))
    for span in busy:
        for moment in (span.start_ms, (span.start_ms + span.end_ms) / 2):
            assert sum(stave.locate(moment) is not None for stave in staves) == 1


def test_a_mark_alone_is_worth_paper() -> None:
    (stave,), _ = lay_out(Trace(marks=[Mark(kind=MarkKind.EVENT, t_ms=50_000, label="cough")]))
    assert stave.locate(50_000) == pytest.approx(400)
