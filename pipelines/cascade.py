"""The cascade: speech → recogniser → agent → synthesiser → speech, a call's turns taken by one machine.

Above: ``call`` starts it and feeds it frames. Below: ``listener`` hears, ``speaker`` speaks, ``TurnMachine`` decides,
and a ``Responder`` answers. Here decisions are only carried out.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, assert_never

from pipelines.audio.frame import Frame, Samples
from pipelines.clock import Clock, Timer
from pipelines.events import (
    OutputHeld,
    OutputResumed,
    ReplyWorded,
    SoundIgnored,
    Tell,
    ToolCalled,
    ToolReturned,
    TurnCommitted,
    UtteranceCancelled,
    UtteranceEnded,
    careful,
    trouble,
)
from pipelines.listener import Listener, Probe, VoiceActivity
from pipelines.playout.output import AudioOutput
from pipelines.playout.player import PlayerSettings
from pipelines.playout.utterance import UtteranceKind
from pipelines.responder import (
    Draft,
    Expectation,
    ExpectationKind,
    Reply,
    Responder,
    ResponderError,
    SpokenKind,
    TextCompleted,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from pipelines.speaker import Heard, Speaker
from pipelines.stt.base import Recognizer
from pipelines.tts.base import Synthesizer
from pipelines.turns.events import (
    Cancel,
    Cause,
    Commit,
    CutSound,
    DisplayBlocked,
    Drop,
    EngineFailed,
    Hold,
    Note,
    NoteKind,
    Prepare,
    Report,
    ResultReady,
    Resume,
    Speak,
    TurnAction,
    TurnEvent,
    UtteranceGrew,
    UtteranceWritten,
)
from pipelines.turns.machine import TurnMachine
from pipelines.turns.settings import TurnSettings
from pipelines.vad.detector import DetectorSettings

__all__ = ["Cascade", "CascadeSettings", "Engines"]

CLOSE_LIMIT_S = 2.0
"""Seconds a closing call waits for aborted replies to end, and then for what was heard of them to be settled."""

TOOLS_LIMIT_S = 60.0
"""Seconds a closing call waits for tools that may not be stopped: longer than any payment takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeSettings:
    """How a cascade hears, takes turns and speaks."""

    detector: DetectorSettings = field(default_factory=DetectorSettings)
    turns: TurnSettings = field(default_factory=TurnSettings)
    playout: PlayerSettings = field(default_factory=PlayerSettings)
    greeting: str | None = None
    """Said when the call begins; ``None`` lets the caller begin."""
    expects: Expectation | None = None
    """What the caller was asked before the call began, as if the agent had; ``None``: nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """What a cascade hears and speaks with."""

    activity: VoiceActivity
    """The call's own."""
    recognizer: Recognizer
    synthesizer: Synthesizer
    phrases: Mapping[str, Samples] = field(default_factory=dict)
    """Sentences rendered beforehand, at the synthesiser's rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What the agent is asked to say itself."""

    utterance: int
    kind: UtteranceKind
    turn: int | None
    """The turn it answers; ``None``: it tells the result of a slow tool."""


