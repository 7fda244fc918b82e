"""WAV files: read whatever people record into mono 16-bit frames, write frames so that no half file is ever seen."""

from __future__ import annotations

import math
import os
import secrets
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from pipelines.audio.frame import Frame, Samples
from pipelines.audio.resample import HIGHEST_RATE, LOWEST_RATE

__all__ = ["LARGEST_BYTES", "LONGEST_SECONDS", "WavError", "read_wav", "wav_header", "write_wav"]

LARGEST_BYTES = 0xFFFFFFFF - 36
"""Of audio in one file: its sizes are written in 32 bits."""

LONGEST_SECONDS = 30 * 60
"""Seconds of the longest recording that is read."""

_MOST_CHANNELS = 64
_MOST_CHUNKS = 1024
"""Chunks before the audio; a file that has more is not a recording."""

_BLOCK_BYTES = 1 << 20
"""How much of a file is converted at a time: bounds what is held beside the result."""

_PCM, _FLOAT, _EXTENSIBLE = 0x0001, 0x0003, 0xFFFE
_SUBFORMAT_TAIL = bytes.fromhex("000000001000800000aa00389b71")
"""The fixed part of an extensible format's GUID; its first two bytes are the plain format code."""

_CONVERT = "convert it, for example with `ffmpeg -i IN -c:a pcm_s16le OUT.wav`"
_RECORD_AGAIN = "record or export it again"


class WavError(Exception):
    """A file that cannot be used as a recording."""

    def __init__(self, path: str | os.PathLike[str], problem: str, fix: str) -> None:
        super().__init__(path, problem, fix)
        self.path = Path(path)
        self.problem = problem
        """What is wrong, as the rest of a sentence that begins with the file."""
        self.fix = fix
        """What to do about it, as a clause."""

    def __str__(self) -> str:
        return f"{str(self.path)!r} {self.problem}: {self.fix}"


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a file's samples lie."""

    code: int
    channels: int
    rate: int
    bits: int

    @property
    def frame_bytes(self) -> int:
        return self.channels * self.bits // 8


