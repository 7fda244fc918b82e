from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice_server.errors import UsageError
from voice_server.records.folder import make_folder, new_folder

BEGAN = datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC)


def test_a_folder_is_named_after_its_time_and_its_conversation(tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "calls", "ann-1", BEGAN.astimezone(timezone(timedelta(hours=5))))
    assert folder == tmp_path / "calls" / "2026-03-01T12-30-05Z_ann-1"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_calls_of_one_conversation_and_second_lie_side_by_side(tmp_path: Path) -> None:
    names = {new_folder(tmp_path, "ann", BEGAN).name for _ in range(3)}
    assert names == {f"2026-03-01T12-30-05Z_ann{end}" for end in ("", "_2", "_3")}


def test_ids_that_differ_only_in_what_is_left_out_do_not_meet(tmp_path: Path) -> None:
    first, second = (new_folder(tmp_path, name, BEGAN) for name in ("a.b", "a:b"))
    assert first.name != second.name
    assert first.name.startswith("2026-03-01T12-30-05Z_ab-")


@pytest.mark.parametrize("name", ["", ".", "..", "../../etc/passwd", "/etc", "a\x00b", "C:\\x", "x" * 500, "ü/é\ud800"])
def test_no_conversation_leads_out_of_the_place(tmp_path: Path, name: str) -> None:
    folder = new_folder(tmp_path, name, BEGAN)
    assert folder.parent == tmp_path
    assert folder.resolve().parent == tmp_path.resolve()
    assert len(folder.name) < 120


@settings(deadline=None)
@given(st.text(max_size=200))
def test_whatever_a_conversation_is_called_its_name_is_plain(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    folder = new_folder(tmp_path_factory.getbasetemp() / "calls", name, BEGAN)
    assert set(folder.name) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    folder.rmdir()


def test_a_place_that_cannot_be_written_to_is_refused_with_the_option(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"--out '.*file/out': cannot write there \(Not a directory\)"):
        make_folder(tmp_path / "file" / "out", "--out")
    make_folder(tmp_path / "a" / "b", "--out")
    assert list((tmp_path / "a" / "b").iterdir()) == []