class Cascade:
    """One call's turns.

    Args:
        clock: the call's.
        engines: what it hears and speaks with.
        responder: who answers.
        output: where its voice goes.
        group: the call's task group.
        tell: takes what the outside is told.
        settings: how.
        probe: takes every speech probability.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        engines: Engines,
        responder: Responder,
        output: AudioOutput,
        group: asyncio.TaskGroup,
        tell: Tell,
        settings: CascadeSettings | None = None,
        probe: Probe | None = None,
    ) -> None:
        self.settings = settings or CascadeSettings()
        self.machine = TurnMachine(self.settings.turns, expects=self.settings.expects)
        self._clock = clock
        self._responder = responder
        self._group = group
        self._tell = careful(tell)
        self._asked: deque[Callable[[float], list[TurnAction]]] = deque()
        """Decisions the turn machine is still to make, in order."""
        self._deciding = False
        self._closed = False
        self._timer: Timer | None = None
        self._replies: dict[int, Reply] = {}
        """Replies being made, by utterance."""
        self._prepared: tuple[str, Draft] | None = None
        """A draft that was not asked for yet, and its words."""
        self._unsettled: set[asyncio.Task[None]] = set()
        self._calls: dict[str, int | None] = {}
        """The turns of tool calls that have not returned, by call."""
        self._speaker = Speaker(
            clock=clock,
            synthesizer=engines.synthesizer,
            output=output,
            group=group,
            feed=self.feed,
            tell=self._tell,
            phrases=engines.phrases,
            settings=self.settings.playout,
        )
        self._listener = Listener(
            clock=clock,
            activity=engines.activity,
            recognizer=engines.recognizer,
            group=group,
            machine=self.machine,
            feed=self.feed,
            tell=self._tell,
            detector=self.settings.detector,
            probe=probe,
        )
        responder.watch(lambda: self.feed(ResultReady()))

    # ------------------------------------------------------------------------------------------------ from outside

    def start(self) -> None:
        """Greet, if there is a greeting."""
        if self.settings.greeting:
            self._decide(partial(self.machine.say, "greeting", self.settings.greeting))

    def hear(self, frame: Frame) -> None:
        """Take the next frame of the caller's audio. Returns at once; after the end it is not listened to."""
        if self._closed:
            return
        if self.machine.blocked != (blocked := self._responder.blocked()):
            self.feed(DisplayBlocked(blocked=blocked))
        self._listener.hear(frame)

    def narrate(self, text: str) -> None:
        """Say a text to its end, without the model; what the caller says over it is answered after it."""
        self._decide(partial(self.machine.say, "narration", text))

    def interrupt(self) -> None:
        """Cut whatever is being said."""
        self._decide(self.machine.interrupt)

    def commit_turn(self) -> None:
        """Answer the words there are without waiting for more."""
        self._decide(self.machine.commit_turn)

    @property
    def idle(self) -> bool:
        """Whether nobody speaks, no tool runs, nothing is being made, and nothing waits to be answered or settled."""
        making = self._replies or self._unsettled or self._calls
        return not (self._listener.busy or self._speaker.busy or making or self.machine.busy)

    async def aclose(self) -> None:
        """Stop: abort replies, settle what was heard, close the recogniser; nothing is decided any more. Idempotent."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._discard_draft()
        for reply in list(self._replies.values()):
            reply.abort()
        self._speaker.stop()
        try:
            for _ in ("words", "settlement"):
                if self._unsettled:
                    _, late = await asyncio.wait(self._unsettled, timeout=CLOSE_LIMIT_S)
                    for task in late:
                        task.cancel()
        finally:
            await self._listener.aclose()
        await self._end_tools()

    async def _end_tools(self) -> None:
        """End what the agent still does; wait, though not for ever, for what may not be ended."""
        try:
            async with asyncio.timeout(TOOLS_LIMIT_S):
                await self._responder.aclose()
        except Exception as error:  # noqa: BLE001 - an agent's boundary, a tool that never ends included
            self._tell(trouble("model", error, known=ResponderError))

    # ------------------------------------------------------------------------------------------------- the machine

    def feed(self, event: TurnEvent) -> None:
        """Tell the turn machine, and carry out what it decides."""
        self._decide(partial(self.machine.feed, event))

    def _decide(self, decision: Callable[[float], list[TurnAction]]) -> None:
        """Carry out a decision of the turn machine's; one that is asked for meanwhile waits its turn."""
        if self._closed:
            return
        self._asked.append(decision)
        if self._deciding:
            return
        self._deciding = True
        try:
            while self._asked:
                for action in self._asked.popleft()(self._clock.now()):
                    self._act(action)
        finally:
            self._deciding = False
            self._arm()

    def _tick(self) -> None:
        self._timer = None
        self._decide(self.machine.tick)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._closed and (deadline := self.machine.deadline) is not None:
            self._timer = self._clock.call_at(deadline, self._tick)

    def _act(self, action: TurnAction) -> None:
        match action:
            case Hold():
                self._speaker.hold()
                self._tell(OutputHeld())
            case Resume():
                self._speaker.resume()
                self._tell(OutputResumed())
            case Cancel():
                self._cancel(action)
            case Prepare():
                self._prepare(action)
            case Commit():
                self._commit(action)
            case Report():
                self._answer(_Answer(utterance=action.utterance, kind="tool_result", turn=None), self._responder.report)
            case Speak():
                self._speak(action)
            case Drop():
                self._listener.drop(action.segment)
            case CutSound():
                self._listener.cut()
            case Note():
                self._note(action)
            case _:
                assert_never(action)

    def _cancel(self, action: Cancel) -> None:
        self._tell(UtteranceCancelled(utterance=action.utterance, cause=action.cause))
        if (reply := self._replies.get(action.utterance)) is not None:
            # Speech stops no tool: what runs goes on behind the conversation. Whoever stops the agent stops all of it.
            reply.abort() if action.cause is Cause.HOST else reply.give_way()
        self._speaker.cancel(action.utterance)

    def _note(self, action: Note) -> None:
        self._tell(SoundIgnored(kind=action.kind, text=action.text, measures=action.data))
        if action.kind in (NoteKind.BACKCHANNEL, NoteKind.ASIDE):
            self._responder.overheard(action.text)

    # --------------------------------------------------------------------------------------------- saying something

    def _speak(self, action: Speak) -> None:
        settled = self._speaker.begin(action.utterance, action.kind)
        self._speaker.say(action.utterance, action.text)
        if action.kind == "greeting":
            self._written(action.utterance)
        self._settle_in(self._settle_spoken(action, settled))

    async def _settle_spoken(self, action: Speak, settled: asyncio.Future[Heard]) -> None:
        heard = await settled
        self._tell_ended(action.utterance, action.kind, None, heard)
        if heard.text and action.kind in ("greeting", "narration", "apology"):
            kind: SpokenKind = action.kind
            await self._kept(self._responder.record(heard.text, kind=kind, interrupted=heard.interrupted))

    def _commit(self, action: Commit) -> None:
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

    def _prepare(self, action: Prepare) -> None:
        self._discard_draft()
        try:
            self._prepared = (action.text, self._responder.draft(action.text))
        except Exception as error:  # noqa: BLE001 - an agent's boundary: whatever it raises, the call goes on
            self._tell(trouble("model", error, known=ResponderError))

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
            self.feed(EngineFailed(engine="model"))

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
                    case TextCompleted():
                        self._speaker.flush(answer.utterance)
                    case ToolStarted() | ToolFinished():
                        self._tell_tool(answer, event)
                    case _:
                        assert_never(event)

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
        self.feed(UtteranceGrew(utterance=answer.utterance, text=self._speaker.text(answer.utterance)))

    def _written(self, number: int) -> None:
        text = self._speaker.text(number)
        expectation = self._responder.expects()
        asks = max(text.rfind("?"), text.rfind("？")) + 1
        end = len(text.rstrip()) if expectation.kind is not ExpectationKind.OPEN else asks
        self.feed(UtteranceWritten(utterance=number, question_end=end or None, expectation=expectation))

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