def read_wav(path: str | os.PathLike[str]) -> Frame:
    """Read a recording as mono int16 at its own rate.

    Integer PCM of 8, 16, 24 and 32 bits and floats of 32 and 64 bits are taken, of any number of channels up to 64
    (averaged) and any rate from 8 to 192 kHz.

    Raises:
        WavError: the file is missing, empty, truncated, not a WAV, longer than 30 minutes or of a format not taken.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # O_NONBLOCK: a pipe must not hang us
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise WavError(path, "is not a regular file", "give the path of a WAV file")
            return _read(path, file, status.st_size)
    except FileNotFoundError:
        raise WavError(path, "does not exist", "check the path") from None
    except ValueError as error:
        raise WavError(path, f"cannot be a path ({error})", "check the path") from None
    except OSError as error:
        raise WavError(
            path, f"cannot be read ({error.strerror or error})", "check the path and its permissions"
        ) from None


def _read(path: str | os.PathLike[str], file: BinaryIO, size: int) -> Frame:
    if size == 0:
        raise WavError(path, "is empty", _RECORD_AGAIN)
    head = file.read(12)
    if len(head) < 12 or head[:4] != b"RIFF" or head[8:] != b"WAVE":
        raise WavError(path, "is not a WAV file (no RIFF/WAVE header)", _CONVERT)
    layout: _Layout | None = None
    for _ in range(_MOST_CHUNKS):
        header = file.read(8)
        if len(header) < 8:
            break
        name, length = header[:4], int.from_bytes(header[4:], "little")
        left = size - file.tell()
        if length > left:
            raise WavError(
                path,
                f"is truncated: its {_printable(name)} part says {length} bytes and {left} are there",
                _RECORD_AGAIN,
            )
        if name == b"data":
            return _read_samples(path, file, length, layout)
        if name == b"fmt ":
            layout = _layout(path, file.read(min(length, 40)))
            length -= min(length, 40)
        file.seek(length + (header[4] & 1), os.SEEK_CUR)  # chunks are padded to even lengths
    raise WavError(path, "has no audio part", _RECORD_AGAIN)


def _layout(path: str | os.PathLike[str], chunk: bytes) -> _Layout:
    if len(chunk) < 16:
        raise WavError(path, f"has a format part of {len(chunk)} bytes where at least 16 are needed", _RECORD_AGAIN)
    code, channels, rate, _, frame_bytes, bits = struct.unpack("<HHIIHH", chunk[:16])
    if code == _EXTENSIBLE and len(chunk) >= 40 and chunk[26:40] == _SUBFORMAT_TAIL:
        code = int.from_bytes(chunk[24:26], "little")
    if (code, bits) not in _DECODERS:
        raise WavError(path, f"has an unsupported codec (format 0x{code:04x}, {bits} bits)", _CONVERT)
    if not 1 <= channels <= _MOST_CHANNELS:
        raise WavError(path, f"says it has {channels} channels where 1 to {_MOST_CHANNELS} are taken", _CONVERT)
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise WavError(
            path, f"has a rate of {rate} Hz where {LOWEST_RATE} to {HIGHEST_RATE} are taken", "convert it to 16000 Hz"
        )
    layout = _Layout(code, channels, rate, bits)
    if frame_bytes != layout.frame_bytes:
        raise WavError(
            path, f"says {frame_bytes} bytes a frame where its format takes {layout.frame_bytes}", _RECORD_AGAIN
        )
    return layout


def _read_samples(path: str | os.PathLike[str], file: BinaryIO, length: int, layout: _Layout | None) -> Frame:
    if layout is None:
        raise WavError(path, "has its audio before its format", _RECORD_AGAIN)
    count, rest = divmod(length, layout.frame_bytes)
    if rest:
        raise WavError(path, f"is truncated: its last frame has {rest} of {layout.frame_bytes} bytes", _RECORD_AGAIN)
    if count == 0:
        raise WavError(path, "holds no audio", _RECORD_AGAIN)
    if count > LONGEST_SECONDS * layout.rate:
        raise WavError(
            path,
            f"lasts more than {LONGEST_SECONDS // 60} minutes: {math.ceil(count / layout.rate)} s",
            "cut it",
        )
    samples = np.empty(count, np.int16)
    step = max(1, _BLOCK_BYTES // layout.frame_bytes)
    for start in range(0, count, step):
        block = file.read(min(step, count - start) * layout.frame_bytes)
        frames = len(block) // layout.frame_bytes
        if frames < min(step, count - start):
            raise WavError(path, "is truncated: it became shorter while it was read", _RECORD_AGAIN)
        samples[start : start + frames] = _mono(block, layout)
    return Frame(samples, layout.rate)


def _mono(block: bytes, layout: _Layout) -> Samples:
    values = _DECODERS[layout.code, layout.bits](block)
    if layout.channels > 1:
        values = values.reshape(-1, layout.channels).mean(axis=1)
    np.nan_to_num(values, copy=False, nan=0.0, posinf=32767.0, neginf=-32768.0)
    mono: Samples = np.clip(np.rint(values), -32768, 32767).astype(np.int16)
    return mono


_Values = npt.NDArray[np.float32]


def _int8(block: bytes) -> _Values:
    return (np.frombuffer(block, np.uint8).astype(np.float32) - 128.0) * 256.0  # 8-bit WAVs are unsigned


def _int16(block: bytes) -> _Values:
    return np.frombuffer(block, "<i2").astype(np.float32)


def _int24(block: bytes) -> _Values:
    wide = np.zeros((len(block) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(block, np.uint8).reshape(-1, 3)
    return wide.view("<i4")[:, 0].astype(np.float32) / 65536.0


def _int32(block: bytes) -> _Values:
    return np.frombuffer(block, "<i4").astype(np.float32) / 65536.0


def _float32(block: bytes) -> _Values:
    return _from_unit(np.frombuffer(block, "<f4").astype(np.float32))


def _float64(block: bytes) -> _Values:
    return _from_unit(np.clip(np.frombuffer(block, "<f8"), -2.0, 2.0).astype(np.float32))


def _from_unit(values: _Values) -> _Values:
    # Clipped first: a hostile float times full scale would overflow, and warnings are errors to some callers.
    return np.clip(values, -2.0, 2.0) * np.float32(32768.0)


_DECODERS = {
    (_PCM, 8): _int8,
    (_PCM, 16): _int16,
    (_PCM, 24): _int24,
    (_PCM, 32): _int32,
    (_FLOAT, 32): _float32,
    (_FLOAT, 64): _float64,
}
"""(format code, bits) to a function that gives float32 in int16's scale, channels interleaved."""


def _printable(name: bytes) -> str:
    return repr(name.decode("ascii", "replace"))


def wav_header(rate: int, audio_bytes: int) -> bytes:
    """Make what comes before the samples of a mono 16-bit WAV: 44 bytes.

    Args:
        rate: hertz.
        audio_bytes: how much audio follows, at most ``LARGEST_BYTES``.
    """
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + audio_bytes, b"WAVE"),
        *(b"fmt ", 16, _PCM, 1, rate, rate * 2, 2, 16),
        *(b"data", audio_bytes),
    )


def write_wav(path: str | os.PathLike[str], frame: Frame) -> None:
    """Write a frame as a mono 16-bit WAV; the file appears whole or not at all.

    Raises:
        WavError: the file cannot be written there, or the audio is longer than the format can say.
    """
    body = frame.samples.astype("<i2", copy=False)
    if body.nbytes > LARGEST_BYTES:
        raise WavError(path, "would be larger than 4 GiB", "write it in parts")
    target = Path(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as file:
            file.write(wav_header(frame.rate, body.nbytes))
            body.tofile(file)
        os.replace(part, target)
    except OSError as error:
        raise WavError(
            path, f"cannot be written ({error.strerror or error})", "check the folder and its permissions"
        ) from None
    finally:
        part.unlink(missing_ok=True)
