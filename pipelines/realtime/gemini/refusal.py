"""Why Gemini refuses us or hangs up, in its own words, with what to do, and whether another try may fare better.

Above: ``adapter`` and ``client``. Close codes and words are those of public reports.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.realtime.gemini.wire import in_words

__all__ = ["Refusal", "closed", "refused_by_http"]

_ADVICE = (
    ("api key", "check GEMINI_API_KEY"),
    ("api_key_invalid", "check GEMINI_API_KEY"),
    ("for api version", "take another model (S2S_MODEL), or the API version it is in (S2S_API_VERSION)"),
    ("not supported for bidi", "take a model of the Live API (S2S_MODEL)"),
    ("user location", "Gemini does not serve this machine's country"),
)
"""What does not get better by itself, by the words it is known by."""

_PASSING = ("aborted", "deadline", "goaway", "requested entity was not found")
"""What is said, with 1008 or 1011, at the end of a connection's time, and of a result that crossed the withdrawal of
its call: another connection is welcome."""

_SETUP_REFUSED = frozenset({1007, 1008})
"""Close codes that say of a setup that it is wrong, or not allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why there is no session, or no longer."""

    reason: str
    retry: bool


def closed(code: int | None, reason: object, *, accepted: bool) -> Refusal:
    """Say why a connection was closed.

    Args:
        code: the WebSocket's close code; ``None`` when there was none.
        reason: the one that came with it.
        accepted: whether the setup had been accepted: then 1007 speaks of one message only.
    """
    words = in_words(reason) or ("it broke off" if code in (None, 1006) else "no reason given")
    if (advice := _advice(words)) is not None:
        return Refusal(reason=f"{words} ({advice})", retry=False)
    if accepted and any(known in words.lower() for known in _PASSING):
        return Refusal(reason=words, retry=True)
    return Refusal(reason=words, retry=code != 1008 if accepted else code not in _SETUP_REFUSED)


def refused_by_http(status: int, message: object) -> Refusal:
    """Say why a request was refused.

    Args:
        status: of the HTTP answer.
        message: in the provider's words.
    """
    words = in_words(message) or "no reason given"
    advice = _advice(words) or ("check GEMINI_API_KEY" if status in (401, 403) else None)
    if advice is not None:
        return Refusal(reason=f"HTTP {status}: {words} ({advice})", retry=False)
    return Refusal(reason=f"HTTP {status}: {words}", retry=status >= 500 or status in (408, 425, 429))


def _advice(words: str) -> str | None:
    return next((advice for known, advice in _ADVICE if known in words.lower()), None)
