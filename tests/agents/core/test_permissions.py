from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agents.core.abort import AbortSignal
from agents.core.errors import AbortError
from agents.core.glove import Glove
from agents.core.permissions import PERMISSION_RENDERER
from agents.display import DisplayManager, Slot
from agents.models.scripted import ScriptedCall
from agents.stores.memory import MemoryStore
from tests.agents.core.scenes import Diary, asking, outline, talking


class Screen(DisplayManager):
    """A person in front of a screen who answers every slot in the same way."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.asked: list[Slot] = []
        self._answer = answer
        self.add_listener(self._look)

    def _look(self, slots: tuple[Slot, ...]) -> None:
        for slot in slots:
            self.asked.append(slot)
            self.resolve(slot.id, self._answer)


def book(word: Any = "Rome") -> ScriptedCall:
    return ScriptedCall(name="book", input={"word": word})


def rounds(messages: Any) -> list[str]:
    return [line for line in outline(messages) if line.startswith("results")]


async def refusal(glove: Glove, said: str = "Go") -> Any:
    """What the first refused call of a request was told."""
    diary = Diary()
    leave = glove.add_subscriber(diary)
    await glove.process_request(said)
    leave()
    return diary.of("tool_use_result")[0]["result"]


@pytest.mark.parametrize(
    ("answer", "status"), [(True, "success"), ("yes", "success"), (False, "error"), (None, "error")]
)
async def test_leave_is_asked_once_per_tool_and_input_and_remembered(answer: Any, status: str) -> None:
    screen = Screen(answer)
    glove, _ = talking([book(), book()], [book("Oslo")], "Done.", [book()], "Done.", tools=(asking(),), display=screen)
    await glove.process_request("Go")
    await glove.process_request("Again")
    assert rounds(await glove.store.get_messages()) == [
        f"results book={status},book={status}",
        f"results book={status}",
        f"results book={status}",
    ]
    assert [(slot.renderer, dict(slot.input)) for slot in screen.asked] == [
        (PERMISSION_RENDERER, {"toolName": "book", "toolInput": {"word": word}}) for word in ("Rome", "Oslo")
    ]


async def test_leave_is_asked_with_the_raw_input_before_it_is_checked() -> None:
    screen = Screen(True)
    glove, _ = talking([book(7)], "Done.", tools=(asking(),), display=screen)
    result = await refusal(glove)
    assert screen.asked[0].input["toolInput"] == {"word": 7}
    assert result.message == "TOOL_INPUT_INVALID"


async def test_a_function_decides_by_input_and_one_that_fails_wants_leave() -> None:
    screen = Screen(True)
    tool = asking(requires_permission=lambda given: given["word"].startswith("R"))
    glove, _ = talking([book("Oslo"), book(), book(7)], "Done.", tools=(tool,), display=screen)
    await glove.process_request("Go")
    assert [slot.input["toolInput"]["word"] for slot in screen.asked] == ["Rome", 7]


async def test_where_nobody_has_a_screen_it_is_refused_with_the_reason() -> None:
    glove, _ = talking([book()], "Done.", tools=(asking(),))
    result = await refusal(glove)
    assert result.status == "error" and "nobody has a screen" in result.message


async def test_by_voice_the_next_words_decide_and_the_model_cannot_give_itself_leave() -> None:
    tool = asking(permission_question=lambda given: f"Shall I book {given['word']}?")
    glove, _ = talking(
        [book()],
        [book()],
        "Shall I book Rome?",
        [book()],
        "Done.",
        [book("Oslo")],
        "Shall I book Oslo?",
        [book("Oslo")],
        "Shall I book Oslo?",
        [book("Oslo")],
        "Not done.",
        tools=(tool,),
    )
    asked = await refusal(glove)
    assert (asked.status, asked.data) == ("error", {"ask": "Shall I book Rome?"})
    assert glove.expectation is not None and glove.expectation.kind == "yes_no"
    for said in ("Yes.", "Now to Oslo", "What time is it?", "No."):
        await glove.process_request(said)
    assert rounds(await glove.store.get_messages()) == [
        "results book=error",
        "results book=error",
        "results book=success",
        "results book=error",
        "results book=error",
        "results book=error",
    ]
    assert await glove.store.get_permission("book", {"word": "Oslo"}) == "denied"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("reply", "heard", "status"),
    [
        ("Shall I book Rome?", "Shall I book Rome?", "granted"),
        ("Shall I book Rome?", "Shall I book Rome", "granted"),
        ("Well. Shall I book Rome? It is far.", "Well. Shall I book Rome?", "granted"),
        ("May I go on and do that?", "May I go on and do that?", "granted"),
        ("Shall I book Rome?", "Shall I book", "unset"),
        ("Shall I book Rome?", "", "unset"),
        ("Is it you? May I go on and do that?", "Is it you? May I go", "unset"),
        ("That cannot be done.", "That cannot be done.", "unset"),
    ],
)
async def test_by_voice_a_yes_is_an_answer_only_when_the_question_was_heard(
    reply: str, heard: str, status: str
) -> None:
    tool = asking(permission_question=lambda given: f"Shall I book {given['word']}?")
    glove, _ = talking([book()], reply, "Well.", tools=(tool,))
    asked = glove.begin("Book Rome", spoken=True)
    await asked.run()
    await asked.settle(heard, interrupted=heard != reply)
    await glove.begin("Yes.", spoken=True).run()
    assert await glove.store.get_permission("book", {"word": "Rome"}) == status  # type: ignore[attr-defined]


async def test_by_voice_words_that_come_before_the_question_is_settled_decide_nothing() -> None:
    glove, _ = talking([book()], "Shall I book it?", "Well.", tools=(asking(permission_question="Shall I book it?"),))
    await glove.begin("Book Rome", spoken=True).run()
    await glove.process_request("Yes.")
    assert await glove.store.get_permission("book", {"word": "Rome"}) == "unset"  # type: ignore[attr-defined]


async def test_a_question_heard_of_a_reply_that_was_stopped_behind_it_is_answered_by_a_yes() -> None:
    tool = asking(permission_question="Shall I book it?")
    glove, _ = talking([book()], ["Shall I book it? It is ", asyncio.Event().wait], "Well.", tools=(tool,))
    signal = AbortSignal()
    request = glove.begin("Book Rome", signal=signal, spoken=True)
    running = asyncio.ensure_future(request.run())
    for _ in range(20):
        await asyncio.sleep(0)
    signal.abort()
    await asyncio.gather(running, return_exceptions=True)
    await request.settle("Shall I book it? It", interrupted=True)
    await glove.begin("Yes.", spoken=True).run()
    assert await glove.store.get_permission("book", {"word": "Rome"}) == "granted"  # type: ignore[attr-defined]


async def test_an_earlier_reply_that_is_settled_late_has_not_put_the_question() -> None:
    tool = asking(permission_question="Shall I book it?")
    glove, _ = talking("How are you?", [book()], "Shall I book it?", "Well.", tools=(tool,))
    earlier = glove.begin("Hello", spoken=True)
    await earlier.run()
    await glove.begin("Book Rome", spoken=True).run()
    await earlier.settle("How are you?", interrupted=False)
    await glove.process_request("Yes.")
    assert await glove.store.get_permission("book", {"word": "Rome"}) == "unset"  # type: ignore[attr-defined]


async def test_a_store_without_permissions_lets_everything_through() -> None:
    class Plain:
        def __init__(self) -> None:
            self._store = MemoryStore()

        def __getattr__(self, name: str) -> Any:
            if "permission" in name:
                raise AttributeError(name)
            return getattr(self._store, name)

    glove, _ = talking([book()], "Done.", tools=(asking(),), store=Plain())
    await glove.process_request("Go")
    assert rounds(await glove.store.get_messages()) == ["results book=success"]


async def test_an_abort_takes_the_question_off_the_screen() -> None:
    display = DisplayManager()
    shown = asyncio.Event()
    display.add_listener(lambda slots: shown.set())
    glove, _ = talking([book()], tools=(asking(),), display=display)
    signal = AbortSignal()
    running = asyncio.ensure_future(glove.process_request("Go", signal))
    await shown.wait()
    signal.abort()
    with pytest.raises(AbortError):
        await running
    assert display.slots == () and not display.blocked
    assert rounds(await glove.store.get_messages()) == ["results book=aborted"]


async def test_a_screen_that_goes_away_decides_nothing_and_nobody_hangs() -> None:
    display = DisplayManager()
    glove, _ = talking([book()], "Done.", tools=(asking(),), display=display)
    display.add_listener(lambda slots: setattr(glove, "display", None) if slots else None)
    result = await refusal(glove)
    assert result.status == "error" and "the screen went away" in result.message
    assert await glove.store.get_permission("book", {"word": "Rome"}) == "unset"  # type: ignore[attr-defined]
