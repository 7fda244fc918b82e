"""The page without a browser: its own tests, its generated types, and what a wheel takes along."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from voice_server.clients.schema import clients_schema

WEB = Path(__file__).parents[2] / "voice_server" / "web"
TYPES = WEB / "src" / "protocol" / "wire.ts"


@pytest.fixture
def npm() -> str:
    """Find npm, with the page's packages installed."""
    found = shutil.which("npm")
    if found is None:
        pytest.skip("the page is tested with Node: apt-get install nodejs npm")
    if not (WEB / "node_modules").is_dir():
        pytest.skip("the page's packages are not installed: make web")
    return found


def _run(npm: str, *command: str, given: str = "") -> str:
    run = subprocess.run(
        [npm, "run", "--silent", *command], cwd=WEB, input=given, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_the_types_of_the_page_are_those_of_the_schema(npm: str) -> None:
    generated = _run(npm, "types", given=json.dumps(clients_schema()))
    assert generated == TYPES.read_text(), "the protocol has changed; say: make types"


def test_the_page_s_own_tests_pass(npm: str) -> None:
    _run(npm, "test")


def test_the_page_s_types_fit(npm: str) -> None:
    _run(npm, "check")


def test_the_page_is_formatted(npm: str) -> None:
    _run(npm, "formatted")


def test_the_lock_pins_every_package_and_names_no_host() -> None:
    package = json.loads((WEB / "package.json").read_text())
    for name, version in {**package["dependencies"], **package["devDependencies"]}.items():
        assert version[0].isdigit(), f"{name} has no exact version"
    text = (WEB / "package-lock.json").read_text()
    assert "://" not in text
    packages = json.loads(text)["packages"]
    assert all("integrity" in entry for path, entry in packages.items() if path)


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_what_is_built_is_shipped_and_what_it_is_built_from_is_not_in_the_wheel(kind: str, tmp_path: Path) -> None:
    root = _checkout(tmp_path)
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    if kind == "wheel":
        (built,) = WheelBuilder(str(root)).build(directory=str(tmp_path / "out"), versions=["standard"])
        names = set(zipfile.ZipFile(built).namelist())
    else:
        (built,) = SdistBuilder(str(root)).build(directory=str(tmp_path / "out"), versions=["standard"])
        with tarfile.open(built) as archive:
            names = {name.partition("/")[2] for name in archive.getnames()}
    inside = {name.removeprefix("voice_server/web/") for name in names if name.startswith("voice_server/web/")}
    assert {"dist/index.html", "plain/index.html"} <= inside
    assert ("src/App.tsx" in inside) == (kind == "sdist")
    assert not [name for name in inside if name.startswith("node_modules")]
    if kind == "wheel":
        assert {name.partition("/")[0] for name in inside} == {"dist", "plain"}


def _checkout(tmp_path: Path) -> Path:
    """Copy what the build needs to see, with a page that was built."""
    root = tmp_path / "checkout"
    source = WEB.parents[1]
    skipped = shutil.ignore_patterns("node_modules", "dist", "__pycache__")
    shutil.copytree(WEB, root / "voice_server" / "web", ignore=skipped)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore", "CHANGELOG.md"):
        shutil.copy(source / name, root / name)
    for package in ("agents", "pipelines", "avatars", "voice_server"):
        (root / package).mkdir(exist_ok=True)
        (root / package / "__init__.py").touch()
    for made in ("dist/index.html", "node_modules/react/index.js"):
        path = root / "voice_server" / "web" / made
        path.parent.mkdir(parents=True)
        path.touch()
    return root
