"""What a tool is: a name and a description for the model, an input, and the work."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args

from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticUserError

from agents.core.messages import ToolResultData
from agents.core.model import ToolSpec
from agents.core.results import as_result
from agents.core.tool_context import ToolContext
from agents.display import DisplayStrategy

__all__ = ["InvalidInputError", "Tool", "ToolContext", "as_result"]

logger = logging.getLogger(__name__)

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What OpenAI's, Anthropic's and Google's wires all take for a tool's name."""

SUMMARY_LIMIT = 2_000
"""Characters kept of a summary: what is longer is none."""

ToolWork: TypeAlias = Callable[[Any, ToolContext], Any | Awaitable[Any]]
"""From the input (an instance of the tool's model, or a dict for a raw schema) to a result; may be a coroutine.

It runs on the event loop, so it must not block, and it ends when it is cancelled: an abort waits for its clean-up.
"""

VoiceQuestion: TypeAlias = str | Callable[[Any], str]
"""How leave is asked for by voice: a question of yes or no, or a function that makes it from the input."""


NO_OBJECT = "expected a JSON object; the call was broken or cut off, so make it again, and shorter if it was long"
"""What a model is told of an input that is none: a response that meets its token limit ends in the middle of a call."""


class InvalidInputError(Exception):
    """The model's input does not fit; ``problems`` maps paths to what is wrong."""

    def __init__(self, problems: dict[str, str]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{path}: {problem}" for path, problem in problems.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something the model can do. What is wrong with it is said when the glove is built, all at once."""

    name: str
    description: str
    input: type[BaseModel] | dict[str, Any]
    """A pydantic model class, or a raw JSON Schema of an object, whose input is passed on unchecked."""
    do: ToolWork
    examples: tuple[str, ...] = ()
    """Things a caller might say that want this tool; models that need them read them, others see them as hints."""
    requires_permission: bool | Callable[[Any], bool] = False
    """Whether a person has to allow a call first; a function is given the input as the model wrote it."""
    permission_question: VoiceQuestion | None = None
    """How to ask for leave where nobody has a screen; ``None`` refuses there."""
    unabortable: bool = False
    """Whether it runs to its end whatever happens, and even when the request was aborted before it began."""
    retries: int | None = None
    """How often it is run again after it raised; ``None``: as often as the glove says."""
    timeout_s: float | None = None
    """Seconds after which it is stopped, all tries together; ``None``: never."""
    generate_summary: Callable[[Any], str | Awaitable[str]] | None = None
    """Makes the summary of a result from its ``generate_summary_args``."""
    display_strategy: DisplayStrategy | None = None
    """How long its slots are shown, unless it says otherwise."""
    spec: ToolSpec = field(init=False, repr=False, compare=False)
    """The tool as a model sees it."""
    mistakes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """What is wrong with this definition; a glove that has such a tool is not built."""

    def __post_init__(self) -> None:
        mistakes: list[str] = []
        schema = self._schema(mistakes)
        self._check(mistakes)
        # Made once: rendering a schema takes up to a millisecond, and every model call needs them all.
        spec = ToolSpec(name=self.name, description=self.description, input_schema=schema, examples=self.examples)
        object.__setattr__(self, "spec", spec)
        object.__setattr__(self, "mistakes", tuple(f"tool {self.name!r} {mistake}" for mistake in mistakes))

    def read(self, input_args: Any) -> Any:
        """Check what the model wrote.

        Returns:
            What ``do`` takes.

        Raises:
            InvalidInputError: it does not fit.
        """
        if not isinstance(input_args, dict):
            raise InvalidInputError({"(input)": NO_OBJECT})
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

    async def summarise(self, result: ToolResultData) -> str | None:
        """Make the summary of a result, if the tool makes any and the result is made for it.

        One that fails is none: the result itself is whole.
        """
        if self.generate_summary is None or not result.generate_summary_args:
            return result.summary
        try:
            summary = self.generate_summary(result.generate_summary_args)
            return str(await summary if inspect.isawaitable(summary) else summary)[:SUMMARY_LIMIT]
        except Exception as exc:  # noqa: BLE001 - the boundary to foreign code
            logger.warning("summarising a result of tool %r raised %s", self.name, type(exc).__name__)
            return None

    def wants_permission(self, input_args: Any) -> bool:
        """Whether a call needs leave. A function that fails on an input has not said that it does not."""
        if not callable(self.requires_permission):
            return self.requires_permission
        try:
            return bool(self.requires_permission(input_args))
        except Exception as exc:  # noqa: BLE001 - the boundary to foreign code, given unchecked input
            logger.warning("asking whether tool %r needs permission raised %s", self.name, type(exc).__name__)
            return True

    def voice_question(self, input_args: Any) -> str | None:
        """The question that asks for leave by voice; ``None`` when there is none for this input."""
        if not callable(self.permission_question):
            return self.permission_question
        try:
            return self.permission_question(input_args)
        except Exception as exc:  # noqa: BLE001 - the boundary to foreign code, given unchecked input
            logger.warning("making the question of tool %r raised %s", self.name, type(exc).__name__)
            return None

    def _schema(self, mistakes: list[str]) -> dict[str, Any]:
        if isinstance(self.input, dict) and self.input.get("type") == "object":
            return self.input
        if isinstance(self.input, type) and issubclass(self.input, BaseModel):
            try:
                return self.input.model_json_schema()
            except PydanticUserError as exc:
                mistakes.append(f"has an input that no JSON Schema can describe: {exc.message.splitlines()[0]}")
                return {}
        wanted = "a pydantic model class or a JSON Schema of type 'object'"
        mistakes.append(f"needs an input: {wanted}, got {self.input!r}")
        return {}

    def _check(self, mistakes: list[str]) -> None:
        if not NAME.fullmatch(self.name):
            mistakes.append("needs a name of 1 to 64 letters, digits, '_' and '-'")
        do: object = self.do
        if not callable(do):
            mistakes.append(f"needs work: a function of the input and the context, got {self.do!r}")
        if self.retries is not None and self.retries < 0:
            mistakes.append(f"cannot be retried {self.retries} times; 0 is never")
        if self.timeout_s is not None and not self.timeout_s > 0:
            mistakes.append(f"has a timeout of {self.timeout_s} seconds; None is no timeout")
        if self.timeout_s is not None and self.unabortable:
            mistakes.append("has a timeout and may not be stopped; drop one of the two")
        if self.permission_question is not None and not self.requires_permission:
            mistakes.append("says how to ask for permission and requires none; set requires_permission")
        if self.display_strategy is not None and self.display_strategy not in get_args(DisplayStrategy):
            known = ", ".join(get_args(DisplayStrategy))
            mistakes.append(f"has a display strategy {self.display_strategy!r}; there are {known}")
