from __future__ import annotations

from pathlib import Path

import pytest

from tests.livekit import program


@pytest.fixture(autouse=True)
def _empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def _install_go(folder: Path, script: str) -> None:
    go = folder / "bin" / "go"
    go.parent.mkdir()
    go.write_text(f"#!/bin/sh\n{script}\n")
    go.chmod(0o755)


def test_without_go_it_is_said_what_else_will_do() -> None:
    assert program.find() is None
    with pytest.raises(program.BuildError) as caught:
        program.build()
    for way in ("golang-go", "brew install livekit", "docker run", "LiveKit Cloud", "LIVEKIT_URL"):
        assert way in str(caught.value)


def test_what_was_built_is_found_and_not_built_again(tmp_path: Path) -> None:
    _install_go(
        tmp_path, 'test "$1" = env && echo go1.26.8 && exit; : > "$GOBIN/server"; /bin/chmod +x "$GOBIN/server"'
    )
    built = program.build()
    assert built == program.find() == tmp_path / "cache" / "glove-voice" / f"livekit-{program.VERSION}" / "server"
    (tmp_path / "bin" / "go").unlink()
    assert program.build() == built
    assert [path.name for path in built.parent.iterdir()] == ["server"]


def test_a_build_that_fails_says_how_and_leaves_nothing(tmp_path: Path) -> None:
    _install_go(tmp_path, 'test "$1" = env && echo go1.26.8 && exit; echo "dial: no route to host" >&2; exit 1')
    with pytest.raises(program.BuildError, match="go install says: dial: no route to host"):
        program.build()
    assert program.find() is None
    assert list(program.cache().iterdir()) == []
