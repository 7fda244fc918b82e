"""In CI every level of the tests has to run: there a skip is a failure."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

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
