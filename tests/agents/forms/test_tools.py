from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from agents.core.errors import StoreError, ToolSelectionError
from agents.core.glove import Glove
from agents.core.selection import ToolSelection
from agents.display import DisplayManager, Slot, SlotState
from agents.forms.adapter import FormAdapter, MemoryForms
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Effect, Patch, Terminate
from agents.forms.errors import FormDefinitionError
from agents.forms.field import ask
from agents.forms.mount import MountedForms, use_form_runner
from agents.forms.record import Dispatch
from agents.forms.registry import FormRegistry
from agents.forms.step import FormStep
from agents.models.scripted import ScriptedCall, ScriptedModel
from agents.stores.memory import MemoryStore
from tests.agents.core.scenes import talking
from tests.agents.forms.scenes import TRIP
from tests.agents.forms.trip import Desk, booking


class Talk:
    """An agent with the design's form, whose model makes the calls given, each in a response of its own."""

    def __init__(self, form: Form[Any] = booking, *, adapter: FormAdapter | None = None, **options: Any) -> None:
        self.store = MemoryStore("call-1")
        self.model = ScriptedModel()
        self.glove = Glove(model=self.model, store=self.store, **options)
        self.desk = Desk()
        self.forms: MountedForms = use_form_runner(self.glove, form, store=adapter or MemoryForms(), deps=self.desk)

    async def say(self, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
        _, model = talking(*([ScriptedCall(name=name, input=args)] for name, args in calls), "Done.")
        self.glove.model = self.model = model
        seen = len(await self.store.get_messages())
        await self.glove.process_request("Go on.")
        return [
            result.result for message in (await self.store.get_messages())[seen:] for result in message.tool_results
        ]

    def shown(self) -> list[str]:
        """What each model call was shown of the form."""
        return [
            "\n".join(one.text for one in request.messages if one.framework_context == "runtime")
            for request in self.model.requests
        ]


async def test_a_trip_is_booked_by_tools_alone() -> None:
    talk = Talk()
    listed, started, *_, booked = await talk.say(
        ("glove_form_list", {}),
        ("glove_form_start", {"form": "trip-booking", "values": {**TRIP, "fullName": "Amina Odhiambo"}}),
        ("glove_form_revise", {"action": "skip", "field": "loyaltyNumber", "reason": "has none"}),
        ("glove_form_fill", {"values": {"confirmed": True}}),
    )
    assert listed.data["forms"] == [{"id": "trip-booking", "name": "Trip booking", "description": ""}]
    assert started.data["renamed"] == ["fullName → full_name"]
    assert booked.data["complete"] is True
    assert next(row for row in booked.data["fields"] if row["id"] == "reference")["value"] == "GLV-1"
    shown = talk.shown()
    assert shown[0] == shown[1] == "", "no form yet"
    assert shown[2].startswith(
        '[form: trip-booking] step 2/2 "Lead traveller" · pending: Loyalty number, Yes to the read-back'
    )
    assert "skipped (do not ask again): Loyalty number (has none)" in shown[3]
    assert shown[4] == "", "complete"
    assert talk.desk.goals.done == ["route", "date"]


async def test_the_form_belongs_to_the_conversation_and_its_line_is_never_stored() -> None:
    talk = Talk()
    await talk.say(("glove_form_start", {"form": "trip-booking"}))
    assert talk.forms.runner.subject == "call-1"
    assert not [one for one in await talk.store.get_messages() if "pending" in one.text]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("glove_form_start", {"form": "nowhere"}), "not_found"),
        (("glove_form_fill", {"values": {}, "instance_id": "form_0"}), "not_found"),
        (("glove_form_inspect", {"scope": "step", "id": "nowhere"}), "not_found"),
        (("glove_form_revise", {"action": "skip", "field": "origin", "reason": "x"}), "form_validation_failed"),
        (("glove_form_revise", {"action": "skip", "field": "loyalty_number"}), "form_validation_failed"),
        (("glove_form_revise", {"action": "redo"}), "form_validation_failed"),
    ],
)
async def test_what_cannot_be_is_an_error_with_its_code(call: tuple[str, dict[str, Any]], code: str) -> None:
    talk = Talk()
    _, result = await talk.say(("glove_form_start", {"form": "trip-booking"}), call)
    assert (result.status, result.data["code"]) == ("error", code)
    assert result.message


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("glove_form_revise", {"action": "set", "field": "origin"}),
        ("glove_form_revise", {"action": "retract"}),
        ("glove_form_revise", {"action": "drop", "field": "origin"}),
        ("glove_form_inspect", {"scope": "field"}),
        ("glove_form_history", {"limit": 51}),
        ("glove_form_history", {"subject": "somebody else"}),
        ("glove_form_fill", {"values": []}),
        ("glove_form_fill", {"values": {}, "ifVersion": 1}),
        ("glove_form_abandon", {"reason": ""}),
    ],
)
async def test_calls_that_make_no_sense_are_refused_before_anything_is_done(name: str, given: dict[str, Any]) -> None:
    talk = Talk()
    (result,) = await talk.say((name, given))
    assert (result.status, result.message) == ("error", "TOOL_INPUT_INVALID")


