from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from pipelines.audio.wav import read_wav
from pipelines.trace import Trace
from tests.voice_server.test_report import REPORT
from voice_server.errors import UsageError
from voice_server.records import Records


def _trace() -> Trace:
    return Trace(agent=np.arange(2_400, dtype=np.int16))


def test_both_sides_of_a_call_can_be_listened_to_as_one(tmp_path: Path) -> None:
    caller = (8_000 * np.sin(np.arange(16_000) / 5)).astype(np.int16)
    trace = Trace(agent=np.full(12_000, 1_000, np.int16), caller=caller)
    Records(out=tmp_path).keep_sound(trace)
    both = read_wav(tmp_path / "call.wav").samples
    assert len(both) == 24_000
    assert abs(float(both[6_000:11_000].mean()) - 1_000) < 100
    assert abs(float(both[13_000:23_000].mean())) < 100
    assert both.max() > 8_500


def test_everything_is_written_and_the_report_knows_where_the_audio_is(tmp_path: Path) -> None:
    records = Records(out=tmp_path / "new" / "out", picture=tmp_path / "pictures" / "turn.png")
    records.prepare()
    report = records.keep(REPORT, _trace())
    folder = tmp_path / "new" / "out"
    assert report.audio.path == str(folder / "agent.wav")
    assert report.audio.seconds == 0.1
    assert np.array_equal(read_wav(folder / "agent.wav").samples, _trace().agent)
    assert json.loads((folder / "report.json").read_text()) == json.loads(json.dumps(report.to_json()))
    assert "What time is it?" in (folder / "transcript.txt").read_text()
    assert (tmp_path / "pictures" / "turn.png").stat().st_size > 1_000
    assert sorted(path.name for path in folder.iterdir()) == ["agent.wav", "call.wav", "report.json", "transcript.txt"]


def test_without_a_place_nothing_is_written_but_the_length_is_known(tmp_path: Path) -> None:
    records = Records()
    records.prepare()
    report = records.keep(REPORT, _trace())
    assert (report.audio.seconds, report.audio.path) == (0.1, None)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_to_is_refused_before_the_call(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"--out '.*file/out': cannot write there \(Not a directory\)"):
        Records(out=tmp_path / "file" / "out").prepare()
    with pytest.raises(UsageError, match=r"--plot '.*file/x': cannot write there"):
        Records(picture=tmp_path / "file" / "x" / "turn.png").prepare()


@pytest.mark.parametrize("name", ["turn", "turn.gif", "turn.png.txt"])
def test_a_picture_in_a_format_nobody_draws_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"ends in none of \.png, \.svg, \.pdf"):
        Records(picture=tmp_path / name).prepare()


def test_a_missing_drawing_library_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"needs 'matplotlib'.*pip install 'glove-voice\[plot\]'"):
        Records(picture=tmp_path / "turn.png").prepare()
