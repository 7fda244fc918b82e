"""Sum up a conversation that has become long, so that the model is shown the summary and what came after it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.core.conversation import Conversation
from agents.core.errors import ModelError
from agents.core.inbox import pending_lines
from agents.core.messages import Message, Usage
from agents.core.model import ModelFinished, ModelRequest, TextChunk
from agents.core.pace import Pace
from agents.core.prompt import assemble
from agents.core.response import known, read_history
from agents.core.store import Window

if TYPE_CHECKING:
    from agents.core.glove import Glove

__all__ = ["CONTEXT_LIMIT", "EARLY", "Compaction", "compact"]

logger = logging.getLogger(__name__)

CONTEXT_LIMIT = 100_000
"""Tokens: what any current model takes, and far more than a call comes to."""

EARLY = 0.9
"""Share of the limit at which a response with calls is compacted before, so that calls and results stay together."""

BEGIN = "[Summary of the conversation so far]"
END = "[End of the summary]"
EMPTY = "The conversation so far could not be put into words."
VERBATIM = "The user's latest words were: "

WORDS_KEPT = 4_000
"""Characters of the user's latest words that are kept as they were said: no summary knows which of them matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """When and how."""

    instructions: str
    """What the model is told to write down."""
    context_limit: int = CONTEXT_LIMIT
    """Tokens used since the last compaction at which there is another."""

    def mistakes(self) -> Iterator[str]:
        """What is wrong with this."""
        if not self.instructions.strip():
            yield "compaction needs instructions: what a summary has to keep"
        if self.context_limit < 1:
            yield f"compaction has a limit of {self.context_limit} tokens; it needs one above 0"


async def compact(
    glove: Glove,
    kept: Conversation,
    pace: Pace,
    *,
    window: Window | None = None,
    share: float = 1.0,
    force: bool = False,
) -> Window | None:
    """Compact a conversation that has become long. It is done without tools, without an abort, and without a word said.

    When the model fails, or something was added meanwhile that the summary does not know of, the conversation stays as
    it is, and the next opportunity is taken.

    Args:
        glove: whose model.
        kept: the conversation.
        pace: accounts for the wait.
        window: what there is of the conversation; read when it is not known.
        share: of the limit from which on it is long.
        force: whether it is done however short the conversation is.

    Returns:
        The conversation afterwards, if it was compacted.
    """
    if (settings := glove.compaction) is None:
        return None
    store = kept.store
    used = await store.get_token_count()
    if not force and used < share * settings.context_limit:
        return None
    seen = window or await kept.read()
    history = await read_history(glove, kept, seen)
    if not history.messages:
        return None
    glove.compaction_wanted = False
    await glove.subscribers.emit("compaction_start", current_token_consumption=used)
    asking = Message(sender="user", text=settings.instructions, is_compaction_request=True)
    request = ModelRequest(system_prompt=glove.system_prompt, messages=assemble(history, [asking]))
    try:
        text, usage = await _summarise(glove, request, pace)
    except ModelError as exc:
        logger.warning("compaction failed: %s", exc)
        await glove.subscribers.emit("compaction_end", current_token_consumption=used, summary_message=None)
        return None
    words = next((message.text for message in reversed(history.messages) if message.from_person), "")
    latest = [VERBATIM + words[:WORDS_KEPT]] if words else []
    lines = [BEGIN, text.strip() or EMPTY, *latest, *await pending_lines(store), END]
    summary = Message(
        sender="user",
        text="\n".join(lines),
        id=glove.new_id(),
        is_compaction=True,
        expected=glove.expectation,
    )
    followed = await kept.append_after(
        seen, lambda now: summary if now.messages == seen.messages else None, during="while it was summed up"
    )
    if not followed.kept:
        await store.add_tokens(usage)
        await glove.subscribers.emit(
            "compaction_end", current_token_consumption=used, summary_message=None, consumption=known(usage)
        )
        return None
    # Counted once, and before the reset, so that what was used is exact and what is left counts the summary alone.
    await store.add_tokens(_all_but_the_summary(usage))
    await store.reset_counters()
    await store.add_tokens(Usage(tokens_out=usage.tokens_out))
    await glove.subscribers.emit(
        "compaction_end",
        current_token_consumption=usage.tokens_out,
        summary_message=summary,
        consumption=known(usage),
    )
    return followed.window


async def _summarise(glove: Glove, request: ModelRequest, pace: Pace) -> tuple[str, Usage]:
    text, usage = "", Usage()
    async with aclosing(glove.model.stream(request)) as stream, aclosing(pace.model(stream)) as events:
        async for event in events:
            match event:
                case TextChunk():
                    text += event.text
                case ModelFinished():
                    usage = event.usage
                case _:
                    pass
    return text, usage


def _all_but_the_summary(usage: Usage) -> Usage:
    return Usage(
        tokens_in=usage.tokens_in,
        cache_read_input_tokens=usage.cache_read_input_tokens,
        cache_creation_input_tokens=usage.cache_creation_input_tokens,
    )
