"""Agents by name: `module:factory` becomes whatever the factory makes, or one sentence saying why not."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast, get_type_hints

from pydantic import BaseModel, ValidationError

from agents.core.glove import Glove
from agents.core.model import Model
from agents.stores.keeping import Keeping
from voice_server.errors import UsageError

__all__ = ["Wanted", "load_factory", "make_agent", "make_glove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Who is to answer, and what they are told beforehand."""

    agent: str | None = None
    """One of the names in `VOICE_AGENTS`; ``None``: the server's own."""
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """For the agent's factory; JSON values."""

    def spec(self, own: str, others: Mapping[str, str]) -> str:
        """Find the factory, ``module:factory``.

        Args:
            own: the server's own.
            others: by name.

        Raises:
            UsageError: there is none of that name.
        """
        if self.agent is None:
            return own
        if self.agent not in others:
            names = ", ".join(sorted(others)) or "none"
            raise UsageError(f"there is no agent {self.agent[:80]!r}; those that may be asked for are: {names}")
        return others[self.agent]


def load_factory(spec: str) -> Callable[..., Any]:
    """Import ``module:factory``.

    Raises:
        UsageError: the text is no ``module:factory``, the module does not import, or it has no such callable.
    """
    module_name, colon, attribute = spec.partition(":")
    if not (colon and module_name and attribute):
        raise UsageError(
            f"agent {spec!r} is not of the form module:factory; write for example 'agents.concierge:create'"
        )
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UsageError(_not_found(spec, module_name, error.name or module_name)) from error
    except (Exception, SystemExit) as error:  # a user's module may do anything when it is imported
        raise UsageError(
            f"agent {spec!r}: module {module_name!r} does not import ({_first_line(error)}); "
            f"`python -c 'import {module_name}'` shows where"
        ) from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        problem = "has no" if found is None else "cannot call its"
        raise UsageError(
            f"agent {spec!r}: module {module_name!r} {problem} {attribute!r}; name a function that makes the agent"
        )
    return cast(Callable[..., Any], found)


def make_agent(spec: str, *args: Any, **kwargs: Any) -> Any:
    """Call an agent's factory.

    Args:
        spec: ``module:factory``.
        args: handed to the factory.
        kwargs: handed to the factory.

    Raises:
        UsageError: there is no such factory, or it raised.
    """
    factory = load_factory(spec)
    try:
        return factory(*args, **kwargs)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:  # a user's factory may raise anything
        raise UsageError(f"agent {spec!r}: its factory raised {_first_line(error)}; mend the factory") from error


def make_glove(spec: str, model: Model, keeping: Keeping, inputs: Mapping[str, Any] | None = None) -> Glove:
    """Make an agent of ours for a conversation, which a call or a chat talks to.

    Args:
        spec: ``module:factory``. Besides the model the factory is given what it names: ``now``, the local time as a
            function, ``keeping``, where the conversation and what goes with it is kept, and ``inputs``, what it is told
            beforehand: if that is annotated with a pydantic model, one of those, else a mapping.
        model: what it thinks with.
        keeping: the conversation's.
        inputs: JSON values; ``None``: there are none.

    Raises:
        UsageError: there is no such factory, it raised, it cannot take these inputs, or what it made is no
            :class:`Glove`.
    """
    factory = load_factory(spec)
    offered = {"now": lambda: datetime.now().astimezone(), "keeping": keeping, "inputs": inputs or {}}
    named = _named(factory, offered)
    if "inputs" in named:
        named["inputs"] = _read_inputs(spec, factory, inputs or {})
    elif inputs:
        raise UsageError(f"agent {spec!r} takes no inputs; leave them out, or let its factory have `inputs`")
    made = make_agent(spec, model, **named)
    if not isinstance(made, Glove):
        raise UsageError(
            f"agent {spec!r}: its factory made {type(made).__name__!r}, not a Glove; return the agent itself"
        )
    return made.rebuild(keeping.store)


def _named(factory: Callable[..., Any], offered: dict[str, Any]) -> dict[str, Any]:
    """Of what there is, what a factory takes."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # some callables written in C do not say
        return {}
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return offered
    return {parameter.name: offered[parameter.name] for parameter in parameters if parameter.name in offered}


def _read_inputs(spec: str, factory: Callable[..., Any], inputs: Mapping[str, Any]) -> Any:
    """Make of inputs what a factory wants."""
    try:
        wanted = get_type_hints(factory).get("inputs")
    except (TypeError, NameError):  # callables without annotations, and annotations of what is not there
        wanted = None
    if not (isinstance(wanted, type) and issubclass(wanted, BaseModel)):
        return inputs
    try:
        return wanted.model_validate(inputs)
    except ValidationError as error:
        # Without the values: they are a caller's.
        wrong = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'inputs'}: {each['msg']}" for each in error.errors())
        raise UsageError(f"agent {spec!r} cannot begin with these inputs: {wrong}") from None


def _not_found(spec: str, module_name: str, missing: str) -> str:
    if module_name == missing or module_name.startswith(missing + "."):
        return (
            f"agent {spec!r}: there is no module {missing!r}; check the spelling, "
            "and start the command in the folder that holds it"
        )
    return f"agent {spec!r}: module {module_name!r} needs {missing!r}, which is not installed; install it"


def _first_line(error: BaseException) -> str:
    text = (str(error).splitlines() or [""])[0][:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
