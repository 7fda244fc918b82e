"""A call's screen: what the agent shows, told to whoever looks, and answered by whoever may.

Above: ``live``. Below: the conversation's display.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Self

from agents.core.errors import AnswerError
from agents.display import DisplayManager
from voice_server.clients.commands import RejectSlot, ResolveSlot
from voice_server.clients.events import ClientEvent, Failure
from voice_server.clients.telling import screen
from voice_server.conversations import Conversation

__all__ = ["Screen"]


class Screen:
    """There is one when somebody has said that they can look; from then on, for as long as the call.

    Args:
        conversation: whose agent shows.
        tell: takes what is shown, and what is wrong with an answer.
    """

    def __init__(self, conversation: Conversation, tell: Callable[[ClientEvent], None]) -> None:
        self._conversation = conversation
        self._tell = tell
        self._display: DisplayManager | None = None
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def show(self) -> None:
        """Somebody looks, or looks again: tell what is shown, and go on telling."""
        if self._display is None:
            self._display = self._held.enter_context(self._conversation.screen())
            self._held.callback(self._display.add_listener(lambda slots: self._tell(screen(slots))))
        self.tell_again()

    def tell_again(self) -> None:
        """Tell what is shown, if anything is."""
        if self._display is not None and self._display.slots:
            self._tell(screen(self._display.slots))

    def answer(self, command: ResolveSlot | RejectSlot) -> None:
        """Take an answer to what is shown."""
        if self._display is None:
            self._tell(Failure(code="bad_message", message="there is no screen; `start` with `screen` to have one"))
            return
        try:
            if isinstance(command, ResolveSlot):
                self._display.resolve(command.slot, command.value)
            else:
                self._display.reject(command.slot, command.reason)
        except AnswerError as error:
            self._tell(Failure(code="bad_answer", message=str(error)))
