from __future__ import annotations

import pytest

from agents.core.heard import apportion


@pytest.mark.parametrize(
    ("texts", "heard", "shares"),
    [
        ([], "", []),
        (["one two"], "one", [("one", False)]),
        (["one two. ", "three"], "one two.", [("one two.", True), ("", False)]),
        (["one two. ", "three"], "one two. th", [("one two. ", True), ("th", False)]),
        (["one", "", "two"], "onetwo", [("one", True), ("", True), ("two", True)]),
        (["one"], "one and more", [("one", True)]),
    ],
)
def test_the_heard_prefix_is_laid_over_the_texts(texts: list[str], heard: str, shares: list[tuple[str, bool]]) -> None:
    assert apportion(texts, heard) == shares
