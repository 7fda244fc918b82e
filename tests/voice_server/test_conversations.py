import pytest

from agents.core.errors import SlotRejectedError
from agents.core.messages import Message
from voice_server.conversations import RESTING, Conversations
from voice_server.errors import UsageError
from voice_server.settings import Settings, load_settings


def _settings(**given: str) -> Settings:
    return load_settings(model="offline", **given)


async def test_who_is_in_one_conversation_talks_to_one_agent() -> None:
    conversations = await Conversations.connect(_settings())
    async with conversations.join("ann") as one, conversations.join("ann") as other, conversations.join() as third:
        assert one is other
        assert third.agent is not one.agent
    await conversations.aclose()


async def test_who_comes_back_finds_what_was_said_even_when_the_agent_was_made_anew() -> None:
    conversations = await Conversations.connect(_settings())
    async with conversations.join("ann") as conversation:
        await conversation.agent.process_request("What can you do?")
        first = conversation.agent
    for _ in range(RESTING):
        async with conversations.join():
            pass
    async with conversations.join("ann") as conversation:
        assert conversation.agent is not first
        assert await _texts(conversation.agent.store.get_messages()) == ["What can you do?"]
    assert [kept.identifier for kept in await conversations.list_conversations()] == ["ann"]
    await conversations.aclose()


async def _texts(messages: object) -> list[str]:
    found: list[Message] = await messages  # type: ignore[misc]
    return [message.text for message in found if message.sender == "user" and not message.tool_results]


async def test_a_conversation_in_a_database_outlives_the_server(tmp_path: object) -> None:
    settings = _settings(database=f"sqlite:///{tmp_path}/calls.db")
    for _ in range(2):
        conversations = await Conversations.connect(settings)
        async with conversations.join("ann") as conversation:
            await conversation.agent.process_request("What can you do?")
        await conversations.aclose()
    conversations = await Conversations.connect(settings)
    async with conversations.join("ann") as conversation:
        assert await _texts(conversation.agent.store.get_messages()) == ["What can you do?"] * 2
    await conversations.aclose()


async def test_what_a_conversation_was_left_waiting_for_is_waited_for_by_the_next_server(tmp_path: object) -> None:
    settings = _settings(agent="agents.desk:create", database=f"sqlite:///{tmp_path}/calls.db")
    conversations = await Conversations.connect(settings)
    async with conversations.join("ann") as conversation:
        await conversation.agent.process_request("Can you take a message?")
        waited_for = conversation.agent.expectation
    await conversations.aclose()
    conversations = await Conversations.connect(settings)
    async with conversations.join("ann") as conversation:
        assert conversation.agent.expectation == waited_for is not None
    await conversations.aclose()


async def test_the_agent_has_a_screen_for_as_long_as_anybody_has_one() -> None:
    conversations = await Conversations.connect(_settings())
    async with conversations.join() as conversation:
        assert conversation.agent.display is None
        with conversation.screen() as one:
            with conversation.screen() as other:
                assert one is other
            pushed = one.push_and_wait("card")
            waiting = pushed.__await__()
            waiting.send(None)
        assert conversation.agent.display is None
        with pytest.raises(SlotRejectedError):
            waiting.send(None)
    await conversations.aclose()


async def test_an_agent_that_cannot_be_made_is_refused_before_anybody_calls() -> None:
    with pytest.raises(UsageError, match="no module"):
        await Conversations.connect(_settings(agent="nowhere:create"))
