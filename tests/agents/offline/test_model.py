from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from agents.core.glove import Glove
from agents.core.messages import ToolResultData
from agents.core.tools import Tool, ToolContext
from agents.offline.model import OfflineModel
from agents.offline.saying import DROPPED
from tests.agents.core.scenes import Anything, outline


class Nothing(BaseModel):
    pass


class Booking(BaseModel):
    people: int | None = None
    outside: bool | None = None


def saying(data: Any, name: str = "tell_secret", example: str = "what is the secret") -> Tool:
    return Tool(name=name, description="", input=Nothing, do=lambda given, ctx: data, examples=(example,))


def booking() -> Tool:
    def do(given: Booking, ctx: ToolContext) -> dict[str, Any]:
        if given.people is None:
            return {"ask": "For how many people?", "field": "people"}
        if given.outside is None:
            return {"ask": "Outside?", "field": "outside"}
        return {"say": f"A table for {given.people}, {'outside' if given.outside else 'inside'}."}

    return Tool(name="book", description="", input=Booking, do=do, examples=("book a table",))


async def converse(glove: Glove, *lines: str) -> list[str]:
    replies = []
    for line in lines:
        request = glove.begin(line)
        await request.run()
        replies.append(" ".join(message.text.strip() for message in request.replies if message.text))
    return replies


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"say": "It is seven.", "value": 7}, "It is seven."),
        ("seven", "Seven."),
        (7, "7."),
        (True, "Yes."),
        (None, "Done."),
        ([], "Done."),
        (["red", "blue"], "Red, blue."),
        ({"room_number": 7, "key": None, "free": False}, "Room number: 7, key: nothing, free: no."),
        (ToolResultData(status="error", message="The safe is locked"), "That did not work. The safe is locked."),
    ],
)
async def test_a_result_is_said(data: Any, said: str) -> None:
    glove = Glove(model=OfflineModel()).fold(saying(data))
    assert await converse(glove, "What is the secret?") == [said]


async def test_questions_are_walked_one_by_one_from_the_history_alone() -> None:
    glove = Glove(model=OfflineModel()).fold(booking())
    assert await converse(glove, "Book a table", "four", "yes please") == [
        "For how many people?",
        "Outside?",
        "A table for 4, outside.",
    ]
    glove.model = OfflineModel()
    assert await converse(glove, "Book a table") == ["For how many people?"]
    glove.model = OfflineModel()
    assert await converse(glove, "two") == ["Outside?"]


async def test_what_is_not_understood_is_asked_again() -> None:
    glove = Glove(model=OfflineModel()).fold(booking())
    assert await converse(glove, "Book a table", "banana", "four") == [
        "For how many people?",
        "Sorry, I did not get that. For how many people?",
        "Outside?",
    ]


async def test_a_new_request_is_answered_first_and_the_question_asked_again() -> None:
    glove = Glove(model=OfflineModel()).fold(booking(), saying("seven"))
    assert await converse(glove, "Book a table", "what is the secret?", "four") == [
        "For how many people?",
        "Seven. For how many people?",
        "Outside?",
    ]
    assert outline(await glove.store.get_messages())[4:10] == [
        "user: what is the secret?",
        "agent:  +tell_secret",
        "results tell_secret=success",
        "agent: Seven.  +book",
        "results book=success",
        "agent: For how many people?",
    ]


async def test_a_stop_is_no_answer_and_the_question_is_asked_again_without_blame() -> None:
    glove = Glove(model=OfflineModel()).fold(booking())
    assert await converse(glove, "Book a table", "Stop.", "four") == [
        "For how many people?",
        "All right. For how many people?",
        "Outside?",
    ]


async def test_a_value_the_tool_refuses_is_asked_for_again() -> None:
    def do(given: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        if "people" not in given:
            return {"ask": "For how many people?", "field": "people"}
        if given["people"] > 8:
            raise ValueError("too many")
        return {"say": "Booked."}

    schema = {"type": "object", "properties": {"people": {"type": "integer"}}}
    tool = Tool(name="book", description="", input=schema, do=do, examples=("book a table",))
    glove = Glove(model=OfflineModel()).fold(tool)
    assert await converse(glove, "Book a table", "ninety", "four") == [
        "For how many people?",
        "Sorry, I did not get that. For how many people?",
        "Booked.",
    ]


async def test_a_question_may_be_dropped() -> None:
    glove = Glove(model=OfflineModel()).fold(booking())
    assert await converse(glove, "Book a table", "Never mind.", "hello") == [
        "For how many people?",
        "All right, I have dropped that.",
        "Hello. What can I do for you?",
    ]


async def test_it_says_what_it_is_and_what_it_can_do() -> None:
    glove = Glove(model=OfflineModel()).fold(booking(), saying(1))
    (said,) = await converse(glove, "How is the weather?")
    assert "not a language model" in said and "book a table" in said and "what is the secret" in said


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Hello.", "Hello. What can I do for you?"),
        ("Thanks, that's all.", "You are welcome."),
        ("Goodbye.", "Goodbye."),
        ("Stop.", "All right."),
        ("Okay, hang on.", "All right."),
        ("Yes.", "All right."),
    ],
)
async def test_courtesies_are_returned(said: str, answer: str) -> None:
    assert await converse(Glove(model=OfflineModel()), said) == [answer]


async def test_without_tools_it_says_so() -> None:
    (said,) = await converse(Glove(model=OfflineModel()), "Book a table")
    assert "no tools" in said


async def test_a_call_that_needs_leave_is_asked_for_and_made_again_after_a_yes() -> None:
    tool = Tool(
        name="book_table",
        description="Books.",
        input=Anything,
        do=lambda given, ctx: {"say": "Booked."},
        requires_permission=True,
        permission_question="Shall I book it?",
        examples=("book a table",),
    )
    glove = Glove(model=OfflineModel()).fold(tool)
    said = ("Book a table", "Thank you very much", "Book a table", "Yes please", "Book a table")
    answers = [(await glove.process_request(words)).text for words in said]
    assert answers == ["Shall I book it?", "You are welcome.", "Shall I book it?", "Booked.", "Booked."]
    refused = Glove(model=OfflineModel()).fold(tool)
    answers = [(await refused.process_request(words)).text for words in ("Book a table", "No", "Book a table")]
    assert answers[:2] == ["Shall I book it?", DROPPED] and "does not allow" in answers[2]


async def test_a_late_result_is_said_and_a_running_call_can_be_stopped_in_words() -> None:
    free, started = asyncio.Event(), asyncio.Event()

    async def do(given: Anything, ctx: ToolContext) -> dict[str, str]:
        started.set()
        await free.wait()
        return {"say": "There are three flights."}

    search = Tool(name="search", description="Searches.", input=Anything, do=do, examples=("search for flights",))
    for words, answer, last in (
        ("Thank you", "You are welcome.", "There are three flights."),
        ("Never mind that", "All right, I have stopped that.", "All right, I have stopped that."),
    ):
        free.clear()
        started.clear()
        glove = Glove(model=OfflineModel()).fold(search)
        first = asyncio.ensure_future(glove.process_request("Search for flights"))
        await asyncio.wait_for(started.wait(), 5)
        assert (await glove.process_request(words)).text == answer
        await first
        free.set()
        await glove.errands.drain()
        assert (await glove.store.get_messages())[-1].text == last
