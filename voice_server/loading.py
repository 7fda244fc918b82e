"""Agents by name: `module:factory` becomes whatever the factory makes, or one sentence saying why not."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from datetime import datetime
from typing import Any, cast

from agents.core.glove import Glove
from agents.core.model import Model
from voice_server.errors import UsageError

__all__ = ["load_factory", "make_agent", "make_glove"]


def load_factory(spec: str) -> Callable[..., Any]:
    """Import ``module:factory``.

    Raises:
        UsageError: the text is no ``module:factory``, the module does not import, or it has no such callable.
    """
    module_name, colon, attribute = spec.partition(":")
    if not (colon and module_name and attribute):
        raise UsageError(f"agent {spec!r} is not of the form module:factory; write for example 'agents.desk:create'")
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


def make_glove(spec: str, model: Model) -> Glove:
    """Make an agent of ours, which a call or a chat talks to.

    Args:
        spec: ``module:factory``.
        model: what it thinks with.

    Raises:
        UsageError: there is no such factory, it raised, or what it made is no :class:`Glove`.
    """
    made = make_agent(spec, model, now=lambda: datetime.now().astimezone())
    if not isinstance(made, Glove):
        raise UsageError(
            f"agent {spec!r}: its factory made {type(made).__name__!r}, not a Glove; return the agent itself"
        )
    return made


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
