from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.image import imread

from pipelines.trace import MarkKind, Said, Sentence, SpanKind, Trace, Wait
from voice_server.errors import UsageError
from voice_server.paper import Paper
from voice_server.picture import check_drawable, draw

HELD = (246, 173, 85)
CALLER = (43, 108, 176)
AGENT = (47, 133, 90)
CUT = (197, 48, 48)


def story() -> Trace:
    """A question, an answer that was held and then cut, and half a minute of silence before a word."""
    dice = np.random.default_rng(7)
    trace = Trace()
    trace.caller = dice.normal(0, 20, 40 * 16_000).astype(np.int16)
    trace.agent = np.zeros(40 * 24_000, np.int16)
    trace.caller[8_000:24_000] = dice.normal(0, 4_000, 16_000).astype(np.int16)
    trace.agent[48_000:96_000] = dice.normal(0, 4_000, 48_000).astype(np.int16)
    trace.span(SpanKind.SPEECH, 500, 1_500)
    trace.mark(MarkKind.PARTIAL, 1_200, "What does it")
    trace.mark(MarkKind.FINAL, 1_700, "What does it cost?")
    trace.said.append(Said(start_ms=500, end_ms=1_500, text="What does it cost?", commit_ms=1_800))
    trace.span(SpanKind.STT, 1_550, 1_700)
    trace.span(SpanKind.MODEL, 1_800, 1_900)
    trace.span(SpanKind.TOOL, 1_820, 1_850, "price")
    trace.span(SpanKind.TTS, 1_900, 2_000, "It costs $5 or $6, 五 or 六 together.")
    trace.waits.append(Wait(speech_end_ms=1_500, commit_ms=1_800, first_text_ms=1_900, first_sound_ms=2_000))
    trace.span(SpanKind.HOLD, 4_000, 4_800)
    trace.mark(MarkKind.CANCEL, 4_800, "interrupting word: stop")
    trace.sentences.append(
        Sentence(start_ms=2_000, end_ms=4_000, text="It costs $5 or $6, 五 or 六 together.", heard="It costs $5 or $6,")
    )
    trace.mark(MarkKind.EVENT, 35_000, "backchannel")
    trace.probabilities = [(t, 0.9 if 520 < t < 1_560 else 0.03) for t in np.arange(32.0, 40_000, 32.0).tolist()]
    return trace


def test_a_png_is_1600_wide_and_shows_caller_agent_and_hold(tmp_path: Path) -> None:
    draw(story(), tmp_path / "turn.png", title="desk")
    pixels = _pixels(tmp_path / "turn.png")
    assert pixels.shape[1] == 1_600
    assert _count(pixels, CALLER) > 2_000
    assert _count(pixels, AGENT) > 4_000
    amber = tuple(round(0.35 * colour + 0.65 * 255) for colour in HELD)
    assert _count(pixels, amber) > 4_000


def test_a_longer_call_is_a_higher_picture_not_a_wider_one(tmp_path: Path) -> None:
    trace = story()
    draw(trace, tmp_path / "short.png")
    trace.sentences.append(Sentence(start_ms=5_000, end_ms=34_000, text="And so on.", heard="And so on."))
    draw(trace, tmp_path / "long.png")
    short, long = (_pixels(tmp_path / name).shape for name in ("short.png", "long.png"))
    assert short[1] == long[1] == 1_600
    assert long[0] > 1.8 * short[0]


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_vectors_are_drawn_too(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"turn{suffix}"
    draw(story(), path)
    assert path.stat().st_size > 10_000
    if suffix == ".svg":
        assert ET.parse(path).getroot().tag.endswith("svg")


def test_a_call_in_which_nothing_happened_is_drawn(tmp_path: Path) -> None:
    draw(Trace(), tmp_path / "nothing.png")
    assert (tmp_path / "nothing.png").stat().st_size > 1_000


def _long() -> Trace:
    """Five minutes in which the agent talks and talks."""
    trace = story()
    for start in range(40_000, 300_000, 3_000):
        trace.sentences.append(Sentence(start_ms=start, end_ms=start + 2_800, text="And so on.", heard="And so on."))
    trace.agent = np.resize(trace.agent, 300 * 24_000)
    trace.caller = np.resize(trace.caller, 300 * 16_000)
    return trace


def test_a_long_call_takes_pages_beside_each_other_and_the_first_begins_with_an_overview(tmp_path: Path) -> None:
    pages = draw(_long(), tmp_path / "call.png", title="desk")
    assert [page.name for page in pages] == ["call.png", "call-2.png", "call-3.png"]
    shapes = [_pixels(page).shape for page in pages]
    assert {width for _, width, _ in shapes} == {1_600}
    assert max(height for height, _, _ in shapes) < 4_500, "a page can still be shown"
    assert shapes[0][0] == shapes[1][0] + 3 * 30 + 22, "a row a page"
    overview = _pixels(pages[0])[46 : 46 + 3 * 30]
    assert _count(overview, CALLER) > 500
    assert _count(overview, AGENT) > 1_000
    assert _count(overview, CUT) > 10


def test_a_stretch_of_a_call_is_drawn_without_the_rest(tmp_path: Path) -> None:
    (page,) = draw(_long(), tmp_path / "call.png", start_s=30.0, end_s=42.0)
    pixels = _pixels(page)
    assert pixels.shape[0] < 1_100
    assert _count(pixels, CUT) < 200, "the cut was before; only a flag of an event is red"
    assert draw(_long(), tmp_path / "nothing.png", start_s=9_000.0) == [tmp_path / "nothing.png"]


def test_where_a_stave_ends_a_wait_s_figures_stand_before_it(tmp_path: Path) -> None:
    trace = Trace()
    trace.span(SpanKind.SPEECH, 500, 12_000)
    trace.waits.append(Wait(speech_end_ms=12_000, commit_ms=12_300, first_text_ms=12_400, first_sound_ms=12_480))
    draw(trace, tmp_path / "late.svg")
    svg = (tmp_path / "late.svg").read_text()
    assert "480 ms to the first sound = endpoint 300 + model 100 + tts 80" in svg


def test_a_picture_in_a_format_nobody_draws_is_refused() -> None:
    for name in ("turn", "turn.gif", "turn.png.txt"):
        with pytest.raises(UsageError, match=r"--plot '.*': the name ends in none of \.png, \.svg, \.pdf"):
            check_drawable(Path(name), "--plot")
    check_drawable(Path("TURN.PNG"), "--plot")


def test_a_missing_drawing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"needs 'matplotlib'.*pip install 'glove-voice\[plot\]'"):
        check_drawable(Path("turn.png"), "--plot")


def test_words_are_cut_to_their_room() -> None:
    paper = Paper(400, 100)
    whole = paper.measure("a long line of words", 12, False)
    assert paper.words(0, 10, "a long line of words", "black", room=whole + 1) == whole
    assert 0 < paper.words(0, 10, "a long line of words", "black", room=whole / 2) <= whole / 2
    assert paper.words(0, 10, "a long line of words", "black", room=1) == 0


def _count(pixels: npt.NDArray[np.uint8], colour: tuple[int, ...]) -> int:
    near = np.abs(pixels[:, :, :3].astype(np.int16) - np.array(colour, np.int16)).max(axis=2) <= 3
    return int(near.sum())


def _pixels(path: Path) -> npt.NDArray[np.uint8]:
    return np.round(imread(path) * 255).astype(np.uint8)
