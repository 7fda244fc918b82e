"""What a tool is: a name and a description for the model, an input, and the work."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, ValidationError

from agents.core.abort import AbortSignal
from agents.core.errors import DefinitionError
from agents.core.expectation import AnswerKind, ExpectedAnswer
from agents.core.messages import ToolResultData
from agents.core.model import ToolSpec
from agents.display import DisplayManager

if TYPE_CHECKING:
    from agents.core.glove import Glove

__all__ = ["InvalidInputError", "Tool", "ToolContext", "as_result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a running tool may use."""

    glove: Glove
    signal: AbortSignal
    """Set when the request is aborted; the tool is cancelled then anyway."""
    call_id: str
    display: DisplayManager | None
    """``None`` when nobody has a screen."""
    on_expect: Callable[[ExpectedAnswer], None] = field(repr=False)

    def expect(self, kind: AnswerKind, *, choices: tuple[str, ...] = (), length: int | None = None) -> None:
        """Say what sort of answer the question in this tool's result wants. The latest call holds.

        Args:
            kind: how the answer will sound.
            choices: for ``choice``, the names as they would be said.
            length: for ``digits``, how many; unknown by default.
        """
        self.on_expect(ExpectedAnswer(kind=kind, choices=choices, length=length))


ToolWork: TypeAlias = Callable[[Any, ToolContext], Any | Awaitable[Any]]
"""From the input (an instance of the tool's model, or a dict for a raw schema) to a result; may be a coroutine.

It runs on the event loop, so it must not block, and it ends when it is cancelled: an abort waits for its clean-up.
"""


class InvalidInputError(Exception):
    """The model's input does not fit; ``problems`` maps paths to what is wrong."""

    def __init__(self, problems: dict[str, str]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{path}: {problem}" for path, problem in problems.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something the model can do.

    Raises:
        DefinitionError: the name is empty, or the input is neither a pydantic model nor the schema of an object.
    """

    name: str
    description: str
    input: type[BaseModel] | dict[str, Any]
    """A pydantic model class, or a raw JSON Schema, whose input is passed on unchecked."""
    do: ToolWork
    examples: tuple[str, ...] = ()
    """Things a caller might say that want this tool; models that need them read them, others see them as hints."""
    spec: ToolSpec = field(init=False, repr=False, compare=False)
    """The tool as a model sees it."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise DefinitionError(f"a tool needs a name, got {self.name!r}")
        if isinstance(self.input, type) and issubclass(self.input, BaseModel):
            schema = self.input.model_json_schema()
        elif isinstance(self.input, dict) and self.input.get("type") == "object":
            schema = self.input
        else:
            raise DefinitionError(
                f"tool {self.name!r} needs an input: a pydantic model class or a JSON Schema of type 'object', "
                f"got {self.input!r}"
            )
        # Made once: rendering a schema takes up to a millisecond, and every model call needs them all.
        spec = ToolSpec(name=self.name, description=self.description, input_schema=schema, examples=self.examples)
        object.__setattr__(self, "spec", spec)

    def read(self, input_args: Any) -> Any:
        """Check what the model wrote.

        Returns:
            What ``do`` takes.

        Raises:
            InvalidInputError: it does not fit.
        """
        if not isinstance(input_args, dict):
            raise InvalidInputError({"(input)": "expected a JSON object"})
        if isinstance(self.input, dict):
            return input_args
        try:
            return self.input.model_validate(input_args)
        except ValidationError as exc:
            problems = {".".join(map(str, error["loc"])) or "(input)": error["msg"] for error in exc.errors()}
            raise InvalidInputError(problems) from None

    async def run(self, value: Any, context: ToolContext) -> ToolResultData:
        """Do the work with what :meth:`read` returned."""
        outcome = self.do(value, context)
        if inspect.isawaitable(outcome):
            outcome = await outcome
        return as_result(outcome)


def as_result(outcome: Any) -> ToolResultData:
    """Wrap what a tool returned, unless it is a result already."""
    match outcome:
        case ToolResultData():
            return outcome
        case BaseModel():
            return ToolResultData(status="success", data=outcome.model_dump(mode="json"))
        case _:
            return ToolResultData(status="success", data=outcome)
