"""The realtime pipeline: a speech-to-speech model takes the call's turns, and what is true stays with us.

Above: ``call`` starts it and feeds it frames. Below: ``machine`` and ``detection`` decide, ``connection`` talks to the
provider, ``speaker`` plays, ``scribe`` has the agent keep what was said, and ``toolwork`` runs its tools.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace

from pipelines.audio.frame import Frame, Samples
from pipelines.clock import Clock, Timer
from pipelines.events import EngineTrouble, Tell, careful, trouble
from pipelines.playout.output import AudioOutput
from pipelines.realtime.base import RealtimeAdapter, RealtimeError, SessionSetup
from pipelines.realtime.briefing import Briefing
from pipelines.realtime.caller import CallerSide
from pipelines.realtime.chronicle import Chronicle, ModelCalled
from pipelines.realtime.connection import Connection, session_of
from pipelines.realtime.detection import Over
from pipelines.realtime.ears import Probe
from pipelines.realtime.events import CallerWords, ProviderEvent, ReplyAudio, ReplyWords
from pipelines.realtime.lasting import Gap
from pipelines.realtime.machine import RealtimeMachine
from pipelines.realtime.outbox import Inject, Outbox
from pipelines.realtime.performance import Performance
from pipelines.realtime.scribe import Scribe
from pipelines.realtime.settings import Lost, RealtimeSettings
from pipelines.realtime.speech import Speech
from pipelines.realtime.voices import Voices
from pipelines.realtime.wording import GO_ON
from pipelines.responder import Batch, ResponderError, ToolHost
from pipelines.tts.base import Synthesizer
from pipelines.turns.events import Cause
from pipelines.turns.settings import TurnTaking
from pipelines.vad.base import VoiceActivity

__all__ = ["RealtimePipeline"]

STILL_SOUNDS_S = 3.0
"""Seconds a new session waits for what is still being said, so that it can be told what was heard of it."""

FAREWELL_S = 10.0
"""Seconds a call that has lost its model goes on for what is still being said."""

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
            over=self._settled,
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
        self._performance = Performance(
            clock=clock,
            machine=self._machine,
            voices=self._voices,
            chronicle=self._chronicle,
            connection=self._connection,
            failed=self.settings.failed,
            changed=self._arm,
            tell=self._tell,
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
            void=self._performance.void,
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
            results_told=self._performance.results_told,
            asks=lambda: self._performance.asked("tool_result"),
            narrate=self.narrate,
            changed=self._arm,
            tell=self._tell,
        )
        self._performance.works = self._briefing
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
            self._performance.say(self.settings.greeting, "greeting")
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
            self._performance.say(text, "narration")

    def interrupt(self) -> None:
        """Cut whatever is being said, and stop what the agent does for it."""
        if not self._closed:
            self._briefing.abort()
            self._performance.silence(Cause.HOST)

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
        self._performance.typed(text)
        typed = CallerWords(item=f"typed:{self._typed}", text=text, final=True)
        self._chronicle.feed(typed, self._clock.now())
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
            self._performance.asked("reply")
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
        self._performance.close()
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
        self._performance.told(event)
        if not isinstance(event, ReplyAudio | ReplyWords):
            self._look()

    def up(self) -> None:
        """A session is there."""
        self._gap.up()
        if self._owed and not self._outbox.asks:
            if not self._machine.owed:
                self._performance.asked("reply")
            self._connection.post(Inject(text=GO_ON, role="system", respond=True))
        self._owed = False
        self._arm()

    def down(self) -> None:
        """It is over."""
        self._owed = self._machine.owed and not self._briefing.working
        self._gap.down(self._clock.now())
        self._performance.disconnected()

    def lost(self, error: RealtimeError) -> None:
        """There will be no other."""
        self._lost = error
        self._gap.up()
        self._tell(EngineTrouble(engine="model", reason=str(error)))
        self._performance.say_ourselves(self.settings.farewell, "apology")
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
        await self._voices.silence(FAREWELL_S)
        raise error

    def _over(self) -> Over:
        """What a sound of the caller's lies over just now."""
        if self._voices.protected or self._host.blocked():
            return Over.PROTECTED
        return Over.SPEECH if self._machine.audible else Over.SILENCE

    def _called(self, called: ModelCalled, batch: Batch | None) -> None:
        if not self._closed:
            self._briefing.run(called, batch, session_of(called.reply))

    def _settled(self, utterance: int) -> None:
        """Something was said, and what was heard of it is known."""
        self._performance.over(utterance)
        self._look()

    def _look(self) -> None:
        """Something may be kept now, or it has become quiet."""
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
            self._performance.say_ourselves(self.settings.apology, "apology")
        self._briefing.tick(now)
        self._caller.tick(now)
        self._performance.tick(now)
        self._scribe.look()
