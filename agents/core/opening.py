"""What a request begins with: a person's words, or the results of calls that outlived their rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from agents.core.conversation import Conversation
from agents.core.expectation import ExpectedAnswer
from agents.core.late import LATE_TEXT
from agents.core.messages import ContentPart, Message
from agents.core.running import RunningCall
from agents.core.store import Window

if TYPE_CHECKING:
    from agents.core.glove import Glove

__all__ = ["LateResults", "Opening", "Said", "Words", "keep_late"]

Said: TypeAlias = str | Sequence[ContentPart]
"""What a person says: text, or text with pictures and the like."""


class Opening(Protocol):
    """How a request begins."""

    @property
    def urgent(self) -> bool:
        """Whether a person waits for the answer."""
        ...

    @property
    def expected(self) -> ExpectedAnswer | None:
        """What is asked by what it begins with; known once it is stored."""
        ...

    async def store(self, glove: Glove, kept: Conversation, seen: Window) -> tuple[bool, Window | None]:
        """Make it part of the conversation. Once.

        Args:
            glove: who is talked to.
            kept: the conversation.
            seen: what it was like a moment ago.

        Returns:
            Whether there is anything to answer, and the conversation now; ``None``: it has to be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Words:
    """A person said something."""

    said: Said
    urgent: bool = True
    expected: ExpectedAnswer | None = None

    async def store(self, glove: Glove, kept: Conversation, seen: Window) -> tuple[bool, Window | None]:
        """Add the message; a plain yes or no is also the answer to a question for leave."""
        parts = (ContentPart(type="text", text=self.said),) if isinstance(self.said, str) else self.said
        text = "\n".join(part.text for part in parts if part.type == "text" and part.text)
        media = tuple(part for part in parts if part.type != "text")
        await glove.permissions.hear(text)
        message = Message(sender="user", text=text, content=media, id=glove.new_id())
        return True, await kept.append(message, after=seen)


class LateResults:
    """Calls that outlived their rounds have ended."""

    def __init__(self) -> None:
        self.urgent = False
        self.expected: ExpectedAnswer | None = None

    async def store(self, glove: Glove, kept: Conversation, seen: Window) -> tuple[bool, Window | None]:
        """Add what is to be told; what belongs to another conversation is only kept there."""
        answers = False
        for call in glove.errands.take():
            await keep_late(glove, call)
            if call.kept.store is kept.store:
                self.expected = call.expected or self.expected
                answers = True
        return answers, None


async def keep_late(glove: Glove, call: RunningCall) -> None:
    """Make a late result part of the conversation it belongs to."""
    if call.result is not None:
        message = Message(
            sender="user",
            text=LATE_TEXT,
            id=glove.new_id(),
            tool_results=(call.result,),
            framework_context="tool_result",
        )
        await call.kept.append(message)
