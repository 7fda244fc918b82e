"""The rule that nothing is skipped in CI, tried on a suite of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SUITE = """
import pytest

def test_needs_something():
    pytest.skip("no such thing here: apt-get install thing")

@pytest.mark.xfail(strict=True)
def test_known_to_fail():
    assert False
"""
_MODULE = """
import pytest

pytest.importorskip("a_module_nobody_has")
"""


def _run(suite: str, folder: Path, ci: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (folder / "test_it.py").write_text(suite)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", str(folder)]
    return subprocess.run(
        command,
        env={**os.environ, "CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )


def test_a_skip_fails_in_ci_and_says_why(tmp_path: Path) -> None:
    run = _run(_SUITE, tmp_path, "true")
    assert run.returncode == 1
    assert "1 failed, 1 xfailed" in run.stdout
    assert "apt-get install thing" in run.stdout


def test_a_skip_is_a_skip_elsewhere(tmp_path: Path) -> None:
    run = _run(_SUITE, tmp_path, "")
    assert run.returncode == 0
    assert "1 skipped, 1 xfailed" in run.stdout


@pytest.mark.parametrize(("ci", "status"), [("true", 2), ("", 5)])
def test_a_module_that_skips_itself_counts_too(tmp_path: Path, ci: str, status: int) -> None:
    assert _run(_MODULE, tmp_path, ci).returncode == status
