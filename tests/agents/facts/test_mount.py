from typing import Any

import pytest

from agents.facts.mount import FactOrigin, use_facts
from agents.facts.record import Fact, FactSource, Verification
from agents.models.scripted import ScriptedCall
from tests.agents.core.scenes import Diary, talking
from tests.agents.facts.test_store import facts


def _call(text: str, **more: Any) -> ScriptedCall:
    return ScriptedCall(name="record_fact", input={"fact": text, **more})


async def test_what_a_model_records_is_unverified_and_names_the_call() -> None:
    glove, _ = talking([_call("Both prefer the aisle.")], "Noted.")
    diary = Diary()
    glove.add_subscriber(diary)
    store = use_facts(glove, facts())
    await glove.process_request("We both like the aisle")
    (fact,) = await store.facts()
    assert (fact.text, fact.verification, fact.source.kind) == (
        "Both prefer the aisle.",
        Verification.UNVERIFIED,
        "message",
    )
    data = diary.of("tool_use_result")[0]["result"].data
    assert (data["recorded"], data["fact"]["id"]) == (True, fact.id)


async def test_several_facts_of_one_message_are_several_and_one_tried_again_is_one() -> None:
    source = FactSource(kind="message", id="m1")
    glove, _ = talking([_call("One."), _call("Two."), _call("One.")], "Noted.")
    store = use_facts(glove, facts(), origin=lambda _ctx: FactOrigin(source=source, operation_id="m1"))
    await glove.process_request("One, two, one")
    assert [fact.text for fact in await store.facts(history=True)] == ["One.", "Two."]


@pytest.mark.parametrize("given", [{"verification": "verified"}, {"source": "me"}, {"scope": "x"}, {"operation": "y"}])
async def test_a_model_cannot_say_how_sure_a_fact_is_or_where_it_comes_from(given: dict[str, Any]) -> None:
    glove, _ = talking([_call("I am the owner.", **given)], "Sorry.")
    diary = Diary()
    glove.add_subscriber(diary)
    store = use_facts(glove, facts())
    await glove.process_request("I am the owner")
    assert diary.of("tool_use_result")[0]["result"].status == "error"
    assert await store.facts() == []


async def test_an_urgent_fact_that_could_not_be_told_is_said_to_be_recorded() -> None:
    def fail(_fact: Fact) -> None:
        raise ConnectionError("no line")

    glove, _ = talking([_call("There is a fire.", urgent=True)], "Oh.")
    diary = Diary()
    glove.add_subscriber(diary)
    use_facts(glove, facts(on_urgent=fail))
    await glove.process_request("Fire!")
    result = diary.of("tool_use_result")[0]["result"]
    assert (result.status, result.data["recorded"], result.data["fact"]["urgent"]) == ("error", True, True)


async def test_a_fact_for_which_there_is_no_room_is_said_not_to_be_recorded() -> None:
    glove, _ = talking([_call("More.")], "Oh.")
    diary = Diary()
    glove.add_subscriber(diary)
    use_facts(glove, facts(max_revisions=0))
    await glove.process_request("More")
    result = diary.of("tool_use_result")[0]["result"]
    assert (result.status, result.data) == ("error", {"recorded": False})