class Seat(BaseModel):
    model_config = ConfigDict(extra="forbid")

    row: int
    letter: str


class Wishes(FormStep):
    cabin: Literal["economy", "business"] = ask("Cabin")
    bags: int = ask("Bags", ge=0, le=3)
    seat: Seat = ask("Seat")
    name: str = ask("Name")


async def test_of_a_patch_of_junk_each_answer_is_told_what_is_wrong_and_the_good_one_is_kept() -> None:
    talk = Talk(Form("wishes", version=1, steps=[Wishes], name="Wishes"))
    junk = {
        "cabin": "Business",
        "bags": "2",
        "seat": {"row": 12, "letter": "A", "window": True},
        "name": "Amina",
        "meals": "vegan",
        "names": "A",
    }
    (result,) = await talk.say(("glove_form_start", {"form": "wishes", "values": junk}))
    assert (result.status, result.data["captured"]) == ("success", ["name"])
    assert result.data["unknown_fields"] == [{"field": "meals"}, {"field": "names", "did_you_mean": ["name"]}]
    rejected = {one["field"]: (one["message"], one.get("hint")) for one in result.data["rejected"]}
    assert rejected == {
        "cabin": ("Input should be 'economy' or 'business'", "Expected one of: economy | business."),
        "bags": ("Input should be a valid integer", "Send it as unquoted JSON number: 2"),
        "seat": ("window: Extra inputs are not permitted", "Expected object with: row, letter."),
    }
    assert await talk.forms.runner.values() == {"name": "Amina"}


async def test_answers_are_changed_withdrawn_undone_and_redone() -> None:
    talk = Talk()
    results = await talk.say(
        ("glove_form_start", {"form": "trip-booking", "values": {"origin": "Nairobi"}}),
        ("glove_form_revise", {"field": "origin", "value": "Mombasa", "reason": "misheard"}),
        ("glove_form_revise", {"action": "retract", "field": "origin"}),
        ("glove_form_revise", {"action": "undo"}),
        ("glove_form_revise", {"action": "undo", "field": "origin"}),
        ("glove_form_revise", {"action": "redo"}),
        ("glove_form_status", {}),
        ("glove_form_inspect", {"scope": "field", "id": "origin"}),
    )
    values = [result.data["fields"][0].get("value") for result in results]
    assert values == ["Nairobi", "Mombasa", None, "Mombasa", "Nairobi", "Mombasa", "Mombasa", "Mombasa"]
    assert results[4].data["redo_would"] == 'origin → "Mombasa"'


async def test_history_lists_the_caller_s_forms_and_shows_one() -> None:
    talk = Talk()
    *_, listed, closed, one = await talk.say(
        ("glove_form_start", {"form": "trip-booking", "values": {"origin": "Nairobi", "travellers": 2}}),
        ("glove_form_abandon", {"reason": "Changed plans."}),
        ("glove_form_start", {"form": "trip-booking"}),
        ("glove_form_history", {"form": "trip-booking"}),
        ("glove_form_history", {"status": "abandoned", "limit": 1}),
        ("glove_form_history", {"instance_id": "unknown"}),
    )
    assert [line["status"] for line in listed.data["instances"]] == ["active", "abandoned"]
    (line,) = closed.data["instances"]
    assert (line["answered"], line["closed_reason"]) == (2, "Changed plans.")
    assert one.data == {"code": "not_found"}
    (shown,) = await talk.say(("glove_form_history", {"instance_id": line["instance_id"]}))
    assert shown.data["instance"]["closed_reason"] == "Changed plans."
    assert len(shown.data["instance"]["steps"]) == 2


# --------------------------------------------------------------------------------------------------------------- mount


class Card(FormStep):
    name: str = ask("Name")
    agreed: bool | None = ask("Agreed", default=None)


def with_card() -> Form[None]:
    form = Form("card", version=1, steps=[Card], name="Card")

    @form.checkpoint("agree", when=lambda state: state.complete, blocking=True)
    async def agree(ctx: FormContext[None]) -> Effect:
        if ctx.display is None:
            return Terminate("There is no screen.")
        return Patch({"agreed": await ctx.display.push_and_wait("confirm", {"name": ctx.values["name"]}, answer=bool)})

    return form


def answer(display: DisplayManager, value: bool) -> None:
    def look(slots: tuple[Slot, ...]) -> None:
        for slot in slots:
            if slot.state is SlotState.WAITING:
                display.resolve(slot.id, value)

    display.add_listener(look)


async def test_a_card_is_answered_where_there_is_a_screen() -> None:
    display = DisplayManager()
    answer(display, True)
    talk = Talk(with_card(), display=display)
    (result,) = await talk.say(("glove_form_start", {"form": "card", "values": {"name": "A"}}))
    assert [row.get("value") for row in result.data["fields"]] == ["A", True]


