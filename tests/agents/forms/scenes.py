"""Instances to decide on, without a store: writes, and what follows when the executors that rise return nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agents.forms.definition import Form
from agents.forms.effects import Effect
from agents.forms.engine import Outcome, advance, conclude, start
from agents.forms.evaluation import Evaluation, FieldStatus, evaluate
from agents.forms.record import Instance, InstanceStatus, Provenance
from agents.forms.writes import Stamp, Written, fill, redo, retract, skip, undo

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
STAMP = Stamp(at=NOW, provenance=Provenance(source="test"))

TRIP = {"origin": "Nairobi", "destination": "Lisbon", "depart_date": "2026-11-02", "travellers": 2}


class Scene:
    """An instance, written to as a runner would, but with executors that return what the test says."""

    def __init__(self, form: Form[Any], effects: Mapping[str, Sequence[Effect]] | None = None) -> None:
        self.form = form.build()
        self.effects = effects or {}
        assert self.effects.keys() <= form.executors.keys(), "what has no executor never runs"
        self.rose: list[str] = []
        """Idempotency keys, in order, without the instance's id."""
        self.instance = Instance(
            id="form_1",
            form=form.id,
            form_version=form.version,
            subject="s",
            status=InstanceStatus.ACTIVE,
            created_at=NOW,
            updated_at=NOW,
            version=0,
        )
        self._started = False

    @property
    def now(self) -> Evaluation:
        return evaluate(self.form, self.instance)

    def start(self, **seed: Any) -> Scene:
        self.instance = fill(self.form, self.instance, seed, STAMP).instance
        self._follow(start(self.instance, self.form))
        return self

    def fill(self, **values: Any) -> Written:
        return self._write(lambda: fill(self.form, self.instance, values, STAMP))

    def skip(self, field: str, reason: str = "has none") -> Written:
        return self._write(lambda: skip(self.form, self.instance, field, reason, STAMP))

    def retract(self, field: str) -> Written:
        return self._write(lambda: retract(self.form, self.instance, field, STAMP))

    def undo(self, field: str | None = None) -> Written:
        return self._write(lambda: undo(self.form, self.instance, field))

    def redo(self, field: str | None = None) -> Written:
        return self._write(lambda: redo(self.form, self.instance, field))

    def status(self, field: str) -> FieldStatus:
        return self.now.fields[field].status

    def standing(self) -> InstanceStatus:
        return self.instance.status

    def revisiting(self) -> bool:
        return self.now.revisiting

    def taken(self) -> list[str]:
        """What rose since this was asked last."""
        rose, self.rose = self.rose, []
        return rose

    def _write(self, write: Callable[[], Written]) -> Written:
        written = write()
        self._follow(advance(self.form, self.now, written.instance, at=NOW))
        return written

    def _follow(self, outcome: Outcome) -> None:
        while True:
            before, self.instance = self.instance, outcome.instance
            for hook, count in self.instance.occurrences.items():
                if count > before.occurrences.get(hook, 0):
                    self.rose.append(f"{hook}:{count}")
            if outcome.batch_id is None:
                return
            outcome = conclude(self.form, self.instance, outcome.batch_id, self.effects, STAMP)
