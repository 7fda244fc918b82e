"""The replies: what the agent is asked to say, from the first thought of it to the settlement of what was heard.

Above: ``cascade`` carries the turn machine's decisions out on them. Below: a ``Responder`` makes them, ``speaker``
speaks them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, assert_never

from pipelines.events import (
    CompactionBegan,
    CompactionEnded,
    EngineTrouble,
    ReplyWorded,
    Tell,
    ToolCalled,
    ToolReturned,
    TurnCommitted,
    UtteranceEnded,
    trouble,
)
from pipelines.playout.utterance import UtteranceKind
from pipelines.responder import (
    CompactionFinished,
    CompactionStarted,
    Draft,
    ExpectationKind,
    Reply,
    Responder,
    ResponderError,
    SpokenKind,
    StoreContended,
    TextCompleted,
    TextDelta,
    ToolFinished,
    ToolSaid,
    ToolStarted,
)
from pipelines.speaker import Heard, Speaker
from pipelines.turns.events import (
    Cancel,
    Cause,
    Commit,
    EngineFailed,
    Prepare,
    Report,
    Speak,
    TurnEvent,
    UtteranceGrew,
    UtteranceWritten,
)

__all__ = ["Replies"]

CLOSE_LIMIT_S = 2.0
"""Seconds a closing call waits for aborted replies to end, and then for what was heard of them to be settled."""

TOOLS_LIMIT_S = 60.0
"""Seconds a closing call waits for tools that may not be stopped: longer than any payment takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What the agent is asked to say itself."""

    utterance: int
    kind: UtteranceKind
    turn: int | None
    """The turn it answers; ``None``: it tells the result of a slow tool."""


class Replies:
    """What one call's agent says, being made and spoken.

    Args:
        responder: who answers.
        speaker: who speaks; told of here and nowhere else what is to be said.
        group: the call's task group.
        feed: takes what happens to utterances, for the turn machine.
        narrate: takes what a tool wants said.
        tell: takes what the outside is told.
    """

    def __init__(
        self,
        *,
        responder: Responder,
        speaker: Speaker,
        group: asyncio.TaskGroup,
        feed: Callable[[TurnEvent], None],
        narrate: Callable[[str], None],
        tell: Tell,
    ) -> None:
        self._responder = responder
        self._speaker = speaker
        self._group = group
        self._feed = feed
        self._narrate = narrate
        self._tell = tell
        self._closed = False
        self._replies: dict[int, Reply] = {}
        """Replies being made, by utterance."""
        self._prepared: tuple[str, Draft] | None = None
        """A draft that was not asked for yet, and its words."""
        self._compacts: set[int] = set()
        """The utterances that wait while the conversation is summed up."""
        self._unsettled: set[asyncio.Task[None]] = set()
        self._calls: dict[str, int | None] = {}
        """The turns of tool calls that have not returned, by call."""

    @property
    def busy(self) -> bool:
        """Whether something is being made or settled, or a tool runs."""
        return bool(self._replies or self._unsettled or self._calls)

    # ------------------------------------------------------------------------------------------------ what is decided

    def speak(self, action: Speak) -> None:
        """Say a text without the model."""
        settled = self._speaker.begin(action.utterance, action.kind)
        self._speaker.say(action.utterance, action.text)
        if action.kind == "greeting":
            self._written(action.utterance)
        self._settle_in(self._settle_spoken(action, settled))

    def prepare(self, action: Prepare) -> None:
        """Have the answer begun to words that are likely to be the turn."""
        self._discard_draft()
        try:
            self._prepared = (action.text, self._responder.draft(action.text))
        except Exception as error:  # noqa: BLE001 - an agent's boundary: whatever it raises, the call goes on
            self._tell(trouble("model", error, known=ResponderError))

    def commit(self, action: Commit) -> None:
        """Answer a turn."""
        self._tell(
            TurnCommitted(
                turn=action.turn,
                utterance=action.utterance,
                text=action.text,
                ended_at=action.ended_at,
                heard_at=action.heard_at,
                reason=action.reason,
            )
        )
        answer = _Answer(utterance=action.utterance, kind="reply", turn=action.turn)
        self._answer(answer, lambda: self._drafted(action.text).commit())

    def report(self, action: Report) -> None:
        """Tell the results of slow tools."""
        self._answer(_Answer(utterance=action.utterance, kind="tool_result", turn=None), self._responder.report)

    def cancel(self, action: Cancel) -> None:
        """Stop making and speaking an utterance."""
        if (reply := self._replies.get(action.utterance)) is not None:
            # Speech stops no tool: what runs goes on behind the conversation. Whoever stops the agent stops all of it.
            reply.abort() if action.cause is Cause.HOST else reply.give_way()
        self._speaker.cancel(action.utterance)

    async def aclose(self) -> None:
        """Abort what is being made and settle what was heard of it, each within ``CLOSE_LIMIT_S``. Idempotent."""
        self._closed = True
        self._discard_draft()
        for reply in list(self._replies.values()):
            reply.abort()
        self._speaker.stop()
        for _ in ("words", "settlement"):
            if self._unsettled:
                _, late = await asyncio.wait(self._unsettled, timeout=CLOSE_LIMIT_S)
                for task in late:
                    task.cancel()

    async def end_tools(self) -> None:
        """End what the agent still does; wait, though not for ever, for what may not be ended."""
        try:
            async with asyncio.timeout(TOOLS_LIMIT_S):
                await self._responder.aclose()
        except Exception as error:  # noqa: BLE001 - an agent's boundary, a tool that never ends included
            self._tell(trouble("model", error, known=ResponderError))

    # ------------------------------------------------------------------------------------------------ being answered

    async def _settle_spoken(self, action: Speak, settled: asyncio.Future[Heard]) -> None:
        heard = await settled
        self._tell_ended(action.utterance, action.kind, None, heard)
        if heard.text and action.kind in ("greeting", "narration", "apology"):
            kind: SpokenKind = action.kind
            await self._kept(self._responder.record(heard.text, kind=kind, interrupted=heard.interrupted))

    def _drafted(self, text: str) -> Draft:
        """The draft of just these words, or a fresh one."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None and prepared[0] == text:
            return prepared[1]
        if prepared is not None:
            prepared[1].discard()
        return self._responder.draft(text)

    def _discard_draft(self) -> None:
        if self._prepared is not None:
            self._prepared[1].discard()
            self._prepared = None

    def _answer(self, answer: _Answer, begin: Callable[[], Reply]) -> None:
        settled = self._speaker.begin(answer.utterance, answer.kind, turn=answer.turn)
        try:
            reply = self._replies[answer.utterance] = begin()
        except Exception as error:  # noqa: BLE001 - an agent's boundary: whatever it raises, the call goes on
            self._unanswered(answer, error)
            self._settle_in(self._end_reply(answer, None, settled))
        else:
            self._settle_in(self._reply(answer, reply, settled))

    async def _reply(self, answer: _Answer, reply: Reply, settled: asyncio.Future[Heard]) -> None:
        number = answer.utterance
        try:
            await self._write(answer, reply)
        except asyncio.CancelledError:
            if not self._closed:
                raise  # At the end of the call only the words are given up: what was heard is still to be settled.
        except Exception as error:  # noqa: BLE001 - an agent's boundary
            self._unanswered(answer, error)
        finally:
            del self._replies[number]
            self._compacted(answer)
        self._written(number)
        self._speaker.finish(number)
        await self._end_reply(answer, reply, settled)

    async def _end_reply(self, answer: _Answer, reply: Reply | None, settled: asyncio.Future[Heard]) -> None:
        heard = await settled
        self._tell_ended(answer.utterance, answer.kind, answer.turn, heard)
        if reply is not None:
            await self._kept(reply.settle(heard.text, interrupted=heard.interrupted))

    def _unanswered(self, answer: _Answer, error: Exception) -> None:
        """The rest of a reply will never come: own up to it, if the caller waits for it."""
        self._tell(trouble("model", error, known=ResponderError))
        self._speaker.cut_short(answer.utterance)
        if answer.turn is not None:
            self._feed(EngineFailed(engine="model"))

    async def _kept(self, record: Coroutine[Any, Any, None]) -> None:
        """Let the agent keep what was heard; the caller heard it even if that fails."""
        try:
            await record
        except Exception as error:  # noqa: BLE001 - an agent's boundary
            self._tell(trouble("model", error, known=ResponderError))

    async def _write(self, answer: _Answer, reply: Reply) -> None:
        """Speak a reply as it is made."""
        worded = False
        async with aclosing(reply.events()) as events:
            async for event in events:
                match event:
                    case TextDelta():
                        if not worded:
                            worded = True
                            self._worded(answer)
                        self._write_more(answer, event.text)
                    case CompactionStarted() | CompactionFinished():
                        self._compacting(answer, event)
                    case TextCompleted():
                        self._speaker.flush(answer.utterance)
                    case ToolStarted():
                        self._speaker.flush(answer.utterance)  # Who is told of the call may have something said.
                        self._tell_tool(answer, event)
                    case ToolFinished():
                        self._tell_tool(answer, event)
                    case StoreContended():
                        self._tell(EngineTrouble(engine="store", reason=event.reason))
                    case ToolSaid():
                        self._narrate(event.text)
                    case _:
                        assert_never(event)

    def _compacting(self, answer: _Answer, event: CompactionStarted | CompactionFinished) -> None:
        """Tell of a wait once when it begins and once when it is over."""
        if isinstance(event, CompactionStarted):
            self._compacts.add(answer.utterance)
            self._tell(CompactionBegan(turn=answer.turn))
        else:
            self._compacted(answer)

    def _compacted(self, answer: _Answer) -> None:
        if answer.utterance in self._compacts:
            self._compacts.remove(answer.utterance)
            self._tell(CompactionEnded(turn=answer.turn))

    def _worded(self, answer: _Answer) -> None:
        if answer.turn is not None:
            self._tell(ReplyWorded(turn=answer.turn, utterance=answer.utterance))

    def _tell_tool(self, answer: _Answer, event: ToolStarted | ToolFinished) -> None:
        """Tell of a call; one that outlived its turn returns in that turn all the same."""
        if isinstance(event, ToolStarted):
            turn = self._calls[event.call_id] = answer.turn
            self._tell(ToolCalled(turn=turn, call_id=event.call_id, name=event.name, input=event.input))
            return
        self._tell(
            ToolReturned(
                turn=self._calls.pop(event.call_id, answer.turn),
                call_id=event.call_id,
                name=event.name,
                status=event.status,
                duration_ms=event.duration_ms,
            )
        )

    def _write_more(self, answer: _Answer, delta: str) -> None:
        self._speaker.write(answer.utterance, delta)
        self._feed(UtteranceGrew(utterance=answer.utterance, text=self._speaker.text(answer.utterance)))

    def _written(self, number: int) -> None:
        text = self._speaker.text(number)
        expectation = self._responder.expects()
        asks = max(text.rfind("?"), text.rfind("？")) + 1
        end = len(text.rstrip()) if expectation.kind is not ExpectationKind.OPEN else asks
        self._feed(UtteranceWritten(utterance=number, question_end=end or None, expectation=expectation))

    def _settle_in(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._group.create_task(work)
        self._unsettled.add(task)
        task.add_done_callback(self._unsettled.discard)

    def _tell_ended(self, number: int, kind: UtteranceKind, turn: int | None, heard: Heard) -> None:
        self._tell(
            UtteranceEnded(
                utterance=number,
                kind=kind,
                turn=turn,
                text=heard.source,
                heard=heard.text,
                interrupted=heard.interrupted,
                estimated=heard.estimated,
            )
        )
