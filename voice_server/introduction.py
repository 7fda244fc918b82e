"""An introduction: what the agent is told of whoever called, as it is known now.

Pure. Above: ``live`` has it appended to every model call. It is data from outside: what a number or a name says is none
of the framework's words.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["introduction"]

LONGEST = 80
"""Characters of anything that is told."""


def introduction(caller: Mapping[str, str]) -> str | None:
    """Say who called and from where.

    Args:
        caller: what is known, as :class:`~agents.core.line.Line` has it.

    Returns:
        A few words; ``None``: the caller is not on a telephone, and there is nothing to tell.
    """
    if caller.get("kind") != "sip":
        return None
    known = ["The caller is on a telephone."]
    if number := _plain(caller.get("number", "")):
        known.append(f"Their number, as it was transmitted: {number}.")
    if dialled := _plain(caller.get("dialled", "")):
        known.append(f"They dialled: {dialled}.")
    return " ".join(known)


def _plain(text: str) -> str:
    return "".join(character for character in text if character.isalnum() or character in "+-@._ ")[:LONGEST].strip()
