"""Take a message: what it is, how to reach the caller, and a yes before it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from agents.core.tools import Tool, ToolContext
from agents.reading.digits import read_digits
from agents.reading.spelling import read_address
from agents.spoken import say_address, say_digits

__all__ = ["MessagePad", "TakenMessage", "take_message"]

FEWEST_DIGITS, MOST_DIGITS = 5, 15
"""Shortest number worth calling back, and the longest there is (ITU-T E.164)."""


class MessageInput(BaseModel):
    """What is known of the message so far."""

    message: str | None = Field(default=None, max_length=1000, description="The message, in the caller's words.")
    reach: Literal["phone", "e-mail"] | None = Field(default=None, description="How the caller wants to be reached.")
    number: Annotated[str, Field(json_schema_extra={"pattern": "^[0-9]+$"})] | None = Field(
        default=None, max_length=200, description="The callback number, digits only."
    )
    address: Annotated[str, Field(json_schema_extra={"format": "email"})] | None = Field(
        default=None, max_length=500, description="The e-mail address, as it is written."
    )
    confirmed: bool | None = Field(
        default=None, description="The caller's yes or no to the read-back. Leave it out until they have answered."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenMessage:
    """A message somebody is to get."""

    text: str
    reach: Literal["phone", "e-mail"]
    contact: str
    """Digits, or an e-mail address."""


class MessagePad:
    """The messages kept, in order; each once, however often it is handed in."""

    def __init__(self) -> None:
        self._kept: list[TakenMessage] = []

    @property
    def kept(self) -> tuple[TakenMessage, ...]:
        """What is on the pad."""
        return tuple(self._kept)

    def keep(self, message: TakenMessage) -> None:
        """Write a message down. Idempotent."""
        if message not in self._kept:
            self._kept.append(message)


def take_message(pad: MessagePad) -> Tool:
    """Make the tool for one conversation.

    Args:
        pad: where messages are kept.
    """
    taking = _Taking(pad)
    return Tool(
        name="take_message",
        description=(
            "Take a short message for somebody who is not here. Call it as soon as the caller wants to leave a "
            "message, with whatever they have said so far; the result says what to `ask` next and in which `field` "
            "the answer goes. Ask exactly that, then call again with `so_far` and the answer. Read numbers and "
            "addresses back as the result writes them. The message is kept only when the result says so."
        ),
        input=MessageInput,
        do=taking.take,
        examples=(
            "I would like to leave a message",
            "can you take a message",
            "please take a message for me",
            "I want to leave a message for somebody",
            "could you pass on a message",
        ),
    )


class _Taking:
    """Asks for what is missing; remembers only what was read back, so that no yes counts that answers nothing."""

    def __init__(self, pad: MessagePad) -> None:
        self._pad = pad
        self._read_back: str | None = None

    def take(self, given: MessageInput, ctx: ToolContext) -> dict[str, Any]:
        text = (given.message or "").strip()
        if not text:
            ctx.expect("dictation")
            return _ask(given, "message", "What is the message?")
        given = given.model_copy(update={"message": text})
        if given.reach is None:
            ctx.expect("choice", choices=("phone", "e-mail"))
            return _ask(given, "reach", "How can we reach you, by phone or by e-mail?")
        contact, question = self._contact(given, ctx)
        if contact is None:
            return question
        return self._settle(given, TakenMessage(text=text, reach=given.reach, contact=contact), ctx)

    def _contact(self, given: MessageInput, ctx: ToolContext) -> tuple[str | None, dict[str, Any]]:
        """Read where the caller is reached.

        Returns:
            The digits or the address; or ``None`` and the question to ask.
        """
        if given.reach == "phone":
            digits = read_digits(given.number) if given.number else None
            if digits is not None and FEWEST_DIGITS <= len(digits) <= MOST_DIGITS:
                return digits, {}
            ctx.expect("digits")
            again = given.model_copy(update={"number": None})
            if digits is None:
                return None, _ask(again, "number", "What number can we call you back on?")
            have = say_digits(digits) if len(digits) < FEWEST_DIGITS else f"{len(digits)} digits"
            return None, _ask(again, "number", f"I have {have}, and that cannot be all. Please say the whole number.")
        address = read_address(given.address) if given.address else None
        if address is not None:
            return address, {}
        ctx.expect("spelling")
        again = given.model_copy(update={"address": None})
        return None, _ask(again, "address", "Please spell your e-mail address, letter by letter.")

    def _settle(self, given: MessageInput, message: TakenMessage, ctx: ToolContext) -> dict[str, Any]:
        field = "number" if message.reach == "phone" else "address"
        given = given.model_copy(update={field: message.contact})
        if message in self._pad.kept:
            return {"say": "Your message is kept already. Somebody will get back to you.", "kept": True}
        if given.confirmed is not None and message.contact == self._read_back:
            self._read_back = None
            if given.confirmed:
                self._pad.keep(message)
                return {"say": "Thank you. I have kept your message, and somebody will get back to you.", "kept": True}
            ctx.expect("digits" if message.reach == "phone" else "spelling")
            again = given.model_copy(update={field: None, "confirmed": None})
            what = "number" if message.reach == "phone" else "address, letter by letter"
            return _ask(again, field, f"Sorry about that. Please say the {what} once more.")
        self._read_back = message.contact
        ctx.expect("yes_no")
        back = say_digits(message.contact) if message.reach == "phone" else say_address(message.contact)
        return _ask(given.model_copy(update={"confirmed": None}), "confirmed", f"I have {back}. Is that right?")


def _ask(given: MessageInput, field: str, ask: str) -> dict[str, Any]:
    return {"ask": ask, "field": field, "so_far": given.model_dump(exclude_none=True), "kept": False}
