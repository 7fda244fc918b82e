"""Addresses as they are spelled: "L, A, U, R, A, at, A, C, M, E, dot, C, O, M."."""

from __future__ import annotations

import re

from agents.reading.numbers import SMALL
from agents.reading.vocabulary import vocabulary

__all__ = ["LETTERS", "is_address", "read_address", "spelled_out"]

_SIGNS = {
    "at": "@",
    "dot": ".",
    "point": ".",
    "period": ".",
    "underscore": "_",
    "dash": "-",
    "hyphen": "-",
    "plus": "+",
}
LETTERS = dict(
    pair.split("=")
    for pair in vocabulary(
        "ay=a bee=b be=b see=c sea=c cee=c dee=d ee=e eff=f ef=f gee=g aitch=h eye=i jay=j kay=k el=l ell=l em=m",
        "en=n oh=o pee=p queue=q cue=q are=r ar=r ess=s es=s tee=t tea=t you=u vee=v ex=x why=y zee=z zed=z",
    )
)
"""How recognisers write letter names when they take them for words."""

_LEAD_IN = vocabulary(
    "and actually address e-mail email is it it's its mail my no of okay please so sure that that's the uh um well",
    "yeah yes",
)
_ADDRESS = re.compile(r"[a-z0-9](?:[a-z0-9._+-]*[a-z0-9])?@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*\.[a-z]{2,}")
_LEAD_IN_WORD = re.compile(rf"^(?:\W*(?:{'|'.join(sorted(_LEAD_IN))})(?=[\s,.]+(?!at\b|@)))+")
"""Words before the address; the last word before "at" is part of it."""
_POLITE_END = re.compile(
    r"(?:[\s,.!?]+(?:please|thanks|thank you|hello|hi|okay|ok|that's it|that's all|are you there))+\W*$"
)
"""What people say behind an address."""
_RUN = re.compile(
    r"(?<![a-z0-9'])[a-z0-9](?:(?:\s*[\s-]\s*[a-z0-9](?![a-z0-9'])){2,}|(?:\.\s*[a-z0-9](?![a-z0-9'])){2,})"
)
_HYPHENED_SIGN = re.compile(rf"(?<=[a-z0-9])-({'|'.join(_SIGNS)})-(?=[a-z0-9])")
_TOKEN = re.compile(r"[A-Za-z0-9']+|[@_+]|\.(?=\S)|(?<=[A-Za-z0-9])-(?=[A-Za-z0-9])")


TEXT_LIMIT = 500
"""Characters looked at: twice the longest address, spelled with a separator behind every letter."""


def is_address(text: str) -> bool:
    """Whether a text is an e-mail address, written the usual way in lower case."""
    return len(text) <= 254 and ".." not in text and _ADDRESS.fullmatch(text) is not None


def read_address(text: str) -> str | None:
    """Read an e-mail address that is said, spelled, or partly both.

    Args:
        text: an utterance; letters may be parted by commas, dashes, full stops or spaces.

    Returns:
        The address in lower case; ``None`` when the utterance is not one from its "at" to its domain.
    """
    said = re.sub(r"\be[\s-]?mail\b", "email", _POLITE_END.sub("", text[:TEXT_LIMIT].lower()).strip().rstrip(".!?"))
    said = spelled_out(_HYPHENED_SIGN.sub(r" \1 ", said))
    tokens = _TOKEN.findall(_capitalised_runs(_LEAD_IN_WORD.sub("", said)))
    address = "".join(_characters([token.strip("'") for token in tokens]))
    return address if is_address(address) else None


def spelled_out(said: str) -> str:
    """Write "double u" as its letter, and leave out what a letter is said to be like."""
    said = re.sub(r"\bdouble[\s-]+u\b", "w", said)
    return re.sub(r"\b([a-z])[\s,-]+(?:as in|for|like)\s+\1[a-z]+", r"\1", said)


def _capitalised_runs(said: str) -> str:
    """Write runs of three or more single letters as one word in capitals, so that no word is read into them.

    "l-a-u-r-a" is "LAURA", and "d, o, t" is no dot; "a.b" is left alone, for it may be meant.
    """
    return _RUN.sub(lambda match: re.sub(r"[^a-z0-9]", "", match[0]).upper(), re.sub(r"[,;:]", " ", said))


def _characters(tokens: list[str]) -> list[str]:
    spelled = any(token.isupper() for token in tokens) or sum(len(token) == 1 for token in tokens) >= 2
    characters = []
    repeat = 1
    for token in tokens:
        if token in ("double", "triple"):
            repeat = 2 if token == "double" else 3
            continue
        meant = _SIGNS.get(token) or LETTERS.get(token if spelled else "") or str(SMALL.get(token, token))
        characters.append((meant[:1] * (repeat - 1) + meant).lower())
        repeat = 1
    return characters
