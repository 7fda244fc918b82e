"""One model call, from what the model is shown to the whole response."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from agents.core.abort import AbortSignal
from agents.core.conversation import Conversation
from agents.core.identity import Identities
from agents.core.inbox import inbox_reminder
from agents.core.messages import Message, ToolCall, ToolResult, Usage
from agents.core.model import ModelFinished, ModelRequest, TextChunk, ToolCalled, UsageTold
from agents.core.pace import Pace
from agents.core.prompt import History, assemble, open_calls
from agents.core.store import Window, results_of
from agents.core.tools import Tool

if TYPE_CHECKING:
    from agents.core.draft import ModelDraft
    from agents.core.glove import Glove

__all__ = ["Prepared", "Response", "known", "prepare", "read_history", "respond"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a model is to be asked."""

    request: ModelRequest
    tools: Mapping[str, Tool]
    """What it is offered, by lower-case name."""
    identities: Identities
    """Who the calls are that it has made so far."""
    window: Window
    """What it is shown of the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a model answered; not stored yet."""

    message: Message
    usage: Usage
    tools: Mapping[str, Tool]
    """What it was offered, by lower-case name."""
    identities: Identities
    """Who its calls are."""
    window: Window
    """What it was shown of the conversation."""


async def respond(
    glove: Glove,
    kept: Conversation,
    *,
    window: Window | None = None,
    reminder: tuple[Message, ...] = (),
    signal: AbortSignal,
    pace: Pace,
    draft: ModelDraft | None = None,
    on_text: Callable[[str], None],
) -> Response:
    """Call the model once, or take up a draft that has asked it the same.

    Args:
        glove: whose model.
        kept: the conversation.
        window: what there is to show of it; read when it is not known.
        reminder: told behind the conversation, before the runtime context.
        signal: passed to whoever renders context.
        pace: accounts for the wait.
        draft: an answer that may be there already.
        on_text: takes the text as it comes, before anybody else.

    Raises:
        ModelError: the model failed.
    """
    prepared = await prepare(glove, kept, window=window, reminder=reminder, signal=signal, pace=pace)
    identities = prepared.identities
    drafted = None if draft is None else draft.take(prepared.request, glove.model)
    stream = glove.model.stream(prepared.request) if drafted is None else drafted
    text = ""
    calls: list[ToolCall] = []
    finished = ModelFinished()
    told = Usage()
    try:
        # A draft's own task accounts for its waits.
        async with aclosing(stream), aclosing(pace.model(stream) if drafted is None else stream) as events:
            async for event in events:
                match event:
                    case TextChunk():
                        text += event.text
                        on_text(event.text)
                        await glove.subscribers.emit("text_delta", text=event.text)
                    case ToolCalled(call=call):
                        # Some servers number their calls anew in every response, or not at all.
                        call = call if identities.claim(call.id) else replace(call, id=glove.new_id())
                        calls.append(call)
                        await glove.subscribers.emit("tool_use", id=call.id, name=call.tool_name, input=call.input_args)
                    case UsageTold():
                        told = event.usage
                    case ModelFinished():
                        finished = event
                        told = Usage()
    finally:
        glove.discarded_usage += told
    message = Message(
        sender="agent",
        text=text,
        tool_calls=tuple(calls),
        id=glove.new_id(),
        reasoning_content=finished.reasoning_content,
        provider_options=finished.provider_options,
    )
    await glove.subscribers.emit(
        "model_response_complete",
        text=message.text,
        tool_calls=message.tool_calls,
        stop_reason=finished.stop_reason,
        **known(finished.usage),
    )
    return Response(
        message=message,
        usage=finished.usage,
        tools=prepared.tools,
        identities=identities,
        window=prepared.window,
    )


async def prepare(
    glove: Glove,
    kept: Conversation,
    *,
    window: Window | None = None,
    said: Message | None = None,
    reminder: tuple[Message, ...] = (),
    signal: AbortSignal,
    pace: Pace,
) -> Prepared:
    """Put together what the model is to be asked.

    Args:
        glove: whose model.
        kept: the conversation.
        window: what there is to show of it; read when it is not known.
        said: words that are no message yet: they are only imagined at its end, and nobody is told.
        reminder: told behind the conversation, before the runtime context; reminders of imagined words are looked up.
        signal: passed to whoever renders context.
        pace: tells the time.
    """
    window = window or await kept.read()
    history = await read_history(glove, kept, window)
    if said is not None:
        history = replace(history, messages=(*history.messages, said))
        reminder = await inbox_reminder(kept.store)
        runtime = await glove.render_context(signal, now=pace.now())
    else:
        runtime = await glove.get_runtime_context(signal, now=pace.now())
    tools = glove.offered
    request = ModelRequest(
        system_prompt=glove.system_prompt,
        messages=assemble(history, (*reminder, *runtime)),
        tools=tuple(tool.spec for tool in tools.values()),
    )
    identities = Identities(kept.store.identifier, history.messages, history.lost)
    return Prepared(request=request, tools=tools, identities=identities, window=window)


def known(usage: Usage) -> dict[str, Any]:
    """The figures of a usage that are known."""
    return {name: count for name, count in asdict(usage).items() if count is not None}


async def read_history(glove: Glove, kept: Conversation, window: Window) -> History:
    """Take what a model may be shown, and look up what became of calls whose results no message tells."""
    running = glove.errands.open_ids
    lost = [(message, call) for message, call in open_calls(window.messages) if call.id not in running]
    recorded: dict[str, ToolResult] = {}
    if (records := results_of(kept.store)) is not None:
        for message_id in dict.fromkeys(message.id for message, _ in lost):
            recorded |= await records.get_results(message_id)
    return History(
        messages=window.messages,
        settlements=window.settlements,
        recorded=recorded,
        lost=[(message, call) for message, call in lost if call.id not in recorded],
        running=running,
        summarised=glove.enable_tool_result_summary,
    )
