from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, field_validator
from pydantic import Field as PydanticField

from agents.forms.definition import Form
from agents.forms.errors import FormDefinitionError
from agents.forms.field import ask
from agents.forms.step import FormStep
from tests.agents.forms.trip import Traveller, Trip, booking


def refusal(form: Form[Any]) -> FormDefinitionError:
    with pytest.raises(FormDefinitionError) as refused:
        form.build()
    assert refused.value.data == {"code": "form_definition_error", "ids": list(refused.value.ids)}
    return refused.value


def of(*steps: type[FormStep], **more: Any) -> Form[None]:
    return Form("f", version=more.pop("version", 1), steps=steps, name="Form", **more)


def test_the_design_s_form_is_what_it_says() -> None:
    form = booking.build()
    assert [step.id for step in form.steps] == ["trip", "traveller"]
    assert [step.notes.preview for step in form.steps] == ["route, date, party size", "name, loyalty number"]
    assert {field.id: field.type for field in form.fields.values()} == {
        "origin": "text (min 2 chars)",
        "destination": "text (min 2 chars)",
        "depart_date": "date (YYYY-MM-DD)",
        "travellers": "integer between 1 and 9",
        "full_name": "text (min 2 chars)",
        "loyalty_number": "text",
        "confirmed": "exactly true",
        "reference": "text",
    }
    assert [field.id for field in form.fields.values() if not field.required] == ["reference"]


def test_a_field_is_required_when_it_has_no_default_whatever_its_type_admits() -> None:
    class Step(FormStep):
        may_be_null: str | None = ask("A")
        may_be_missing: int = ask("B", default=1)

    form = of(Step).build()
    assert form.fields["may_be_null"].required and not form.fields["may_be_missing"].required
    assert form.fields["may_be_null"].judge("null").valid
    assert form.fields["may_be_null"].type == "text (may be empty)"


def test_all_mistakes_are_told_at_once_with_all_ids() -> None:
    class Step(FormStep):
        origin: str = ask("Origin")
        skipped: str = ask("Skipped", skippable=True)
        gated: int = ask("Gated", when=lambda form: True)
        bare: str = "no label"

    class Empty(FormStep):
        pass

    class Again(FormStep, id="step"):
        origin: str = ask("Elsewhere")
        full_name: str = ask("Name")
        name: str = ask("Nickname")

    form = of(Step, Empty, Again, version="1")
    form.on_fill("nowhere")(lambda ctx, value: None)
    form.on_skip("origin")(lambda ctx, reason: None)
    form.on_complete(Trip)(lambda ctx, trip: None)
    for _ in range(2):
        form.checkpoint("c", when=lambda form: True)(lambda ctx: None)
        form.on_complete()(lambda ctx: None)
    error = refusal(form)
    assert set(error.ids) == {
        "skipped", "gated", "bare", "empty", "step", "origin", "full_name", "name", "f", "nowhere", "trip", "c", "form",
    }  # fmt: skip
    assert len(error.mistakes) >= 13
    assert all(mistake for mistake in error.mistakes)


def test_a_field_id_in_two_steps_is_refused_by_its_id() -> None:
    class One(FormStep):
        name: str = ask("Name")

    class Two(FormStep):
        name: str = ask("Name")

    assert refusal(of(One, Two)).ids == ("name",)


def test_a_form_without_id_or_steps_is_refused() -> None:
    assert "no id" in str(refusal(Form("", version=1, steps=[Trip], name="x")))
    assert "no steps" in str(refusal(of()))


def test_a_validator_of_the_whole_model_is_refused_for_answers_are_judged_one_by_one() -> None:
    class Step(FormStep):
        name: str = ask("Name")

        @field_validator("name")
        @classmethod
        def check(cls, value: str) -> str:
            return value

    assert "AfterValidator" in str(refusal(of(Step)))


def test_a_confirmation_that_may_be_skipped_is_refused() -> None:
    class Step(FormStep):
        sure: bool | None = ask("Sure", confirms=True, skippable=True)

    assert refusal(of(Step)).ids == ("sure",)


def test_what_no_json_schema_describes_is_refused() -> None:
    class Step(FormStep):
        run: Callable[[], int] = ask("Run")

    assert refusal(of(Step)).ids == ("run",)


@pytest.mark.parametrize(
    ("field", "written", "valid"),
    [
        ("travellers", "5", True),
        ("travellers", '"5"', False),
        ("travellers", "5.0", False),
        ("travellers", "true", False),
        ("travellers", "12", False),
        ("confirmed", "true", True),
        ("confirmed", "1", False),
        ("confirmed", '"true"', False),
        ("confirmed", '"yes"', False),
        ("confirmed", "false", False),
        ("depart_date", '"2026-11-02"', True),
        ("depart_date", '"2 November"', False),
        ("depart_date", "20261102", False),
        ("loyalty_number", '"GL123456"', True),
        ("loyalty_number", '"gl123456"', False),
        ("loyalty_number", "null", False),
        ("reference", "null", False),
    ],
)
def test_answers_are_judged_strictly(field: str, written: str, valid: bool) -> None:
    judged = booking.fields[field].judge(written)
    assert judged.valid is valid
    assert valid or all(judged.problems)


@pytest.mark.parametrize(
    ("field", "written", "hint"),
    [
        ("travellers", '"5"', "Send it as unquoted JSON number: 5"),
        ("confirmed", '"True"', "Send it as unquoted JSON boolean: true"),
        ("travellers", '"99"', "Expected integer between 1 and 9."),
        ("depart_date", "5", "Expected date (YYYY-MM-DD)."),
    ],
)
def test_a_hint_says_what_to_send(field: str, written: str, hint: str) -> None:
    assert booking.fields[field].hint(written) == hint


def test_a_field_s_own_words_are_its_hint_and_description() -> None:
    class Step(FormStep):
        number: str = ask("Number", "Ask for it slowly.", hint="Two letters, six digits.", pattern="^[A-Z]{2}")

    field = of(Step).build().fields["number"]
    assert field.description == field.hint('"x"') == "Ask for it slowly. Two letters, six digits."


def test_step_ids_are_snake_case_or_given() -> None:
    class LeadTraveller(FormStep):
        name: str = ask("Name")

    class HTTPAddress(FormStep, id="address"):
        url: str = ask("URL")

    form = of(LeadTraveller, HTTPAddress).build()
    assert [(step.id, step.title) for step in form.steps] == [
        ("lead_traveller", "LeadTraveller"),
        ("address", "HTTPAddress"),
    ]
    assert form.step_of(LeadTraveller) is form.step("lead_traveller")
    with pytest.raises(FormDefinitionError):
        form.step_of(Traveller)


class Card(BaseModel):
    kind: Literal["card"]
    number: str


class Cash(BaseModel):
    kind: Literal["cash"]


def test_a_union_told_apart_by_a_word_is_judged_by_it() -> None:
    class Step(FormStep):
        payment: Annotated[Card | Cash, PydanticField(discriminator="kind")] = ask("Payment")

    field = of(Step).build().fields["payment"]
    assert field.judge('{"kind":"cash"}').value == Cash(kind="cash")
    (problem,) = field.judge('{"kind":"card"}').problems
    assert problem.startswith("card.number:")


def test_of_an_answer_that_is_wrong_in_many_ways_a_few_are_told() -> None:
    class Step(FormStep):
        numbers: list[int] = ask("Numbers")

    assert len(of(Step).build().fields["numbers"].judge('["a","b","c","d","e","f","g"]').problems) == 5
