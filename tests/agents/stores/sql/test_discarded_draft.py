from __future__ import annotations

from contextlib import aclosing

from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.stores.sql.conversations import SqlConversations
from tests.agents.core.scenes import echo, talking
from tests.agents.stores.sql.test_database import content


async def test_a_discarded_draft_leaves_the_database_value_for_value_as_it_was(database_url: str) -> None:
    async with aclosing(await SqlConversations.connect(database_url)) as conversations:
        glove, _ = talking("Hello.", store=conversations.open("c"), tools=(echo(),), framework_tools=None)
        await glove.process_request("Hi")
        before = await content(database_url)
        glove.model = ScriptedModel([["Let me see. ", ScriptedCall(name="echo", input={"word": "x"})]])
        draft = glove.draft("What is")
        await draft.run()
        draft.discard()
        assert await content(database_url) == before
