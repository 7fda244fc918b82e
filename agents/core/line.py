"""The line: what a tool may do to the call it is used in. A chat has none.

Above: tools find it as ``ctx.line``. Below: whoever holds the call gives the glove one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["Line", "LineError"]


class LineError(Exception):
    """The line cannot do it; the message is for the model, and says what can be done instead."""


class Line(Protocol):
    """How a caller is reached."""

    @property
    def caller(self) -> Mapping[str, str]:
        """What is known of the caller's end; data from outside, and a number is personal.

        ``kind``: ``socket``, ``standard`` or ``sip``. Of a telephone also ``number``, ``dialled``, ``trunk``, ``call``.
        """
        ...

    @property
    def on_hold(self) -> bool:
        """Whether the caller is on hold: not listened to, and nothing is said to them."""
        ...

    def hang_up(self) -> None:
        """End the call when all that is being said has been heard, a goodbye in the same answer too.

        When the caller says something before that, they are answered, and the call goes on.
        """
        ...

    def hold(self) -> None:
        """Put the caller on hold. Idempotent."""
        ...

    def unhold(self) -> None:
        """Talk to them again. Idempotent."""
        ...

    async def transfer(self, to: str) -> None:
        """Put the caller through to somebody else; then the call is over.

        Args:
            to: ``tel:+43…`` or ``sip:…``.

        Raises:
            LineError: this line cannot, or nobody answered.
        """
        ...
