"""The reader: what there is to see of the forms of one subject.

Above: ``runner`` writes them, too. Below: ``keeping`` reads instances, ``view`` and ``status_line`` show them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias
from uuid import uuid4

from agents.facts.preparation.render import render_preparation
from agents.facts.preparation.requirement import Report
from agents.forms.adapter import FormAdapter
from agents.forms.errors import FormNotFoundError
from agents.forms.evaluation import evaluate
from agents.forms.keeping import Instances, Opened
from agents.forms.preparation import FormPreparation
from agents.forms.question import Question, next_question
from agents.forms.record import Entry, Instance
from agents.forms.registry import FormRegistry
from agents.forms.status_line import status_line
from agents.forms.view import FormView, Scope, see
from agents.forms.writes import find_field

__all__ = ["FormReader", "Listener"]

logger = logging.getLogger(__name__)

Listener: TypeAlias = Callable[[FormView], object]
"""Takes how a form stands after every change that was saved; returns at once."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class FormReader:
    """Reads the forms of one subject.

    Where an ``instance_id`` may be given, the form that was written to last is meant by default, abandoned ones left
    out.

    Args:
        registry: the forms there are.
        adapter: where they are kept.
        subject: whose they are; a function is asked anew each time.
        preparation: what facts may answer.
        now: the time; the system's by default.
        owner: this worker's name; no other's.
    """

    def __init__(
        self,
        registry: FormRegistry,
        adapter: FormAdapter,
        *,
        subject: str | Callable[[], str],
        preparation: FormPreparation | None = None,
        now: Callable[[], datetime] | None = None,
        owner: str | None = None,
    ) -> None:
        self.registry = registry
        self.adapter = adapter
        self._subject = subject
        self._now = now or _utc_now
        self._question: Question | None = None
        self._listeners: list[Listener] = []
        self._instances = Instances(
            registry,
            adapter,
            subject=lambda: self.subject,
            now=self._now,
            told=self._note,
            preparation=preparation,
            owner=owner or uuid4().hex,
        )

    @property
    def subject(self) -> str:
        """Whose forms these are now."""
        return self._subject() if callable(self._subject) else self._subject

    @property
    def question(self) -> Question | None:
        """What is asked next, as far as this runner has seen; ``None`` when nothing is.

        Known after every write, and after every model call's status line; :meth:`status` makes it known, too.
        """
        return self._question

    def add_listener(self, listener: Listener) -> Callable[[], None]:
        """Tell somebody of every change.

        Returns:
            A function that ends it. Idempotent.
        """
        self._listeners.append(listener)

        def remove() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return remove

    async def status(self, instance_id: str | None = None) -> FormView:
        """Look at the open step.

        Raises:
            FormNotFoundError: there is no such form.
        """
        return await self.inspect(Scope.OPEN, instance_id=instance_id)

    async def inspect(
        self, scope: Scope = Scope.OUTLINE, id: str | None = None, *, instance_id: str | None = None
    ) -> FormView:
        """Look at a step or field by id, or at everything.

        Raises:
            FormNotFoundError: there is no such form, step or field.
        """
        opened = await self._instances.open(instance_id)
        if instance_id is None:
            self._question = next_question(opened.instance, opened.now)
        return see(opened.form, opened.instance, opened.now, scope, id)

    async def values(self, instance_id: str | None = None) -> Mapping[str, Any]:
        """Read the answers that hold, as values of their types; they are the caller's own.

        Raises:
            FormNotFoundError: there is no such form.
        """
        opened = await self._instances.open(instance_id)
        return evaluate(opened.form, opened.instance).values

    async def history(self, field: str, *, instance_id: str | None = None) -> Entry:
        """Read all that was ever said to a question, and what of it is in force.

        Raises:
            FormNotFoundError: there is no such form or field.
        """
        opened = await self._instances.open(instance_id)
        return opened.instance.entries.get(find_field(opened.form, field).id, Entry())

    async def status_line(self) -> str:
        """Write where the open form stands, what is missing and what facts say; empty when there is nothing to do."""
        try:
            opened = await self._instances.open()
        except FormNotFoundError:
            self._question = None
            return ""
        self._question = next_question(opened.instance, opened.now)
        line = status_line(opened.form, opened.instance, opened.now)
        facts = render_preparation(self.prepared(opened.instance.id))
        return "\n".join(part for part in (line, facts) if part)

    async def active_instance(self) -> Instance | None:
        """Read the form that is meant when none is named; ``None``: there is none."""
        try:
            return (await self._instances.open()).instance
        except FormNotFoundError:
            return None

    async def list(self, *, limit: int = 10) -> list[Instance]:
        """Read the subject's instances, those first that were written to last."""
        return await self.adapter.find(subject=self.subject, limit=limit)

    def prepared(self, instance_id: str) -> Report | None:
        """What the latest preparation of a form came to."""
        return self._instances.prefill.report(instance_id)

    def _note(self, opened: Opened) -> None:
        self._question = next_question(opened.instance, opened.now)
        if self._listeners:
            view = see(opened.form, opened.instance, opened.now, Scope.OUTLINE)
            for listener in tuple(self._listeners):
                try:
                    listener(view)
                except Exception:  # the boundary to foreign code
                    logger.exception("a listener to forms raised; what follows from the change goes on")
