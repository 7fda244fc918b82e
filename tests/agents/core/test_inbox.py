from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agents.core.compaction import Compaction
from agents.core.inbox import INBOX_TOOL
from agents.core.store import InboxItem
from agents.models.scripted import ScriptedCall
from agents.stores.memory import MemoryStore
from tests.agents.core.scenes import echo, outline, talking

THEN = datetime(2026, 3, 3, 9, 41, tzinfo=UTC)


async def posted(store: MemoryStore, tag: str, *, blocking: bool = False) -> InboxItem:
    item = InboxItem(id=tag, tag=tag, request=f"Please {tag}", blocking=blocking, created_at=THEN)
    await store.add_inbox_item(item)
    return item


async def answer(store: MemoryStore, tag: str) -> None:
    await store.update_inbox_item(tag, status="resolved", response=f"{tag} done", resolved_at=THEN)


async def test_the_model_posts_and_reads_the_answer_before_a_later_message_once() -> None:
    store = MemoryStore()
    call = ScriptedCall(name=INBOX_TOOL, input={"tag": "refund", "request": "Refund it"})
    glove, model = talking([call], "Asked.", "It is refunded.", "Yes.", store=store, framework_tools=None)
    await glove.process_request("Refund, please")
    (item,) = await store.get_inbox_items()
    assert (item.tag, item.request, item.blocking, item.status) == ("refund", "Refund it", False, "pending")
    await store.update_inbox_item(item.id, status="resolved", response="Done", resolved_at=THEN)
    for said in ("Well?", "Sure?"):
        await glove.process_request(said)
    told = "[inbox] [Inbox: 1 item(s) resolved]\n- refund: Refund it\n  Answer (2026-03-03T09:41+00:00): Done"
    assert outline(model.requests[2].messages)[-2:] == [told, "user: Well?"]
    assert outline(model.requests[3].messages).count(told) == 1
    assert (await store.get_inbox_items())[0].status == "consumed"


async def test_all_answers_come_in_one_message_and_a_crash_before_they_are_marked_does_not_repeat_it() -> None:
    class Crashing(MemoryStore):
        crash = True

        async def update_inbox_item(self, item_id: str, **changes: Any) -> InboxItem:
            if self.crash and changes.get("status") == "consumed":
                raise RuntimeError("killed")
            return await super().update_inbox_item(item_id, **changes)

    store = Crashing()
    for tag in ("a", "b"):
        await posted(store, tag)
        await answer(store, tag)
    glove, _ = talking("Yes.", store=store)
    with pytest.raises(RuntimeError, match="killed"):
        await glove.process_request("Hello")
    store.crash = False
    await glove.process_request("Hello again")
    inbox = [message.text for message in await store.get_messages() if message.framework_context == "inbox"]
    assert len(inbox) == 1 and "2 item(s)" in inbox[0] and "a done" in inbox[0] and "b done" in inbox[0]


async def test_what_blocks_is_reminded_of_behind_the_results_and_never_stored() -> None:
    store = MemoryStore()
    await posted(store, "stock", blocking=True)
    await posted(store, "survey")
    glove, model = talking([ScriptedCall(name="echo")], "Done.", store=store, tools=(echo(),))
    glove.add_context_provider(lambda signal: "It rains.")
    await glove.process_request("Go")
    for request in model.requests:
        *_, reminder, context = outline(request.messages)
        assert reminder.startswith("[inbox] These requests are not answered yet")
        assert "stock, blocking, posted 2026-03-03T09:41+00:00: Please stock" in reminder and "survey" not in reminder
        assert context == "[runtime] It rains."
    assert outline(model.requests[1].messages)[2] == "results echo=success"
    assert not any(message.framework_context for message in await store.get_messages())


async def test_inbox_messages_do_not_move_the_boundary_of_summaries() -> None:
    store = MemoryStore()
    glove, model = talking("One.", "Two.", store=store, enable_tool_result_summary=True)
    await glove.process_request("a")
    await posted(store, "x")
    await answer(store, "x")
    await glove.process_request("b")
    assert [message.from_person for message in model.requests[1].messages] == [True, False, False, True]


async def test_a_summary_names_what_is_not_answered_and_the_inbox_survives_it() -> None:
    store = MemoryStore()
    await posted(store, "stock", blocking=True)
    await posted(store, "survey")
    glove, model = talking("One.", "Agreed.", "Two.", store=store, compaction=Compaction(instructions="Sum up."))
    await glove.process_request("a")
    await glove.force_compaction()
    await glove.process_request("b")
    summary = model.requests[2].messages[0].text
    assert "- stock, blocking" in summary and "- survey, posted" in summary
    assert len(await store.get_inbox_items("pending")) == 2


async def test_a_post_that_says_nothing_is_refused() -> None:
    call = ScriptedCall(name=INBOX_TOOL, input={"tag": "", "request": ""})
    glove, model = talking([call], "Sorry.", framework_tools=None)
    await glove.process_request("Go")
    (result,) = [r.result for m in model.requests[1].messages for r in m.tool_results]
    assert set(result.data["problems"]) == {"tag", "request"}
