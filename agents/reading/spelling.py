"""Addresses as they are spelled: "L, A, U, R, A, at, A, C, M, E, dot, C, O, M."."""

from __future__ import annotations

import re

from agents.reading.numbers import SMALL
from agents.reading.vocabulary import vocabulary

__all__ = ["is_address", "read_address"]

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
_LETTERS = dict(
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
_TOKEN = re.compile(r"[a-z0-9']+|[@_+]|\.(?=\S)|(?<=[a-z0-9])-(?=[a-z0-9])")


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
    said = text.lower().strip().rstrip(".!?")
    said = re.sub(r"\be[\s-]?mail\b", "email", said)
    said = re.sub(r"\bdouble[\s-]+u\b", "w", said)
    said = re.sub(r"\b([a-z])[\s,-]+(?:as in|for|like)\s+\1[a-z]+", r"\1", said)
    said = _joined_letters(said)
    tokens = [token.strip("'") for token in _TOKEN.findall(said)]
    while tokens and tokens[0] in _LEAD_IN:
        tokens.pop(0)
    address = "".join(_characters(tokens))
    return address if is_address(address) else None


def _joined_letters(said: str) -> str:
    """Take the separators out of runs of three or more single letters: "l-a-u-r-a" is "laura"; "a.b" is left alone."""
    run = re.compile(r"(?<![a-z0-9'])[a-z0-9](?:\s*[,.\s-]\s*[a-z0-9](?![a-z0-9'])){2,}")
    said = re.sub(r"[,;:]", " ", said)
    return run.sub(lambda match: re.sub(r"[^a-z0-9]", "", match.group()), said)


def _characters(tokens: list[str]) -> list[str]:
    spelled = sum(len(token) == 1 for token in tokens) >= 2 or any(token in _LETTERS for token in tokens[:1])
    characters = []
    repeat = 1
    for token in tokens:
        if token in ("double", "triple"):
            repeat = 2 if token == "double" else 3
            continue
        meant = _SIGNS.get(token) or _LETTERS.get(token if spelled else "") or str(SMALL.get(token, token))
        characters.append(meant[:1] * (repeat - 1) + meant)
        repeat = 1
    return characters
