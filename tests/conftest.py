"""In CI every level of the tests has to run: there a skip is a failure. And what several levels run on."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.livekit.server import LiveKitServer

_CI = os.environ.get("CI") == "true"


def _refuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    if _CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped, and in CI nothing may be: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse(report)
    return report


@pytest.fixture(scope="session")
def livekit_program() -> Path:
    """LiveKit's server, to be run."""
    from tests.livekit import program

    if (found := program.find()) is None:
        pytest.skip(f"rooms are tested on LiveKit's server: {program.INSTALL}")
    return found


@pytest.fixture(scope="session")
def livekit_server(livekit_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKitServer]:
    """A LiveKit server for all: `url`, `api_key`, `api_secret`. Take a room of your own, and let it live."""
    from tests.livekit.server import LiveKitServer

    server = LiveKitServer(livekit_program, tmp_path_factory.mktemp("livekit"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def start_livekit(
    livekit_program: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., LiveKitServer]]:
    """Start LiveKit servers for one test alone, which may kill and start them; the arguments are those of the class."""
    from tests.livekit.server import LiveKitServer

    with ExitStack() as servers:

        def start(**how: Any) -> LiveKitServer:
            server = LiveKitServer(livekit_program, tmp_path_factory.mktemp("livekit"), **how)
            servers.callback(server.kill)
            server.start()
            return server

        yield start
