"""Agents by name: `module:factory` becomes whatever the factory makes, or one sentence saying why not."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from datetime import datetime
from typing import Any, cast

from agents.core.glove import Glove
from agents.core.model import Model
from agents.stores.keeping import Keeping
from voice_server.errors import UsageError

__all__ = ["load_factory", "make_agent", "make_glove"]


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


def make_glove(spec: str, model: Model, keeping: Keeping) -> Glove:
    """Make an agent of ours for a conversation, which a call or a chat talks to.

    Args:
        spec: ``module:factory``. Besides the model the factory is given what it names: ``now``, the local time as a
            function, and ``keeping``, where the conversation and what goes with it is kept.
        model: what it thinks with.
        keeping: the conversation's.

    Raises:
        UsageError: there is no such factory, it raised, or what it made is no :class:`Glove`.
    """
    offered = {"now": lambda: datetime.now().astimezone(), "keeping": keeping}
    made = make_agent(spec, model, **_named(load_factory(spec), offered))
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
