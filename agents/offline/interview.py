"""The interview: rules that walk whatever form is open, one question at a time, with the tools any model has.

In the manner of VoiceXML's form interpretation: ask for what is missing, take what is volunteered, read back, act.
Above: ``model``. Below: ``form_view`` shows the form, ``volunteering`` reads answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from agents.core.messages import Message
from agents.core.model import ToolSpec
from agents.offline.form_view import Form, FormField, read_form
from agents.offline.notes import Notes, OpenItem, read_notes
from agents.offline.picking import EVERYDAY, PLAIN, pick_all
from agents.offline.saying import ALL_RIGHT, NOT_UNDERSTOOD, courtesy, excuse, is_stop, say_result
from agents.offline.situation import Outcome, Situation
from agents.offline.step import Step
from agents.offline.volunteering import answer_to, corrected, volunteered
from agents.reading.assent import read_yes_no
from agents.reading.declining import is_decline, is_going_back, read_correction
from agents.reading.vocabulary import vocabulary, words

__all__ = ["FILL", "Interview"]

LIST, START, INSPECT, FILL, REVISE = (f"glove_form_{name}" for name in ("list", "start", "inspect", "fill", "revise"))
UPDATE = "glove_goal_update"
WRITES = (FILL, REVISE)

RIGHT = "Is that right?"
CHANGE = "All right. What should I change?"
NEEDED = "I am afraid I need that."
_LATER = re.compile(r"Still open: (?P<label>.+)\. Shall I leave that for later\?\s*$")

REASON_LIMIT = 300
"""Characters of an utterance that are given as a reason."""

_LIGHT = EVERYDAY | vocabulary("book get help i'd need")
"""Words that say nothing of what a form is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interview:
    """A turn of a conversation with forms.

    Args:
        situation: where it stands.
        messages: all the model was given.
        tools: what it can do.
        today: the caller's day.
    """

    situation: Situation
    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    today: date

    def step(self) -> Step | None:
        """Decide what comes next; ``None``: it has nothing to do with forms."""
        outcomes = self.situation.outcomes
        if not outcomes:
            return self._begin()
        latest = outcomes[-1]
        name = latest.call.tool_name
        if name == LIST:
            return self._choose(latest.result.data)
        if name in (START, INSPECT, *WRITES) and latest.result.status != "success":
            return Step(text=say_result(latest.result))
        if name == START:
            return self._look()
        form = read_form(latest.result.data)
        if name == INSPECT and form is not None:
            return self._read_back(form) if self._written else self._take(form)
        if name in WRITES and form is not None:
            return self._after_a_write(form, latest)
        return self._after_something_else()

    # ----------------------------------------------------------------------------------------- what a turn begins with

    def _begin(self) -> Step | None:
        notes = self._notes
        if notes.waiting is not None:
            return Step(text=notes.waiting)
        if (item := self._put_off()) is not None:
            answer = read_yes_no(self._said)
            if answer is not None:
                return self._defer(item) if answer else Step(text=ALL_RIGHT)
        if notes.form is not None:
            return self._look()
        if self._known and (is_going_back(self._said) or read_correction(self._said) is not None):
            return self._look()
        if pick_all(self._said, self._others) or courtesy(self._said) is not None:
            return None
        return Step(calls=((LIST, {}),))

    def _choose(self, data: Any) -> Step:
        """Begin the form that the caller's words are about."""
        rows = data.get("forms", []) if isinstance(data, dict) else []
        said = _content(self._said)
        likeness = {
            row["id"]: len(said & _content(f"{row['id']} {row['name']} {row.get('description', '')}")) for row in rows
        }
        best = max(likeness, key=lambda form_id: likeness[form_id], default=None)
        if best is None or not likeness[best]:
            return Step(text=excuse(self._others, [row.get("description") or row["name"] for row in rows]))
        return Step(calls=((START, {"form": best}),))

    # ------------------------------------------------------------------------------------------ what the caller answers

    def _take(self, form: Form) -> Step | None:
        """Take what the caller said as an answer, a correction, or something else."""
        said, asked = self._said, form.next
        if is_going_back(said):
            return Step(calls=((REVISE, {"action": "undo"}),))
        if (correction := read_correction(said)) is not None:
            about, rest = correction
            if (change := corrected(_answered(form), about, rest, self.today, plain=True)) is not None:
                return self._revise(*change)
        if asked is None:
            return None
        if asked.confirms:
            return self._take_a_yes(form, asked)
        if is_stop(said):
            return Step(text=f"{ALL_RIGHT} {asked.question}")
        if read_yes_no(said) is None and (polite := courtesy(said)) is not None:
            return Step(text=f"{polite} {asked.question}")
        values = volunteered([field for field in form.fields if not field.answered], said, self.today)
        declined = is_decline(said) or (read_yes_no(said) is False and asked.schema == {"type": "string"})
        if declined and not values:
            return self._decline(asked)
        if asked.id not in values and not self._began_now:
            if (other := self._other_request(asked)) is not None:
                return other
            if asked.schema == {"type": "string"} and read_yes_no(said) is True:
                return Step(text=f"{asked.hint or asked.question}")
            value = None if values else answer_to(asked, said, self.today)
            values |= {} if value is None else {asked.id: value}
        if values:
            return Step(calls=((FILL, {"values": values}),))
        if self._began_now:
            return Step(text=f"{ALL_RIGHT} {asked.question}")
        return Step(text=" ".join(part for part in (NOT_UNDERSTOOD, asked.hint, asked.question) if part))

    def _take_a_yes(self, form: Form, asked: FormField) -> Step:
        said = self._said
        answer = read_yes_no(said)
        if answer:
            return Step(calls=((FILL, {"values": {asked.id: True}}),))
        plain = answer is False and not is_decline(said)
        if (change := corrected(_answered(form), None, said, self.today, plain=plain)) is not None:
            return self._revise(*change)
        if answer is False:
            return Step(text=CHANGE)
        return self._other_request(asked) or Step(text=f"{NOT_UNDERSTOOD} {self._summary(form)}")

    def _decline(self, asked: FormField) -> Step:
        if not asked.skippable:
            return Step(text=f"{NEEDED} {asked.question}")
        reason = f"The caller said: {self._said.strip()}"[:REASON_LIMIT]
        return Step(calls=((REVISE, {"action": "skip", "field": asked.id, "reason": reason}),))

    def _revise(self, field: FormField, value: Any) -> Step:
        reason = f"The caller said: {self._said.strip()}"[:REASON_LIMIT]
        return Step(calls=((REVISE, {"action": "set", "field": field.id, "value": value, "reason": reason}),))

    def _other_request(self, asked: FormField) -> Step | None:
        """Something else that the caller plainly wants first."""
        free = asked.schema == {"type": "string"}
        picks = [one for one in pick_all(self._said, self._others, whole_only=free) if one.score >= PLAIN]
        return Step(calls=tuple((one.tool.name, {}) for one in picks)) if picks else None

    # ------------------------------------------------------------------------------------------------- what follows

    def _after_a_write(self, form: Form, latest: Outcome) -> Step:
        if form.failures:
            return Step(text=f"That did not work: {form.failures[0]}")
        if form.complete:
            return self._close(form, latest)
        asked = form.next
        refused = None if not form.rejected else form.find(form.rejected[0])
        if refused is not None and not refused.confirms:  # A yes that holds no more is asked for again.
            return Step(text=" ".join(part for part in (NOT_UNDERSTOOD, refused.hint, refused.question) if part))
        if asked is None:
            return Step(text=ALL_RIGHT)
        return self._look() if asked.confirms else Step(text=asked.question)

    def _read_back(self, form: Form) -> Step:
        asked = form.next
        if asked is None or not asked.confirms:
            return Step(text=ALL_RIGHT if asked is None else asked.question)
        return Step(text=self._summary(form))

    def _summary(self, form: Form) -> str:
        answers = " ".join(field.read_out() for field in _answered(form) if field.required)
        return f"Let me read that back. {answers} {RIGHT}"

    def _close(self, form: Form, latest: Outcome) -> Step:
        """Say what came of a form that is complete, and go on with what is still to be achieved."""
        given = latest.inputs.get("values", {})
        news = [field for field in form.fields if field.answered and not field.required and field.id not in given]
        said = " ".join(["Done.", *(field.read_out() for field in news)])
        items = self._notes.items
        for item in items:
            tool = next((tool for tool in self._others if item.key in words(tool.name.replace("_", " "))), None)
            if tool is not None and not tool.input_schema.get("required"):
                return Step(text=f"{said} ", calls=((tool.name, {}),))
        return Step(text=" ".join(part for part in (said, _offer(items)) if part))

    def _after_something_else(self) -> Step | None:
        """Go on after tools of the agent's own: with the open question, or with what is left to do."""
        said = " ".join(
            say_result(outcome.result)
            for outcome in self.situation.outcomes
            if not outcome.call.tool_name.startswith("glove_form_")
        )
        if any(outcome.call.tool_name == UPDATE for outcome in self.situation.outcomes):
            return Step(text="All right, that is noted for later. Is there anything else?")
        if self._written:
            return Step(text=" ".join(part for part in (said, _offer(self._notes.items)) if part))
        form = next((read_form(outcome.result.data) for outcome in self.situation.outcomes), None)
        asked = None if form is None else form.next
        if form is None or asked is None:
            return None
        return Step(text=f"{said} {self._summary(form) if asked.confirms else asked.question}")

    def _defer(self, item: OpenItem) -> Step:
        given = {
            "goalKey": item.goal_key,
            "deferred": [item.key],
            "reason": f"The caller said: {self._said.strip()}"[:REASON_LIMIT],
            "ifVersion": item.version,
        }
        return Step(calls=((UPDATE, given),))

    # -------------------------------------------------------------------------------------------------- what is known

    @property
    def _said(self) -> str:
        """What the caller said since the agent last spoke or wrote an answer down: what came before is dealt with."""
        said: list[str] = []
        for message in reversed([one for one in self.messages if one.framework_context is None]):
            wrote = any(
                result.tool_name in WRITES and result.result.status == "success" for result in message.tool_results
            )
            if said and (wrote or (message.sender == "agent" and message.text.strip())):
                break
            if message.from_person:
                said.insert(0, message.text)
        return " ".join(said)

    @property
    def _notes(self) -> Notes:
        return read_notes(self.messages)

    @property
    def _others(self) -> list[ToolSpec]:
        """The agent's own tools."""
        return [tool for tool in self.tools if not tool.name.startswith("glove_") and tool.examples]

    @property
    def _written(self) -> bool:
        """Whether something was written in this turn."""
        return any(outcome.call.tool_name in WRITES for outcome in self.situation.outcomes)

    @property
    def _began_now(self) -> bool:
        return any(outcome.call.tool_name == START for outcome in self.situation.outcomes)

    @property
    def _known(self) -> bool:
        """Whether there ever was a form in this conversation."""
        return any(call.tool_name == START for message in self.messages for call in message.tool_calls)

    def _look(self) -> Step:
        return Step(calls=((INSPECT, {"scope": "outline"}),))

    def _put_off(self) -> OpenItem | None:
        """The item that the caller was asked to leave for later, just before."""
        spoken = [message.text for message in self.messages if message.sender == "agent" and message.text.strip()]
        asked = None if not spoken else _LATER.search(spoken[-1])
        if asked is None:
            return None
        return next((item for item in self._notes.items if item.label == asked["label"]), None)


def _answered(form: Form) -> list[FormField]:
    return [field for field in form.fields if field.answered and not field.confirms]


def _offer(items: Sequence[OpenItem]) -> str:
    """Ask what is to become of the next thing that is open."""
    return f"Still open: {items[0].label}. Shall I leave that for later?" if items else ""


def _content(text: str) -> frozenset[str]:
    found = [word for word in words(text.replace("-", " ").replace("_", " ")) if word not in _LIGHT]
    return frozenset(word[:-1] if word.endswith("s") and len(word) > 3 else word for word in found)
