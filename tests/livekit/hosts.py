"""Agents that a worker's tests ask for by name."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agents.core.glove import Glove
from agents.core.model import Model


class Guest(BaseModel):
    """What the greeter is told beforehand."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)


def greeter(model: Model, inputs: Guest) -> Glove:
    return Glove(model=model, system_prompt=f"You greet {inputs.name}.")


def broken(model: Model) -> Glove:
    raise RuntimeError("it never worked")
