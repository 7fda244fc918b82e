"""Why OpenAI refuses us or hangs up, in its own words, with what to do, and whether another try may fare better.

Above: ``protocol`` and ``adapter``. Codes and messages are those of public reports.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.realtime.openai import wire

__all__ = ["Refusal", "closed", "hopeless", "refused_by_http"]

_ADVICE = {
    "invalid_api_key": "check OPENAI_API_KEY",
    "model_not_found": "take a model that this key may use (S2S_MODEL)",
    "invalid_model": "take a realtime model (S2S_MODEL)",
    "insufficient_quota": "see to the account's plan and billing",
    "invalid_voice": "take another voice (S2S_VOICE)",
}
"""By error code: what does not get better by itself."""

_BY_STATUS = {401: "invalid_api_key", 403: "model_not_found", 404: "model_not_found"}

_POLICY_CODES = frozenset({1008, 3000, 3003})
"""Close codes that say that we may not: policy, unauthorised, forbidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why there is no session, or no longer."""

    reason: str
    retry: bool


def hopeless(code: str, message: str) -> Refusal | None:
    """Say whether an error ends all hope of this session; ``None``: it does not."""
    advice = _ADVICE.get(code)
    return None if advice is None else Refusal(reason=_advised(message or code, advice), retry=False)


def refused_by_http(status: int, body: bytes) -> Refusal:
    """Say why a connection was refused.

    Args:
        status: of the HTTP answer.
        body: of it, JSON as a rule.
    """
    message = wire.read(body) or {}
    words = wire.text(message, "error", "message") or body.decode("utf-8", "replace")
    code = wire.text(message, "error", "code") or _BY_STATUS.get(status, "")
    if (found := hopeless(code, words)) is not None:
        return Refusal(reason=f"HTTP {status}: {found.reason}", retry=False)
    retry = status >= 500 or status in (408, 409, 425, 429)
    return Refusal(reason=f"HTTP {status}: {wire.in_words(words) or 'no reason given'}", retry=retry)


def closed(code: int | None, reason: str, last_words: str) -> Refusal:
    """Say why a connection was closed.

    Args:
        code: the WebSocket's close code; ``None`` when there was none.
        reason: the one that came with it; often empty.
        last_words: the last error that was told before.
    """
    words = wire.in_words(reason) or last_words
    for known, advice in _ADVICE.items():
        if known in words:
            return Refusal(reason=_advised(words, advice), retry=False)
    words = words or ("it broke off" if code in (None, 1006) else "no reason given")
    return Refusal(reason=words, retry=code not in _POLICY_CODES and "invalid_request_error" not in words)


def _advised(words: str, advice: str) -> str:
    return f"{wire.in_words(words)} ({advice})"
