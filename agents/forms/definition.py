"""A form as its author writes it: steps, checkpoints, and what happens when."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, overload

from agents.forms.context import Deps, FormContext
from agents.forms.effects import Effects
from agents.forms.errors import FormDefinitionError
from agents.forms.field import Field
from agents.forms.hook import FORM_HOOK, Checkpoint, Executor, checkpoint_hook, field_hook, skip_hook, step_hook
from agents.forms.names import AliasIndex
from agents.forms.state import When
from agents.forms.step import FormStep, Step, compile_step

__all__ = ["Form", "Migrate"]

S = TypeVar("S", bound=FormStep)
Outcome: TypeAlias = Awaitable[Effects] | Effects

Migrate: TypeAlias = Callable[[Mapping[str, Any], int], Mapping[str, Any]]
"""From the raw answers in force and the version they were given in, to answers of this version."""


class Form(Generic[Deps]):
    """A form. Declare it once, for all conversations; it is checked when :meth:`build` is called or it is first used.

    Args:
        id: names it for as long as its instances live.
        version: raised when old answers no longer fit; an integer.
        deps: the class of what executors get from the conversation, as ``ctx.deps``.
        steps: in the order they are asked.
        name: what it is called.
        description: what it is for, told to the model.
        conduct: standing advice, told to the model while the form is open.
        migrate: takes over the answers of an older version; without it such instances are stale.

    Attributes:
        steps: compiled, in order.
        fields: by id; the ids are the form's, not the step's.
        checkpoints: by id, in the order declared.
        names: finds fields by what a model calls them.
        executors: by hook id.
    """

    def __init__(
        self,
        id: str,
        *,
        version: int,
        deps: type[Deps] | None = None,
        steps: Sequence[type[FormStep]],
        name: str,
        description: str = "",
        conduct: str | None = None,
        migrate: Migrate | None = None,
    ) -> None:
        self.id = id
        self.version = version
        self.deps = deps
        self.name = name
        self.description = description
        self.conduct = conduct
        self.migrate = migrate
        self._mistakes: list[tuple[str, str]] = []
        self.steps = tuple(compile_step(model, index, self._report) for index, model in enumerate(steps))
        self._by_model = {step.model: step for step in self.steps}
        self._by_id = {step.id: step for step in self.steps}
        self.fields = {field.id: field for step in self.steps for field in step.fields}
        self.confirming = tuple(field.id for field in self.fields.values() if field.notes.confirms)
        """Ids of fields that confirm the others."""
        self.checkpoints: dict[str, Checkpoint] = {}
        self.names = AliasIndex((field.id, field.label) for field in self.fields.values())
        self.executors: dict[str, Executor] = {}
        self._check_names()

    # ---------------------------------------------------------------------------------------------------- declaring

    @overload
    def on_complete(
        self, step: type[S]
    ) -> Callable[[Callable[[FormContext[Deps], S], Outcome]], Callable[[FormContext[Deps], S], Outcome]]: ...

    @overload
    def on_complete(
        self,
    ) -> Callable[[Callable[[FormContext[Deps]], Outcome]], Callable[[FormContext[Deps]], Outcome]]: ...

    def on_complete(self, step: type[FormStep] | None = None) -> Any:
        """Run this when a step is complete, with its answers; without a step, when the form is."""

        def register(run: Callable[..., Outcome]) -> Callable[..., Outcome]:
            if step is None:
                self._execute(FORM_HOOK, FORM_HOOK, run)
            elif step not in self._by_model:
                self._report(step.__form_step__.id, f"on_complete names {step.__name__}, which is no step of this form")
            else:
                hook = step_hook(step.__form_step__.id)
                self._execute(hook, step.__form_step__.id, lambda ctx: run(ctx, ctx.step(step)))
            return run

        return register

    def on_fill(
        self, field_id: str
    ) -> Callable[[Callable[[FormContext[Deps], Any], Outcome]], Callable[[FormContext[Deps], Any], Outcome]]:
        """Run this when a field gets a valid answer and applies, with the answer; not when a valid one is changed."""

        def register(run: Callable[[FormContext[Deps], Any], Outcome]) -> Callable[[FormContext[Deps], Any], Outcome]:
            if field_id not in self.fields:
                self._report(field_id, f"on_fill names {field_id!r}, which is no field of this form")
            self._execute(field_hook(field_id), field_id, lambda ctx: run(ctx, ctx.values[field_id]))
            return run

        return register

    def on_skip(
        self, field_id: str
    ) -> Callable[[Callable[[FormContext[Deps], str], Outcome]], Callable[[FormContext[Deps], str], Outcome]]:
        """Run this when a field is skipped, with the reason."""

        def register(run: Callable[[FormContext[Deps], str], Outcome]) -> Callable[[FormContext[Deps], str], Outcome]:
            field = self.fields.get(field_id)
            if field is None or not field.notes.skippable:
                self._report(field_id, f"on_skip names {field_id!r}, which is no field that may be skipped")
            self._execute(skip_hook(field_id), field_id, lambda ctx: run(ctx, ctx.reason))
            return run

        return register

    def checkpoint(
        self, id: str, *, when: When, blocking: bool = False, wait_message: str = ""
    ) -> Callable[[Callable[[FormContext[Deps]], Outcome]], Callable[[FormContext[Deps]], Outcome]]:
        """Run this when a condition becomes true.

        Args:
            id: names the checkpoint.
            when: the condition.
            blocking: whether answers are frozen while it runs.
            wait_message: what people are told meanwhile.
        """

        def register(run: Callable[[FormContext[Deps]], Outcome]) -> Callable[[FormContext[Deps]], Outcome]:
            if not id or id in self.checkpoints:
                self._report(id, f"there are two checkpoints {id!r}" if id else "a checkpoint has no id")
            self.checkpoints[id] = Checkpoint(id=id, when=when, blocking=blocking, wait_message=wait_message)
            self.executors[checkpoint_hook(id)] = run
            return run

        return register

    def build(self) -> Form[Deps]:
        """Check everything declared so far.

        Returns:
            This form.

        Raises:
            FormDefinitionError: something is wrong; it names every mistake and all ids concerned.
        """
        if self._mistakes:
            raise FormDefinitionError((one for one, _ in self._mistakes), *(said for _, said in self._mistakes))
        return self

    # ------------------------------------------------------------------------------------------------------ finding

    def step(self, step_id: str) -> Step | None:
        """Find a step by id."""
        return self._by_id.get(step_id)

    def step_of(self, model: type[FormStep]) -> Step:
        """Give a step by its class.

        Raises:
            FormDefinitionError: it is no step of this form.
        """
        try:
            return self._by_model[model]
        except KeyError:
            raise FormDefinitionError([], f"{model.__name__} is no step of form {self.id!r}") from None

    # ----------------------------------------------------------------------------------------------------- checking

    def _report(self, concerned: str, mistake: str) -> None:
        self._mistakes.append((concerned, mistake))

    def _execute(self, hook: str, concerned: str, run: Executor) -> None:
        if hook in self.executors:
            self._report(concerned, f"two executors are declared for {hook!r}; make them one")
        self.executors[hook] = run

    def _check_names(self) -> None:
        version: object = self.version
        if not self.id.strip():
            self._report(self.id, "the form has no id")
        if not isinstance(version, int) or isinstance(version, bool):
            self._report(self.id, f"the form's version is {version!r}; it has to be an integer")
        if not self.steps:
            self._report(self.id, f"form {self.id!r} has no steps")
        for kind, ids in (
            ("steps", [step.id for step in self.steps]),
            ("fields", [field.id for field in self._all_fields()]),
        ):
            for one in sorted({one for one in ids if ids.count(one) > 1}):
                self._report(one, f"there are two {kind} {one!r}; ids are unique in the whole form")
        for one, other, key in self.names.collisions:
            for concerned in (one, other):
                self._report(concerned, f"fields {one!r} and {other!r} both go by {key!r}; change an id or a label")

    def _all_fields(self) -> list[Field]:
        return [field for step in self.steps for field in step.fields]
