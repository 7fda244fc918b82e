"""Which forms an agent knows. A form is loaded when it is first needed; telling which there are loads none."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agents.forms.definition import Form
from agents.forms.errors import FormDefinitionError, FormNotFoundError

__all__ = ["FormRegistry", "Listing"]

Load: TypeAlias = Callable[[], Form[Any] | Awaitable[Form[Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is told of a form before it is loaded."""

    id: str
    name: str
    description: str


@dataclass(slots=True)
class _Known:
    listing: Listing
    load: Load
    form: Form[Any] | None = None
    loading: asyncio.Lock = field(default_factory=asyncio.Lock)


class FormRegistry:
    """Forms by id.

    Args:
        forms: that are there already.
    """

    def __init__(self, *forms: Form[Any]) -> None:
        self._known: dict[str, _Known] = {}
        for form in forms:
            self.add(form)

    def add(self, form: Form[Any]) -> FormRegistry:
        """Register a form that is there already; it is checked when it is first used.

        Raises:
            FormDefinitionError: there is one of this id.
        """
        return self.register(form.id, name=form.name, description=form.description, load=lambda: form)

    def register(self, id: str, *, name: str, load: Load, description: str = "") -> FormRegistry:
        """Register a form that is loaded later.

        Args:
            id: the form's.
            name: what it is called.
            load: gives it; called once, may be a coroutine function.
            description: what it is for.

        Raises:
            FormDefinitionError: there is one of this id.
        """
        if id in self._known:
            raise FormDefinitionError([id], f"there are two forms {id!r}; ids are unique")
        self._known[id] = _Known(Listing(id=id, name=name, description=description), load)
        return self

    @property
    def listings(self) -> tuple[Listing, ...]:
        """What there is, in the order registered."""
        return tuple(known.listing for known in self._known.values())

    async def load(self, id: str) -> Form[Any]:
        """Give a form, checked. Whoever asks at the same time shares one loading.

        Raises:
            FormNotFoundError: there is none of this id.
            FormDefinitionError: it is ill-defined, or of another id.
        """
        known = self._known.get(id)
        if known is None:
            there = ", ".join(map(repr, self._known)) or "none"
            raise FormNotFoundError(f"there is no form {id[:100]!r}; there are {there}")
        async with known.loading:
            if known.form is None:
                loaded = known.load()
                form = await loaded if inspect.isawaitable(loaded) else loaded
                if form.id != id:
                    raise FormDefinitionError([id, form.id], f"form {form.id!r} is registered as {id!r}")
                known.form = form.build()
            return known.form

    def invalidate(self, id: str | None = None) -> None:
        """Load a form anew when it is next needed; all of them when none is named."""
        for known in self._known.values():
            if id in (None, known.listing.id):
                known.form = None
