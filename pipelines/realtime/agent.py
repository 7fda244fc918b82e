"""The realtime pipeline: a speech-to-speech model takes the call's turns, and what is true stays with us.

Above: ``call`` starts it and feeds it frames. Below: ``machine`` and ``detection`` decide, ``connection`` talks to the
provider, ``speaker`` plays, ``scribe`` has the agent keep what was said, and ``toolwork`` runs its tools.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import assert_never

from pipelines.audio.frame import Frame, Samples
from pipelines.clock import Clock, Timer
from pipelines.events import EngineTrouble, Tell, TokensSpent, UtteranceCancelled, careful, trouble
from pipelines.playout.output import AudioOutput
from pipelines.realtime.actions import (
    Apologise,
    Begin,
    Cut,
    Finish,
    GiveWay,
    MachineAction,
    Rest,
    Sound,
    Spent,
    Unspoken,
    Withdraw,
    Write,
)
from pipelines.realtime.actions import Tell as Told
from pipelines.realtime.base import RealtimeAdapter, RealtimeError, SessionSetup
from pipelines.realtime.briefing import Briefing
from pipelines.realtime.caller import CallerSide
from pipelines.realtime.chronicle import Chronicle, ModelCalled
from pipelines.realtime.connection import Connection
from pipelines.realtime.detection import Over
from pipelines.realtime.ears import Probe
from pipelines.realtime.events import CallerWords, ProviderEvent, ReplyAudio, ReplyWords
from pipelines.realtime.lasting import Gap
from pipelines.realtime.machine import RealtimeMachine
from pipelines.realtime.outbox import Inject, Interrupt, Outbox
from pipelines.realtime.scribe import Scribe
from pipelines.realtime.settings import Lost, RealtimeSettings
from pipelines.realtime.speech import Speech
from pipelines.realtime.voices import Voices
from pipelines.realtime.wording import GO_ON, SAY
from pipelines.responder import Batch, ResponderError, SpokenKind, ToolHost
from pipelines.tts.base import Synthesizer
from pipelines.turns.events import Cause
from pipelines.turns.settings import TurnTaking
from pipelines.vad.base import VoiceActivity

__all__ = ["RealtimePipeline"]

STILL_SOUNDS_S = 3.0
"""Seconds a new session waits for what is still being said, so that it can be told what was heard of it."""

TOOLS_LIMIT_S = 60.0
"""Seconds a closing call waits for tools that may not be stopped: longer than any payment takes."""


class RealtimePipeline:
    """One call's turns, taken by a speech-to-speech model.

    Args:
        clock: the call's.
        output: where its voice goes.
        group: the call's task group.
        tell: takes what the outside is told.
        adapter: the provider.
        host: the agent.
        activity: the call's voice activity stream. Needed where turn detection is ours; elsewhere it only dates speech.
        synthesizer: says narrations and a greeting, at the output's rate; ``None``: the model is told to say them.
        phrases: sentences rendered beforehand, at the output's rate: apologies that need no provider.
        settings: how.
        probe: takes every speech probability.

    Raises:
        ValueError: turn detection is ours and there is no ``activity``.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        output: AudioOutput,
        group: asyncio.TaskGroup,
        tell: Tell,
        adapter: RealtimeAdapter,
        host: ToolHost,
        activity: VoiceActivity | None = None,
        synthesizer: Synthesizer | None = None,
        phrases: Mapping[str, Samples] | None = None,
        settings: RealtimeSettings | None = None,
        probe: Probe | None = None,
    ) -> None:
        self.settings = settings or RealtimeSettings()
        self._clock = clock
        self._group = group
        self._tell = careful(tell)
        self._host = host
        self._manual = self.settings.turn_taking is TurnTaking.MANUAL
        self._closed = False
        self._lost: RealtimeError | None = None
        self._owed = False
        """Whether the caller waited for a word when the connection broke."""
        self._typed = 0
        self._due: deque[MachineAction] = deque()
        self._doing = False
        self._timer: Timer | None = None
        self._machine = RealtimeMachine(answer_wait_s=self.settings.unanswered_s)
        self._gap = Gap(self.settings.lasting)
        self._chronicle = Chronicle(words_wait_s=self.settings.words_wait_s, words_lost_s=self.settings.words_lost_s)
        self._outbox = Outbox(int(self.settings.lasting.kept_audio_s * adapter.hears))
        self._connection = Connection(
            clock=clock,
            adapter=adapter,
            group=group,
            outbox=self._outbox,
            settings=self.settings.lasting,
            correspondent=self,
        )
        speech = Speech(
            chronicle=self._chronicle,
            replies=self._machine.replies_of,
            post=self._connection.post,
            over=self._over_with,
            tell=self._tell,
        )
        self._voices = Voices(
            clock=clock,
            output=output,
            group=group,
            synthesizer=synthesizer,
            phrases=dict(phrases or {}),
            rate=adapter.speaks,
            settings=self.settings.playout,
            tell=self._tell,
            settled=speech.settled,
        )
        self._caller = CallerSide(
            clock=clock,
            rate=adapter.hears,
            activity=activity,
            settings=self.settings,
            voices=self._voices,
            over=self._over,
            asked=lambda: host.expects().kind,
            post=self._connection.post,
            void=self._void,
            spoke=self._machine.spoke,
            changed=self._arm,
            tell=self._tell,
            probe=probe,
        )
        self._briefing = Briefing(
            clock=clock,
            host=host,
            group=group,
            settings=self.settings,
            post=self._connection.post,
            turn=lambda: self._machine.turn,
            results_told=lambda respond: self._do(self._machine.results_told(clock.now(), respond=respond)),
            asks=lambda: self._do(self._machine.asked("tool_result")),
            narrate=self.narrate,
            changed=self._arm,
            tell=self._tell,
        )
        self._scribe = Scribe(
            clock=clock,
            host=host,
            chronicle=self._chronicle,
            group=group,
            tell=self._tell,
            heard=self._briefing.refresh_soon,
            called=self._called,
        )

    # ------------------------------------------------------------------------------------------------ from outside

    def start(self) -> None:
        """Connect; greet, if there is a greeting. A provider that is not there at once is tried again for a while."""
        if self.settings.start_muted or self._manual:
            self.mute()
        self._gap.down(self._clock.now())
        self._group.create_task(self._begin(), name="realtime begin")
        if self.settings.greeting:
            self._say(self.settings.greeting, "greeting")
        self._arm()

    def hear(self, frame: Frame) -> None:
        """Take the next frame of the caller's audio. Returns at once; after the end it is not listened to."""
        if not self._closed:
            self._caller.hear(frame)

    def narrate(self, text: str) -> None:
        """Say a text to its end, without the model; where there is no voice but the model's, the model is told to.

        What the model is told to say the caller may interrupt, where the provider detects turns.
        """
        if not self._closed:
            self._say(text, "narration")

    def interrupt(self) -> None:
        """Cut whatever is being said, and stop what the agent does for it."""
        if self._closed:
            return
        self._briefing.abort()
        for number in self._voices.own:
            self._cut(number, Cause.HOST)
        self._void(Cause.HOST)

    def commit_turn(self) -> None:
        """Answer what there is; in manual turn taking the button is let go by that."""
        if self._closed:
            return
        if self._manual:
            self.mute()
        else:
            self._caller.release()

    def type_in(self, text: str) -> None:
        """Take words that were typed for the caller's turn."""
        if self._closed:
            return
        self._typed += 1
        now = self._clock.now()
        self._void(Cause.TYPED)
        self._do(self._machine.typed(text, now))
        self._chronicle.feed(CallerWords(item=f"typed:{self._typed}", text=text, final=True), now)
        self._connection.post(Inject(text=text, role="caller", respond=True))
        self._scribe.look()

    def inject(self, text: str, *, respond: bool) -> None:
        """Tell the model something that the caller did not say.

        Args:
            text: not blank.
            respond: whether it is to say something because of it, as soon as it may.

        Raises:
            ValueError: the text is blank.
        """
        if not text.strip():
            raise ValueError("there is nothing to tell the model: the text is blank")
        if self._closed:
            return
        if respond:
            self._do(self._machine.asked("reply"))
        self._connection.post(Inject(text=text, role="system", respond=respond))

    async def refresh_context(self) -> None:
        """Tell the model what it has to know now, if that has changed; it does not speak because of it.

        Tools that have changed are told too. Safe to cancel.

        Raises:
            ResponderError: the agent cannot say.
        """
        if not self._closed:
            await self._briefing.refresh()

    def mute(self) -> None:
        """Stop listening to the caller. Idempotent."""
        if not self._closed:
            self._caller.mute()

    def unmute(self) -> None:
        """Listen to the caller from here on; in manual turn taking an agent that speaks is interrupted. Idempotent."""
        if not self._closed:
            self._caller.unmute()

    def suspend(self) -> None:
        """Say nothing before ``restore``: nobody would hear it. Idempotent."""
        self._voices.suspend()

    def restore(self) -> None:
        """Go on with what was not heard. Idempotent."""
        self._voices.restore()

    @property
    def muted(self) -> bool:
        """Whether the caller is not listened to."""
        return self._caller.muted

    @property
    def idle(self) -> bool:
        """Whether nobody speaks, no tool runs, nothing is being made, and nothing waits to be answered or settled."""
        connecting = self._connection.number == 0 and self._lost is None
        waiting = self._caller.waiting or self._briefing.waiting
        return not (connecting or waiting or not self.quiet or self._voices.busy or self._scribe.busy)

    async def aclose(self) -> None:
        """Stop: settle what was heard, keep it, end the session, and leave nothing behind. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._caller.aclose()
        if self._timer is not None:
            self._timer.cancel()
        self._do(self._machine.closed())
        self._voices.stop()
        await self._connection.aclose()
        await self._briefing.aclose()
        await self._scribe.aclose()
        try:
            async with asyncio.timeout(TOOLS_LIMIT_S):
                await self._host.aclose()
        except Exception as error:  # noqa: BLE001 - an agent's boundary, a tool that never ends included
            self._tell(trouble("model", error, known=ResponderError))

    # ----------------------------------------------------------------------------------------------- the connection

    async def setup(self, resume: str | None) -> SessionSetup:
        """Say what a new session begins with."""
        await self._voices.silence(STILL_SOUNDS_S)
        await self._scribe.settled()
        setup = await self._briefing.setup(resume)
        return replace(setup, past=self._outbox.without_waiting(setup.past))

    def told(self, event: ProviderEvent) -> None:
        """Take what the provider says."""
        if self._closed:
            return
        now = self._clock.now()
        self._chronicle.feed(event, now)
        self._caller.told(event, now)
        self._do(self._machine.feed(event, now))
        if not isinstance(event, ReplyAudio | ReplyWords):
            self._scribe.look()
            self._connection.look()

    def up(self) -> None:
        """A session is there."""
        self._gap.up()
        if self._owed and not self._outbox.asks:
            self._do(self._machine.asked("reply"))
            self._connection.post(Inject(text=GO_ON, role="system", respond=True))
        self._owed = False
        self._arm()

    def down(self) -> None:
        """It is over."""
        self._owed = self._machine.owed and not self._briefing.working
        self._gap.down(self._clock.now())
        self._do(self._machine.disconnected())

    def lost(self, error: RealtimeError) -> None:
        """There will be no other."""
        self._lost = error
        self._gap.up()
        self._tell(EngineTrouble(engine="model", reason=str(error)))
        self._say_locally(self.settings.farewell, "apology")
        if self.settings.on_lost is Lost.END:
            self._group.create_task(self._end(error), name="realtime end")

    @property
    def quiet(self) -> bool:
        """Whether nobody speaks and nothing is made, so that nothing is cut by a change of sessions."""
        return not (self._machine.busy or self._briefing.working or self._caller.sounding)

    async def _begin(self) -> None:
        try:
            await self._host.open()
        except Exception as error:  # noqa: BLE001 - an agent's boundary
            self._tell(trouble("model", error, known=ResponderError))
            self.lost(RealtimeError("the agent cannot be talked to", retry=False))
            return
        self._connection.start()

    async def _end(self, error: RealtimeError) -> None:
        """Let the caller hear the farewell, and end the call."""
        while self._voices.own:
            await self._clock.sleep(0.1)
        raise error

    def _over(self) -> Over:
        """What a sound of the caller's lies over just now."""
        if self._voices.protected or self._host.blocked():
            return Over.PROTECTED
        return Over.SPEECH if self._machine.audible else Over.SILENCE

    def _void(self, cause: Cause) -> None:
        """Nothing more of what is being said is wanted."""
        connected = self._connection.number > 0
        self._do(self._machine.void(cause, asked=connected))
        if connected:
            self._connection.post(Interrupt())

    def _called(self, called: ModelCalled, batch: Batch | None) -> None:
        if not self._closed:
            self._briefing.run(called, batch, self._connection.number)

    # ---------------------------------------------------------------------------------------------------- the model

    def _do(self, actions: list[MachineAction]) -> None:
        """Carry out what the machine decided; what it decides meanwhile waits its turn."""
        self._due.extend(actions)
        if self._doing:
            return
        self._doing = True
        try:
            while self._due:
                self._act(self._due.popleft())
        finally:
            self._doing = False
            self._arm()

    def _act(self, action: MachineAction) -> None:
        match action:
            case Sound():
                self._voices.sound(action.utterance, action.item, action.samples)
            case Write():
                self._voices.write(action.utterance, action.item, action.text, self._connection.number)
            case Begin():
                self._voices.begin(action.utterance, action.kind, action.turn, self._connection.number)
            case Rest():
                self._voices.rest(action.utterance)
            case Finish():
                self._voices.finish(action.utterance, whole=action.whole)
            case Cut():
                self._cut(action.utterance, action.cause)
            case Unspoken():
                self._voices.forget(action.utterance)
                for reply in action.replies:
                    self._chronicle.heard(reply, "", interrupted=True)
                self._scribe.look()
            case GiveWay():
                self._briefing.give_way()
            case Withdraw():
                self._briefing.withdraw(action.call_ids)
            case Apologise():
                self._say_locally(self.settings.failed, "apology")
            case Spent():
                self._tell(TokensSpent(turn=action.turn, **asdict(action.used)))
                self._chronicle.spent(action.used)
                self._scribe.look()
            case Told():
                self._tell(action.event)
            case _:
                assert_never(action)

    def _cut(self, number: int, cause: Cause) -> None:
        self._tell(UtteranceCancelled(utterance=number, cause=cause))
        self._voices.cut(number)

    def _say(self, text: str, kind: SpokenKind) -> None:
        """Say something without the model's thinking: by our own voice, or else by the model's."""
        if self._voices.can_say(text):
            self._voices.say(self._machine.number(kind), kind, text)
            return
        self._do(self._machine.asked(kind))
        self._connection.post(Inject(text=SAY.format(text=text), role="system", respond=True))

    def _say_locally(self, text: str, kind: SpokenKind) -> None:
        """Say something when there is no model; where there is no other voice, nobody hears it."""
        if self._voices.can_say(text) and not self._closed:
            self._voices.say(self._machine.number(kind), kind, text)

    def _over_with(self, number: int) -> None:
        """Something was said, and what was heard of it is settled."""
        self._do(self._machine.over(number))
        self._scribe.look()
        self._connection.look()

    # ------------------------------------------------------------------------------------------------------- time

    def _arm(self) -> None:
        """Set the one timer for whatever is due next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._closed:
            return
        quiet = self.quiet and not self._voices.busy
        times = (
            self._machine.deadline,
            self._caller.deadline,
            self._gap.deadline,
            self._briefing.deadline(quiet=quiet),
        )
        due = min((at for at in times if at is not None), default=math.inf)
        if due < math.inf:
            self._timer = self._clock.call_at(due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now = self._clock.now()
        if self._gap.tick(now):
            self._say_locally(self.settings.apology, "apology")
        self._briefing.tick(now)
        self._caller.tick(now)
        self._do(self._machine.tick(now))
