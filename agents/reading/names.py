"""Names of people and places, out of the words people put around them: "My name is Amina Odhiambo."."""

from __future__ import annotations

import re

from agents.reading.vocabulary import vocabulary, words

__all__ = ["read_name"]

NAME_LIMIT = 100
"""Characters of a name."""

WORD_LIMIT = 6
"""Words of a name: more than people have, "Port Harcourt International Airport, Nigeria" included."""

_LEAD_IN = re.compile(
    r"""^(?:\W*(?:
        (?:oh|uh|um|er|well|so|yes|yeah|okay|ok|sure|hi|hello|please|and|actually|no)\b
      | (?:my|the|her|his|their|our)\s+(?:full\s+|last\s+|first\s+)?name(?:['’]s|\s+is|\s+would\s+be)
      | (?:it|that|this|name)(?:['’]s|\s+is|\s+would\s+be)
      | i(?:['’]m|\s+am)\s+called | i(?:['’]m|\s+am) | call\s+me | you\s+can\s+call\s+me
      | (?:i|we)(?:['’]d|\s+would)?\s+(?:like|want|need|love|prefer)\s+to
        \s+(?:go|fly|travel|get|leave|depart)\s+(?:to|from)
      | (?:i|we)(?:['’]m|\s+am|['’]re|\s+are)?
        \s*(?:going|flying|travell?ing|leaving|departing|coming)\s+(?:to|from)
      | (?:to|from|in|into|at)
    )(?=[\s,.:;]))+[\s,.:;]*""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words before a name."""
_BEHIND = re.compile(r"[\s,.!?;:]*\b(?:please|thanks|thank\s+you|then)\W*$|[\s,.!?;:]+$", re.IGNORECASE)
_OF_SENTENCES = vocabulary(
    "i i'm i'd i've you your you're we we're they he she it it's that that's what what's when where why how which "
    "because if is are was were am do does don't did didn't can't not think know want need mean said say tell"
)
"""Words that make a sentence and are in no name; those that are in some, as "will" and "may", are left out."""
_LOWER = re.compile(r"(?:de|da|di|van|von|der|den|del|la|le|of|the|and|bin|al|y)$", re.IGNORECASE)


def read_name(text: str) -> str | None:
    """Read a name.

    Args:
        text: an utterance in answer to a question for one.

    Returns:
        The name, its words beginning with capitals; ``None`` when nothing that can be a name is left: a question, a
        sentence about something else.
    """
    said = _LEAD_IN.sub("", text.strip()[: 4 * NAME_LIMIT])
    while said != (shorter := _BEHIND.sub("", said)):
        said = shorter
    if not re.search(r"[^\W\d_]", said) or len(said) > NAME_LIMIT or len(said.split()) > WORD_LIMIT:
        return None
    if not _OF_SENTENCES.isdisjoint(words(said)):
        return None
    return " ".join(_capital(word, number) for number, word in enumerate(said.split()))


def _capital(word: str, number: int) -> str:
    if number and _LOWER.match(word):
        return word.lower()
    return word if word != word.lower() else word[:1].upper() + word[1:]
