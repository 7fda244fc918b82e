"""Yes and no, in the ways people say them."""

from __future__ import annotations

from agents.reading.vocabulary import vocabulary, words

__all__ = ["read_yes_no"]

_YES = vocabulary("yes yeah yep yup yea aye mhm mmhm mmhmm mm-hm mm-hmm mhmm uh-huh uhhuh absolutely exactly correct")
_MILD_YES = vocabulary("right sure okay ok fine good perfect great certainly definitely indeed")
_NO = vocabulary("no nope nah uh-uh negative wrong incorrect never")
_DENIAL = vocabulary("not isn't wasn't don't doesn't wrong incorrect")
_AROUND = vocabulary(
    "a ahead all and do fine go good it it's i is keep mm of oh please so thank thanks that that's this uh um very",
    "well you",
)


def read_yes_no(text: str) -> bool | None:
    """Read an answer to a question of yes or no.

    Returns:
        The answer; ``None`` when the utterance is neither, plainly.
    """
    said = words(text)
    while said and said[0] in ("uh", "um", "oh", "well", "so", "and"):
        said.pop(0)
    if not said:
        return None
    if said[0] in _NO:
        return False
    if said[0] in _YES:
        # "Yes, that is not right" takes itself back.
        return not _DENIAL.intersection(said[1:])
    if _DENIAL.intersection(said) and all(word in _DENIAL | _YES | _MILD_YES | _AROUND for word in said):
        return False
    # A mild word agrees only when nothing but politeness is around it: "right, what time is it" is no yes.
    if all(word in _YES | _MILD_YES | _AROUND for word in said):
        agrees = any(word in _YES | _MILD_YES for word in said)
        return True if agrees or said in (["it", "is"], ["please", "do"], ["go", "ahead"]) else None
    return None
