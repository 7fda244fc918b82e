"""Whether a tool may be run with an input: decided by a person, once per tool and input.

A person with a screen is asked on it. Where nobody has one, a tool may say how to ask by voice: the model puts the
question, and the person's next words decide, read by rules and not by the model, which must not give itself leave. Only
words that come after the question was heard decide anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.core.errors import SlotRejectedError
from agents.core.expectation import ExpectedAnswer
from agents.core.messages import Message, ToolResultData
from agents.core.store import Permission, PermissionStore, Store, permissions_of
from agents.core.tools import Tool
from agents.display import DisplayManager
from agents.reading.assent import read_yes_no

__all__ = ["PERMISSION_RENDERER", "Permissions"]

PERMISSION_RENDERER = "permission_request"
"""The renderer of the slot that asks; its input has ``toolName`` and ``toolInput``, its answer counts by truth."""


@dataclass(slots=True, kw_only=True)
class _Asked:
    store: PermissionStore
    tool_name: str
    input_args: Any
    question: str
    called_in: str
    """The message that made the call."""
    heard: bool = False
    """Whether the person has heard the question."""


class Permissions:
    """The gate before every call of a tool that wants leave."""

    def __init__(self) -> None:
        self._asked: list[_Asked] = []
        """What the person was asked by voice, and has not had a turn to answer."""

    async def check(
        self, tool: Tool, input_args: Any, *, called_in: str, store: Store, display: DisplayManager | None
    ) -> tuple[ToolResultData | None, ExpectedAnswer | None]:
        """Tell whether a call may go ahead, asking if need be. Cancelling it takes the question off the screen.

        A store that keeps no permissions lets everything through.

        Args:
            tool: whose call it is.
            input_args: as the model wrote them, unchecked.
            called_in: the id of the message that made the call.
            store: where decisions are kept.
            display: the screen, when somebody has one.

        Returns:
            ``None`` when it may, else the result it gets instead; and what the question in that result wants.
        """
        permissions = permissions_of(store)
        if permissions is None or not tool.wants_permission(input_args):
            return None, None
        status = await permissions.get_permission(tool.name, input_args)
        if status == "unset" and display is None:
            return self._ask_by_voice(permissions, tool, input_args, called_in)
        if status == "unset" and display is not None:
            shown = {"toolName": tool.name, "toolInput": input_args}
            try:
                granted = bool(await display.push_and_wait(PERMISSION_RENDERER, shown))
            except SlotRejectedError as exc:
                return _refused(f"Nobody decided whether this may be done: {exc}."), None
            status = "granted" if granted else "denied"
            await permissions.set_permission(tool.name, status, input_args)
        if status == "granted":
            return None, None
        return _refused(f"The user does not allow {tool.name!r} with this input. Do not try it again."), None

    def told(self, messages: Sequence[Message], said: str, heard: str) -> None:
        """Take note of what the person heard of a reply that may have put a question.

        Args:
            messages: those of the reply that are stored.
            said: all of its words, those included that are in no message because it was stopped.
            heard: a prefix of them.
        """
        ids = {message.id for message in messages}
        for asked in self._asked:
            asked.heard = asked.heard or (asked.called_in in ids and _was_heard(asked.question, said, heard))

    async def hear(self, text: str) -> None:
        """Take the person's next words: a plain yes or no decides what was asked by voice just before, and heard.

        Anything else decides nothing, and then the question has to be asked again.
        """
        asked, self._asked = self._asked, []
        answer = read_yes_no(text) if len(asked) == 1 and asked[0].heard else None
        if answer is not None:
            (question,) = asked
            status: Permission = "granted" if answer else "denied"
            await question.store.set_permission(question.tool_name, status, question.input_args)

    def _ask_by_voice(
        self, store: PermissionStore, tool: Tool, input_args: Any, called_in: str
    ) -> tuple[ToolResultData, ExpectedAnswer | None]:
        question = tool.voice_question(input_args)
        if question is None:
            reason = "this needs the user's leave, and nobody has a screen to be asked on"
            return _refused(f"Not done: {reason}. Tell the user so."), None
        if self._asked:
            return _refused("Not done: it needs the user's leave, and one question at a time is enough."), None
        self._asked.append(
            _Asked(store=store, tool_name=tool.name, input_args=input_args, question=question, called_in=called_in)
        )
        note = "Not done yet: it needs the user's leave. Ask exactly this; after a yes, make the same call again."
        return _refused(note, ask=question), ExpectedAnswer(kind="yes_no")


def _refused(message: str, **data: str) -> ToolResultData:
    return ToolResultData(status="error", message=message, data=data or None)


def _was_heard(question: str, said: str, heard: str) -> bool:
    """Whether a question was heard to its end: the tool's own words for it, or what the model made of them.

    A reply without any question has not asked. Words are counted, for what was heard need not end with its stop.
    """
    asked, words = _words(question), _words(said)
    ends = [at + len(asked) for at in range(len(words)) if words[at : at + len(asked)] == asked]
    last_mark = max(said.rfind("?"), said.rfind("\uff1f"))
    end = ends[-1] if ends else len(_words(said[: last_mark + 1]))
    return 0 < end <= len(_words(heard))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
