from datetime import UTC, datetime
from typing import Any

import pytest

from agents.context.mount import use_context
from agents.context.notes import MemoryContext
from agents.core.selection import ToolSelection
from agents.models.scripted import ScriptedCall
from tests.agents.core.scenes import Diary, talking


def _call(tool: str, **given: Any) -> ScriptedCall:
    return ScriptedCall(name=f"glove_context_{tool}", input=given)


def _now() -> datetime:
    return datetime(2026, 11, 2, tzinfo=UTC)


async def test_a_note_is_shown_from_the_next_model_call_on_and_never_stored() -> None:
    glove, model = talking([_call("set", section="food", content="No meat.")], "Noted.", "Tofu.")
    use_context(glove, MemoryContext(), now=_now)
    await glove.process_request("I eat no meat")
    await glove.process_request("What is there?")
    shown = [
        any(message.text == "[User context]\n## Food\nNo meat." for message in request.messages)
        for request in model.requests
    ]
    assert shown == [False, True, True]
    assert not any("[User context]" in message.text for message in await glove.store.get_messages())


async def test_notes_outlive_the_conversation_they_were_made_in() -> None:
    kept = MemoryContext()
    first, _ = talking([_call("set", section="food", content="No meat.")], "Noted.")
    use_context(first, kept, now=_now)
    await first.process_request("I eat no meat")
    second, model = talking("Tofu.")
    use_context(second, kept, now=_now)
    await second.process_request("What is there?")
    assert any("No meat." in message.text for message in model.requests[0].messages)


async def test_a_model_reads_changes_and_forgets_notes_by_id() -> None:
    glove, _ = talking(
        [_call("set", section="food", content="No meat.", pinned=False)],
        "Noted.",
    )
    diary = Diary()
    glove.add_subscriber(diary)
    kept = MemoryContext()
    writer = use_context(glove, kept, now=_now)
    await glove.process_request("I eat no meat")
    entry = diary.of("tool_use_result")[0]["result"].data["entry"]
    assert set(entry) == {"section", "content", "pinned", "links", "id"}

    again, _ = talking(
        [_call("get")],
        [_call("update", id=entry["id"], patch={"content": "No fish."})],
        [_call("unset", section="food")],
        "Done.",
    )
    again.add_subscriber(diary)
    use_context(again, kept, now=_now)
    await again.process_request("Forget it")
    read, updated, done = (data["result"].data for data in diary.of("tool_use_result")[1:])
    assert read == {"entries": [entry]}
    assert updated["entry"]["content"] == "No fish."
    assert done == {"done": True}
    assert await writer.entries() == []


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (_call("update", id="nothing", patch={"pinned": True}), "entry_not_found"),
        (_call("unset", id="nothing"), "entry_not_found"),
        (_call("unset"), None),
        (_call("unset", id="a", section="b"), None),
        (_call("set", section="food", content="x", namespace="somebody else"), None),
    ],
)
async def test_what_a_model_gets_wrong_is_an_error_it_can_act_on(call: ScriptedCall, code: str | None) -> None:
    glove, _ = talking([call], "Sorry.")
    diary = Diary()
    glove.add_subscriber(diary)
    use_context(glove, MemoryContext(), now=_now)
    await glove.process_request("Do it")
    result = diary.of("tool_use_result")[0]["result"]
    assert result.status == "error"
    assert code is None or result.data["code"] == code


async def test_an_agent_may_be_let_to_read_only() -> None:
    glove, _ = talking()
    use_context(glove, MemoryContext(), tools=ToolSelection(allow=("get",)))
    assert [tool.name for tool in glove.tools] == ["glove_context_get"]
