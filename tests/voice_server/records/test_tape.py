from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from pipelines.audio.frame import Frame, Samples
from voice_server.records import tape
from voice_server.records.tape import Tape, read_tape

RATE = 16_000


def _tone(seconds: float, rate: int = RATE, value: int = 1_000) -> Frame:
    return Frame(np.full(round(seconds * rate), value, np.int16), rate)


def _played(path: Path) -> Samples:
    """What any program would play."""
    with wave.open(str(path), "rb") as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.int16)


def test_at_every_moment_the_file_can_be_played_up_to_what_was_settled(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    writing = Tape(path, RATE, bursts=False)
    lengths = [len(_played(path))]
    for second in range(1, 4):
        writing.write(_tone(1.0), float(second))
        lengths.append(len(_played(path)))
        writing.settle()
        lengths.append(len(_played(path)))
    writing.close()
    assert lengths == [0, 0, RATE, RATE, 2 * RATE, 2 * RATE, 3 * RATE]


def test_what_was_written_behind_what_the_file_says_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    writing = Tape(path, RATE, bursts=False)
    writing.write(_tone(1.0), 1.0)
    writing.settle()
    writing.close()
    with path.open("ab") as file:
        file.write(b"\x01\x02\x03")  # killed in the middle of a sample
    assert len(_played(path)) == RATE
    assert len(read_tape(path)) == RATE + 1


def test_sound_stands_where_it_was_heard_and_silence_fills_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    writing = Tape(path, RATE, bursts=False)
    writing.write(_tone(1.0), 2.0)
    writing.write(_tone(0.5), 4.5)
    writing.fill(6.0)
    writing.settle()
    writing.close()
    loud = _played(path) > 0
    assert len(loud) == 6 * RATE
    assert np.flatnonzero(np.diff(loud.astype(int))).tolist() == [RATE - 1, 2 * RATE - 1, 4 * RATE - 1, 4.5 * RATE - 1]


def test_late_reports_put_no_silence_into_a_word_and_do_not_add_up(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    writing = Tape(path, RATE, bursts=False)
    for number in range(1, 401):
        writing.write(_tone(0.05), number * 0.05 + (0.06 if number % 3 else 0.0))
    writing.settle()
    writing.close()
    assert not (_played(path) == 0).any()
    assert writing.seconds == pytest.approx(400 * 0.05)


def test_a_burst_after_a_stall_is_laid_out_by_its_own_length(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    writing = Tape(path, RATE, bursts=True)
    for number in range(1, 26):
        writing.write(_tone(0.02), number * 0.02)
    for number in range(26, 51):
        writing.write(_tone(0.02), max(number * 0.02, 0.9))  # 400 ms came at once
    writing.settle()
    writing.close()
    assert writing.seconds == pytest.approx(1.0)
    assert not (_played(path) == 0).any()


def test_a_line_that_was_away_comes_back_at_its_time(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    writing = Tape(path, RATE, bursts=True)
    writing.write(_tone(0.02), 0.02)
    writing.write(_tone(0.02), 10.0)
    writing.settle()
    writing.close()
    assert writing.seconds == pytest.approx(10.0)


def test_ten_times_as_much_audio_as_time_makes_no_longer_tape(tmp_path: Path) -> None:
    writing = Tape(tmp_path / "a.wav", RATE, bursts=True)
    for number in range(1, 5_001):
        writing.write(_tone(0.02), number * 0.002)
    writing.close()
    assert writing.seconds < 10.0 + 1.1


def test_another_rate_is_converted_and_may_change(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    writing = Tape(path, RATE, bursts=False)
    for second in (1, 2):
        writing.write(_tone(1.0, 48_000), float(second))
    writing.write(_tone(1.0, 8_000), 3.0)
    writing.fill(3.5)
    writing.settle()
    writing.close()
    assert writing.seconds == pytest.approx(3.5, abs=0.001)
    assert np.median(_played(path)[: 3 * RATE]) == pytest.approx(1_000, abs=20)


def test_an_hour_of_silence_is_not_held_in_memory(tmp_path: Path) -> None:
    writing = Tape(tmp_path / "a.wav", RATE, bursts=False)
    writing.write(_tone(0.02), 3_600.0)
    assert (tmp_path / "a.wav").stat().st_size > 3_590 * RATE * 2
    writing.close()


def test_a_file_that_reached_its_largest_size_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape, "LARGEST_BYTES", RATE * 2)
    writing = Tape(tmp_path / "a.wav", RATE, bursts=False)
    writing.write(_tone(1.0), 1.0)
    with pytest.raises(OSError, match="too large"):
        writing.write(_tone(0.02), 1.02)
    writing.settle()
    writing.close()
    assert len(_played(tmp_path / "a.wav")) == RATE
