"""Ways to give no answer: "I don't have one", "skip that", "I'd rather not say", "go back"."""

from __future__ import annotations

import re

__all__ = ["is_decline", "is_going_back", "read_correction"]

_DECLINES = re.compile(
    r"""\b(?:
        (?:i|we)\s+(?:do\s+not|don['’]?t|haven['’]?t|have\s+not)\s+(?:have|got|use|own)\b(?!.*\bbut\b)
      | (?:i|we)(?:['’]ve|\s+have)?\s+(?:got\s+)?(?:none|no\s+such|not\s+got)
      | there(?:['’]s|\s+is|\s+are)\s+(?:none|no\b)
      | (?:skip|leave\s+out|pass\s+on)\s+(?:it|that|this|the|my)\b
      | (?:i['’]?d|i\s+would)\s+rather\s+not | (?:i\s+)?prefer\s+not\s+to | none\s+of\s+your\s+business
      | leave\s+(?:it|that)\s+(?:out|blank|empty) | not\s+applicable | does(?:n['’]?t|\s+not)\s+apply
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_WHOLE_DECLINE = re.compile(
    r"^\W*(?:(?:no|nope|sorry|oh|uh|um|well|actually)\W+)*"
    r"(?:none|nothing|no\s+\w+(?:\s+(?:number|card|code|name))?|pass|skip)\W*"
    r"(?:please|thanks|thank\s+you|sorry)?\W*$",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:go\s+back|(?:back\s+)?(?:one\s+)?step\s+back|previous\s+(?:question|one|step)|undo\s+(?:that|it|this)|"
    r"take\s+(?:that|it)\s+back|back\s+to\s+the\s+(?:last|previous)\s+(?:one|question))\b",
    re.IGNORECASE,
)
_MARKS = r"actually|correction|rather|wait|hang\s+on|hold\s+on|i\s+meant?"
_MARK = re.compile(_MARKS, re.IGNORECASE)
_LEAD = re.compile(rf"(?:\W*\b(?:no|sorry|oh|uh|um|well|okay|ok|please|{_MARKS})\b)*\W*", re.IGNORECASE)
"""Words before a correction; some of them make it one."""
_CHANGE = re.compile(
    r"""^(?:(?:can|could|would|will)\s+(?:you|we|i)\s+|i(?:['’]d|\s+would)\s+like\s+to\s+|let['’]?s\s+)?
        (?:please\s+)?(?:make|change|set|correct)\s+
        (?:(?:the|my|our)\s+(?P<about>[\w\s]{1,40}?)\s+to|(?:it|that|this)(?:\s+to)?)
        \s+(?P<value>.+)$""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)

TEXT_LIMIT = 500
"""Characters looked at: whoever says more than this gives an answer."""


def is_decline(text: str) -> bool:
    """Whether an utterance says that there is no answer, or will be none.

    A plain "no" is none of these: it may answer a question.
    """
    said = text[:TEXT_LIMIT]
    return _DECLINES.search(said) is not None or _WHOLE_DECLINE.match(said) is not None


def is_going_back(text: str) -> bool:
    """Whether an utterance wants the last answer undone."""
    return _BACK.search(text[:TEXT_LIMIT]) is not None


def read_correction(text: str) -> tuple[str | None, str] | None:
    """Read an answer that takes the place of an earlier one: "actually, make it three", "change the date to Friday".

    Returns:
        What it is about, if that was said ("date"), and the words of the new answer; ``None`` when it is no correction.
    """
    said = text[:TEXT_LIMIT]
    lead = _LEAD.match(said)
    before, words = (lead[0], said[lead.end() :].strip()) if lead is not None else ("", said.strip())
    if (change := _CHANGE.match(words)) is not None:
        return change["about"], change["value"]
    return (None, words) if words and _MARK.search(before) else None
