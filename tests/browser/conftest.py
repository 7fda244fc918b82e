from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.browser.caller import Caller
from tests.browser.server import serve

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_WEB = _ROOT / "voice_server" / "web"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            for level in ("browser", "engine", "realtime"):
                item.add_marker(level)


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="package")
def chromium(playwright: Playwright) -> Callable[..., Browser]:
    """Launch Chromium, with what is added to its command line."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("the page is tested in Chromium: apt-get install chromium")
    # In a container the browser's own sandbox cannot be set up, and shared memory is short.
    contained = ("--no-sandbox", "--disable-dev-shm-usage")
    return lambda *flags: playwright.chromium.launch(executable_path=path, args=[*contained, *flags])


@pytest.fixture(scope="package")
def browser(chromium: Callable[..., Browser]) -> Iterator[Browser]:
    running = chromium()
    yield running
    running.close()


@pytest.fixture(scope="package")
def page_built() -> None:
    if not (_WEB / "dist" / "index.html").is_file():
        pytest.skip("the page is not built: make web")


@pytest.fixture(scope="package")
def server(page_built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the example agent, its address."""
    with serve(tmp_path_factory.mktemp("server")) as url:
        yield url


@pytest.fixture
def sit_down(browser: Browser) -> Iterator[Callable[..., Caller]]:
    """Make callers; they leave when the test is over."""
    callers: list[Caller] = []

    def sit_down(url: str, browser: Browser = browser, **how: Any) -> Caller:
        callers.append(Caller(browser, url, **how))
        return callers[-1]

    yield sit_down
    for caller in callers:
        caller.close()


@pytest.fixture(scope="package")
def axe() -> str:
    """axe-core, to be run in a page."""
    path = _WEB / "node_modules" / "axe-core" / "axe.min.js"
    if not path.is_file():
        pytest.skip("axe-core is not installed: make web")
    return path.read_text()


@pytest.fixture(scope="package")
def pictures() -> Path:
    """Where pictures are kept, to be looked at."""
    return _ROOT / "out" / "page"
