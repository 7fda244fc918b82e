"""What an executor may return: what is to follow from what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic_core import from_json, to_json

__all__ = [
    "Complete",
    "Effect",
    "Effects",
    "Fail",
    "Jump",
    "Patch",
    "Terminate",
    "as_effects",
    "read_effects",
    "write_effects",
]


@dataclass(frozen=True, slots=True)
class Patch:
    """Write answers, as a caller's would be written; dates and the like become JSON."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fail:
    """It did not work. Nothing else the executor returned counts, and it is not run again."""

    message: str


@dataclass(frozen=True, slots=True)
class Jump:
    """Ask the questions of this step next: its class, or its id."""

    step: type[Any] | str

    @property
    def step_id(self) -> str:
        """The step's id."""
        return self.step if isinstance(self.step, str) else str(self.step.__form_step__.id)


@dataclass(frozen=True, slots=True)
class Complete:
    """The form is complete, whatever is missing."""


@dataclass(frozen=True, slots=True)
class Terminate:
    """The form is abandoned. No patch is applied, and nothing is complete."""

    reason: str


Effect: TypeAlias = Patch | Fail | Jump | Complete | Terminate
Effects: TypeAlias = Effect | Sequence[Effect] | None
"""What an executor returns."""


def as_effects(returned: object) -> tuple[Effect, ...]:
    """Put what an executor returned into one shape; a failure among others is all that counts.

    Raises:
        TypeError: it is something else.
    """
    effects = () if returned is None else returned if isinstance(returned, list | tuple) else (returned,)
    checked: list[Effect] = []
    for effect in effects:
        if isinstance(effect, Fail):
            return (effect,)
        if not isinstance(effect, Patch | Jump | Complete | Terminate):
            raise TypeError(
                f"an executor returned {type(effect).__name__}; "
                "it returns Patch, Fail, Jump, Complete, Terminate, a list of these, or nothing"
            )
        checked.append(effect)
    return tuple(checked)


def write_effects(effects: Sequence[Effect]) -> str:
    """Write effects as JSON text.

    Raises:
        ValueError: a patch holds what is no JSON.
    """
    return to_json([_plain(effect) for effect in effects], inf_nan_mode="strings").decode()


def read_effects(text: str | None) -> tuple[Effect, ...]:
    """Read what :func:`write_effects` wrote."""
    return tuple(_effect(plain) for plain in from_json(text or "[]"))


def _plain(effect: Effect) -> dict[str, Any]:
    match effect:
        case Patch():
            return {"patch": dict(effect.values)}
        case Fail():
            return {"fail": effect.message}
        case Jump():
            return {"jump": effect.step_id}
        case Complete():
            return {"complete": True}
        case Terminate():
            return {"terminate": effect.reason}


def _effect(plain: dict[str, Any]) -> Effect:
    ((kind, value),) = plain.items()
    kinds: dict[str, type[Patch | Fail | Jump | Terminate]] = {
        "patch": Patch,
        "fail": Fail,
        "jump": Jump,
        "terminate": Terminate,
    }
    return Complete() if kind == "complete" else kinds[kind](value)
