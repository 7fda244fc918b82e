import os
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.audio.frame import Frame
from pipelines.audio.wav import WavError, read_wav, write_wav

RAMP = np.linspace(-0.9, 0.9, 1_600)
GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")


def encode(values: npt.NDArray[np.float64], code: int, bits: int) -> bytes:
    if code == 3:
        return bytes(values.astype(f"<f{bits // 8}").tobytes())
    if bits == 8:
        return (np.rint(values * 127) + 128).astype(np.uint8).tobytes()
    whole = np.rint(values * (2 ** (bits - 1) - 1)).astype("<i8")
    packed: bytes = whole.view(np.uint8).reshape(-1, 8)[:, : bits // 8].tobytes()
    return packed


def wav(
    body: bytes,
    *,
    code: int = 1,
    channels: int = 1,
    rate: int = 16_000,
    bits: int = 16,
    extra: bytes = b"",
    extensible: bool = False,
) -> bytes:
    block = channels * bits // 8
    fmt = struct.pack(
        "<HHIIHH", 0xFFFE if extensible else code, channels, rate, rate * block & 0xFFFFFFFF, block & 0xFFFF, bits
    )
    if extensible:
        fmt += struct.pack("<HHIH", 22, bits, 0, code) + GUID_TAIL
    data = b"fmt " + struct.pack("<I", len(fmt)) + fmt + extra + b"data" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(data)) + b"WAVE" + data


def saved(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "caller.wav"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize("channels", [1, 2, 6])
@pytest.mark.parametrize(("code", "bits"), [(1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)])
def test_every_common_format_reads_as_the_same_mono_sound(
    tmp_path: Path, code: int, bits: int, channels: int, extensible: bool
) -> None:
    body = encode(np.repeat(RAMP, channels), code, bits)
    frame = read_wav(
        saved(tmp_path, wav(body, code=code, bits=bits, channels=channels, rate=44_100, extensible=extensible))
    )
    assert frame.rate == 44_100
    assert np.abs(frame.samples - RAMP * 32_768).max() <= (400 if bits == 8 else 2)


def test_channels_are_averaged(tmp_path: Path) -> None:
    body = np.array([[1_000, 3_000], [-5, 5]], "<i2").tobytes()
    assert read_wav(saved(tmp_path, wav(body, channels=2))).samples.tolist() == [2_000, 0]


def test_floats_beyond_full_scale_clip_and_no_number_is_silence(tmp_path: Path) -> None:
    for bits, big in ((32, 3e38), (64, 1e300)):
        body = np.array([2.0, -2.0, np.nan, np.inf, -np.inf, big], f"<f{bits // 8}").tobytes()
        frame = read_wav(saved(tmp_path, wav(body, code=3, bits=bits)))
        assert frame.samples.tolist() == [32_767, -32_768, 0, 32_767, -32_768, 32_767]


def test_other_parts_before_the_audio_are_skipped_with_their_padding(tmp_path: Path) -> None:
    note = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    assert read_wav(saved(tmp_path, wav(b"\x01\x00\x02\x00", extra=note))).samples.tolist() == [1, 2]


@pytest.mark.parametrize("rate", [8_000, 11_025, 192_000])
def test_a_written_frame_reads_back_bit_for_bit_at_its_own_rate(tmp_path: Path, rate: int) -> None:
    frame = Frame(np.arange(-32_768, 32_768, 7).astype(np.int16), rate)
    write_wav(tmp_path / "out.wav", frame)
    again = read_wav(tmp_path / "out.wav")
    assert again.rate == rate
    assert np.array_equal(again.samples, frame.samples)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.wav"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "out.wav").mkdir()
    with pytest.raises(WavError, match=r"out\.wav' cannot be written"):
        write_wav(tmp_path / "out.wav", Frame(np.zeros(10, np.int16), 16_000))
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.wav"]
    with pytest.raises(WavError, match="check the folder"):
        write_wav(tmp_path / "missing" / "out.wav", Frame(np.zeros(10, np.int16), 16_000))


AUDIO = b"\x01\x00" * 100
BAD = {
    "is empty": b"",
    "is not a WAV file": b"ID3" + bytes(100),
    r"is truncated: its 'data' part says 200 bytes and 150 are there": wav(AUDIO)[:-50],
    r"is truncated: its last frame has 1 of 4 bytes": wav(AUDIO + b"\0", channels=2),
    "holds no audio": wav(b""),
    "has no audio part": wav(AUDIO)[:36],
    "has its audio before its format": b"RIFF\x00\x00\x00\x00WAVEdata\x02\x00\x00\x00\x01\x00",
    r"unsupported codec \(format 0x0007, 8 bits\)": wav(AUDIO, code=7, bits=8),
    r"unsupported codec \(format 0x0001, 12 bits\)": wav(AUDIO, bits=12),
    "says it has 0 channels": wav(AUDIO, channels=0),
    "says it has 65535 channels": wav(AUDIO, channels=65_535),
    "has a rate of 7999 Hz": wav(AUDIO, rate=7_999),
    "has a rate of 192001 Hz": wav(AUDIO, rate=192_001),
    "says 3 bytes a frame": wav(AUDIO)[:32] + b"\x03\x00" + wav(AUDIO)[34:],
    "has a format part of 4 bytes": b"RIFF\x00\x00\x00\x00WAVEfmt \x04\x00\x00\x00abcd",
    "says 4294967295 bytes": wav(AUDIO)[:40] + b"\xff\xff\xff\xff" + AUDIO,
    "lasts more than 30 minutes: 1801 s": wav(bytes(8_000 * 1_800 + 1), rate=8_000, bits=8),
}


@pytest.mark.parametrize("problem", BAD)
def test_a_file_that_cannot_be_used_is_refused_in_one_sentence_with_the_fix(tmp_path: Path, problem: str) -> None:
    path = saved(tmp_path, BAD[problem])
    with pytest.raises(WavError, match=problem) as caught:
        read_wav(path)
    assert str(caught.value).startswith(f"{str(path)!r} ")
    assert caught.value.fix in str(caught.value)
    assert "\n" not in str(caught.value)


def test_exactly_thirty_minutes_are_read(tmp_path: Path) -> None:
    assert read_wav(saved(tmp_path, wav(bytes(8_000 * 1_800), rate=8_000, bits=8))).duration == 1_800


def test_what_is_not_a_file_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(WavError, match=r"regular file|cannot be read"):
            read_wav(path)
    with pytest.raises(WavError, match="does not exist"):
        read_wav(tmp_path / "missing.wav")
    with pytest.raises(WavError, match="cannot be a path"):
        read_wav("a\0b")


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(st.tuples(st.integers(0, 90), st.binary(min_size=1, max_size=4)), min_size=1, max_size=6),
    cut=st.integers(0, 120) | st.none(),
    extensible=st.booleans(),
    code=st.sampled_from([(1, 16), (1, 24), (3, 32), (3, 64)]),
)
def test_no_mutation_of_a_header_raises_anything_but_a_wav_error(
    tmp_path: Path, edits: list[tuple[int, bytes]], cut: int | None, extensible: bool, code: tuple[int, int]
) -> None:
    content = bytearray(wav(bytes(range(48)) * 2, code=code[0], bits=code[1], extensible=extensible))
    for at, new in edits:
        content[at : at + len(new)] = new
    path = saved(tmp_path, bytes(content[:cut]))
    try:
        frame = read_wav(path)
    except WavError as error:
        assert str(path) in str(error)
    else:
        assert 0 < len(frame.samples) <= len(content)