async def test_there_is_no_display_when_nobody_has_a_screen() -> None:
    talk = Talk(with_card())
    (result,) = await talk.say(("glove_form_start", {"form": "card", "values": {"name": "A"}}))
    assert (result.data["status"], result.data["closed_reason"]) == ("abandoned", "There is no screen.")


async def test_a_host_s_write_has_the_glove_s_screen() -> None:
    display = DisplayManager()
    answer(display, False)
    talk = Talk(with_card(), display=display)
    report = await talk.forms.runner.start("card", {"name": "A"})
    assert report.view.fields[1].value is False


def bare() -> Glove:
    return Glove(model=ScriptedModel(), framework_tools=ToolSelection(allow=()))


def test_tools_are_allowed_and_denied_and_a_slip_mounts_nothing() -> None:
    glove = bare()
    use_form_runner(
        glove, booking, store=MemoryForms(), deps=Desk(), tools=ToolSelection(deny=("start", "glove_form_history"))
    )
    assert [tool.name for tool in glove.tools] == [
        "glove_form_list",
        "glove_form_status",
        "glove_form_inspect",
        "glove_form_fill",
        "glove_form_revise",
        "glove_form_abandon",
    ]
    glove = bare()
    with pytest.raises(ToolSelectionError):
        use_form_runner(glove, booking, store=MemoryForms(), deps=Desk(), tools=ToolSelection(deny=("strat",)))
    assert not glove.tools


async def test_the_line_is_left_out_when_it_is_not_wanted() -> None:
    glove, model = talking([ScriptedCall(name="glove_form_start", input={"form": "trip-booking"})], "Done.")
    use_form_runner(glove, booking, store=MemoryForms(), deps=Desk(), inject_status=False)
    await glove.process_request("Hello")
    assert not [one for one in model.requests[-1].messages if "pending" in one.text]


def test_an_ill_defined_form_or_missing_deps_mount_nothing() -> None:
    glove = bare()
    with pytest.raises(FormDefinitionError, match="no steps"):
        use_form_runner(glove, Form("f", version=1, steps=[], name="F"), store=MemoryForms())
    with pytest.raises(FormDefinitionError, match="Desk"):
        use_form_runner(glove, booking, store=MemoryForms())
    assert not glove.tools


async def test_what_a_process_left_undone_is_done_before_the_next_request() -> None:
    store = MemoryForms()
    ran: list[str] = []
    form = Form("f", version=1, steps=[Card], name="F")

    @form.checkpoint("go", when=lambda state: "name" in state.values, blocking=True)
    async def go(ctx: FormContext[None]) -> None:
        ran.append(ctx.idempotency_key)
        if len(ran) == 1:
            raise BaseExceptionGroup("died", [KeyboardInterrupt()])

    glove, model = talking("Hello.")
    mounted = use_form_runner(glove, form, store=store)
    with pytest.raises(BaseExceptionGroup):
        await mounted.runner.start("f", {"name": "A"})
    await glove.process_request("Hello")
    assert len(ran) == 2 and len(set(ran)) == 1
    assert "awaiting" not in model.requests[0].messages[-1].text


async def test_a_registry_of_several_forms_is_mounted_as_it_is() -> None:
    registry = FormRegistry(booking, with_card())
    glove, _ = talking("Hello.")
    runner = use_form_runner(glove, registry, store=MemoryForms(), deps=Desk(), subject="somebody").runner
    assert runner.registry is registry and runner.subject == "somebody"


class Unwritable(MemoryForms):
    """Its journal cannot be written to."""

    async def record_dispatch(self, instance_id: str, key: str, dispatch: Dispatch) -> None:
        raise StoreError("the disk is full")


async def test_what_is_saved_though_what_follows_failed_is_told_as_that_and_later_requests_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    talk = Talk(with_card(), adapter=Unwritable())
    (result,) = await talk.say(("glove_form_start", {"form": "card", "values": {"name": "A"}}))
    assert result.status == "error" and "saved" in result.message
    assert result.data["committed"] is True and result.data["status"] == "awaiting"
    (result,) = await talk.say(("glove_form_fill", {"values": {"name": "B"}}))
    assert result.data == {"code": "form_blocked", "checkpoint": "agree", "waiting": ""}
    assert "could not be resumed: FormPostCommitError" in caplog.text
    assert '[form: card] awaiting "agree"' in talk.shown()


async def test_a_line_that_cannot_be_written_is_none(caplog: pytest.LogCaptureFixture) -> None:
    talk = Talk()
    await talk.say(("glove_form_start", {"form": "trip-booking"}))
    talk.forms.runner.registry.invalidate()
    talk.forms.runner.registry.register("other", name="Other", load=lambda: booking)
    lost = (await talk.forms.runner.list())[0]
    await talk.forms.runner.adapter.create(replace(lost, id="form_lost", form="other", updated_at=lost.updated_at))
    await talk.say(("glove_form_list", {}))
    assert talk.shown() == ["", ""]
    assert "status line could not be written: FormDefinitionError" in caplog.text
