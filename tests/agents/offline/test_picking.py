from __future__ import annotations

from datetime import datetime

import pytest

from agents.core.model import ToolSpec
from agents.desk import create
from agents.offline.model import OfflineModel
from agents.offline.picking import PLAIN, pick, pick_all

DESK = tuple(tool.spec for tool in create(OfflineModel(), now=lambda: datetime(2026, 3, 3)).tools)


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("What time is it?", "tell_time"),
        ("Could you tell me what time it is, please?", "tell_time"),
        ("What's the date today?", "tell_time"),
        ("Stop. What time is it?", "tell_time"),
        ("Do you know what time it is?", "tell_time"),
        ("What day is it?", "tell_time"),
        ("What is twelve times seven?", "calculate"),
        ("What's 12 x 7?", "calculate"),
        ("Hang on, what is twelve times seven?", "calculate"),
        ("How many ounces are in two pounds?", "calculate"),
        ("How many grams are there in five ounces?", "calculate"),
        ("Three miles in kilometers.", "calculate"),
        ("How many days are in two weeks?", "calculate"),
        ("What is a hundred and five minus twenty?", "calculate"),
        ("Can you take a message?", "take_message"),
        ("I'd like to leave a message for Laura.", "take_message"),
        ("May I leave a message?", "take_message"),
        ("What can you do?", "describe_desk"),
        ("So what can you do for me?", "describe_desk"),
        ("Tell me about yourself.", "describe_desk"),
        ("Help.", "describe_desk"),
        ("How is the weather in Rome?", None),
        ("Do you sell shoes?", None),
        ("Yes.", None),
        ("1, 4 29 7", None),
        ("I am running late.", None),
        ("Thank you.", None),
        ("", None),
    ],
)
def test_an_utterance_picks_its_tool(said: str, tool: str | None) -> None:
    picked = pick(said, DESK)
    assert (picked.tool.name if picked else None) == tool


@pytest.mark.parametrize("said", ["What time is it?", "What can you do?", "How many days are in two weeks?"])
def test_a_plain_request_is_one_of_the_examples_or_close_to_it(said: str) -> None:
    picked = pick(said, DESK)
    assert picked is not None and picked.score >= PLAIN


@pytest.mark.parametrize(
    "said", ["Please call me back.", "Tell them I will be there at five.", "The meeting is at nine."]
)
def test_the_words_of_a_message_are_no_plain_request(said: str) -> None:
    picked = pick(said, DESK)
    assert picked is None or picked.score < PLAIN


def test_a_tool_without_examples_is_found_by_its_name_and_description() -> None:
    weather = ToolSpec(name="get_weather", description="Forecast for a city.", input_schema={"type": "object"})
    picked = pick("What is the weather forecast?", [weather])
    assert picked is not None and picked.tool is weather


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("What time is it?", [("tell_time", None)]),
        (
            "I have a meeting, so could you tell me what time it is and how many minutes there are in two hours?",
            [
                ("tell_time", "could you tell me what time it is"),
                ("calculate", "how many minutes there are in two hours"),
            ],
        ),
        ("I was wondering whether you could help me with something today.", [("describe_desk", None)]),
        ("What is two, plus three?", [("calculate", "What is two, plus three?")]),
        ("What is 1,200, minus, seven?", [("calculate", "What is 1,200, minus, seven?")]),
        ("How many ounces are in two pounds and three ounces?", [("calculate", None)]),
        ("The boiler is leaking again, and the plumber came on Monday.", []),
        ("", []),
    ],
)
def test_everything_that_is_plainly_wanted_is_picked(said: str, wanted: list[tuple[str, str | None]]) -> None:
    picks = pick_all(said, DESK)
    assert [picked.tool.name for picked in picks] == [name for name, _ in wanted]
    for picked, (_, words) in zip(picks, wanted, strict=True):
        assert words is None or picked.words == words
