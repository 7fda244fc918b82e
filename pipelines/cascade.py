"""The cascade: speech → recogniser → agent → synthesiser → speech, a call's turns taken by one machine.

Above: ``call`` starts it and feeds it frames. Below: ``listener`` hears, ``speaker`` speaks, ``TurnMachine`` decides,
and a ``Responder`` answers. Here decisions are only carried out.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

from pipelines.audio.frame import Frame, Samples
from pipelines.careful import CarefulResponder
from pipelines.clock import Clock, Timer
from pipelines.events import OutputHeld, OutputResumed, SoundIgnored, Tell, UtteranceCancelled, careful
from pipelines.gating import Gating
from pipelines.listener import Listener, Probe
from pipelines.playout.output import AudioOutput
from pipelines.playout.player import PlayerSettings
from pipelines.replies import Replies
from pipelines.responder import Expectation, ExpectationKind, Responder
from pipelines.speaker import Speaker
from pipelines.stt.base import Recognizer
from pipelines.tts.base import Synthesizer
from pipelines.turns.events import (
    Cancel,
    Commit,
    CutSound,
    DisplayBlocked,
    Drop,
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
)
from pipelines.turns.machine import TurnMachine
from pipelines.turns.settings import TurnSettings, TurnTaking
from pipelines.vad.base import VoiceActivity
from pipelines.vad.detector import DetectorSettings

__all__ = ["Cascade", "CascadeSettings", "Engines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeSettings:
    """How a cascade hears, takes turns and speaks."""

    detector: DetectorSettings = field(default_factory=DetectorSettings)
    turns: TurnSettings = field(default_factory=TurnSettings)
    playout: PlayerSettings = field(default_factory=PlayerSettings)
    gating: Gating = Gating.HARD
    turn_taking: TurnTaking = TurnTaking.AUTOMATIC
    start_muted: bool = False
    """Whether the caller is not listened to before they are unmuted; in manual turn taking it is always so."""
    greeting: str | None = None
    """Said when the call begins; ``None`` lets the caller begin."""
    expects: Expectation | None = None
    """What the caller was asked before the call began, as if the agent had; ``None``: what the agent says it waits for,
    which it does in a conversation that is gone on with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """What a cascade hears and speaks with."""

    activity: VoiceActivity
    """The call's own."""
    recognizer: Recognizer
    synthesizer: Synthesizer
    phrases: Mapping[str, Samples] = field(default_factory=dict)
    """Sentences rendered beforehand, at the synthesiser's rate."""


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
        self._clock = clock
        self._tell = careful(tell)
        self._responder = CarefulResponder(responder, self._tell)
        gating = self.settings.gating
        turns = gating.turns(self.settings.turns)
        self.machine = TurnMachine(turns, expects=self.settings.expects or self._left_waiting())
        self._asked: deque[Callable[[float], list[TurnAction]]] = deque()
        """Decisions the turn machine is still to make, in order."""
        self._deciding = False
        self._wanted: deque[Callable[[], None]] = deque()
        """What somebody wants who was told of a decision while it was carried out."""
        self._closed = False
        self._timer: Timer | None = None
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
        self._replies = Replies(
            responder=self._responder,
            speaker=self._speaker,
            group=group,
            feed=self.feed,
            narrate=self.narrate,
            tell=self._tell,
        )
        self._listener = Listener(
            clock=clock,
            activity=engines.activity,
            recognizer=engines.recognizer,
            group=group,
            machine=self.machine,
            feed=self.feed,
            tell=self._tell,
            detector=gating.detector(self.settings.detector),
            turn_taking=self.settings.turn_taking,
            probe=probe,
        )
        self._responder.watch(lambda: self.feed(ResultReady()), self.narrate)

    # ------------------------------------------------------------------------------------------------ from outside

    def start(self) -> None:
        """Greet, if there is a greeting."""
        if self.settings.start_muted or self.settings.turn_taking is TurnTaking.MANUAL:
            self.mute()
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
        """Say a text to its end, without the model; what the caller says over it is answered after it.

        It is said behind what is being said; of a reply that waits for a tool, before the rest.
        """
        self._decide(partial(self.machine.say, "narration", text))

    def interrupt(self) -> None:
        """Cut whatever is being said."""
        self._decide(self.machine.interrupt)

    def commit_turn(self) -> None:
        """Answer the words there are without waiting for more; in manual turn taking the button is let go by that."""
        if self.settings.turn_taking is TurnTaking.MANUAL:
            self.mute()
        self._decide(self.machine.commit_turn)

    def type_in(self, text: str) -> None:
        """Take words that were typed for the caller's turn, with what was said before them."""
        self._decide(partial(self.machine.type_in, text))

    def mute(self) -> None:
        """Stop listening to the caller; a word that was begun ends here, and its turn still ends. Idempotent.

        In manual turn taking the button is let go: what was said since it was pressed is a turn.
        """
        self._control(self._listener.mute)

    def unmute(self) -> None:
        """Listen to the caller from here on. Idempotent.

        In manual turn taking the button is pressed: an agent that speaks is interrupted.
        """
        self._control(self._listener.unmute)

    def suspend(self) -> None:
        """Say nothing before ``restore``: the line broke, so that nobody would hear it. Idempotent."""
        self._speaker.suspend()

    def restore(self) -> None:
        """The line is there again: say what was not heard, and what there is to say since. Idempotent."""
        self._speaker.restore()

    @property
    def muted(self) -> bool:
        """Whether the caller is not listened to."""
        return self._listener.muted

    @property
    def idle(self) -> bool:
        """Whether nobody speaks, no tool runs, nothing is being made, and nothing waits to be answered or settled."""
        return not (self._listener.busy or self._speaker.busy or self._replies.busy or self.machine.busy)

    async def aclose(self) -> None:
        """Stop: abort replies, settle what was heard, close the recogniser; nothing is decided any more. Idempotent."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        try:
            await self._replies.aclose()
        finally:
            await self._listener.aclose()
        await self._replies.end_tools()

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
        while self._wanted and not self._deciding:
            self._wanted.popleft()()

    def _control(self, control: Callable[[], None]) -> None:
        """Do to the listener what somebody outside wants, when nothing is being decided: it reads the machine."""
        if self._closed:
            return
        if self._deciding:
            self._wanted.append(control)
        else:
            control()

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
                self._tell(UtteranceCancelled(utterance=action.utterance, cause=action.cause))
                self._replies.cancel(action)
            case Prepare():
                self._replies.prepare(action)
            case Commit():
                self._replies.commit(action)
            case Report():
                self._replies.report(action)
            case Speak():
                self._replies.speak(action)
            case Drop():
                self._listener.drop(action.segment)
            case CutSound():
                self._listener.cut()
            case Note():
                self._note(action)
            case _:
                assert_never(action)

    def _left_waiting(self) -> Expectation | None:
        """What the agent waited for when the conversation was left; ``None``: for nothing in particular."""
        expectation = self._responder.expects()
        return None if expectation.kind is ExpectationKind.OPEN else expectation

    def _note(self, action: Note) -> None:
        self._tell(SoundIgnored(kind=action.kind, text=action.text, measures=action.data))
        if action.kind in (NoteKind.BACKCHANNEL, NoteKind.ASIDE):
            self._responder.overheard(action.text)
