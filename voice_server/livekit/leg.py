"""A room's leg: a call whose caller is a participant of a LiveKit room, and may leave and come back.

Above: :func:`join` has a call held. Below: ``room`` tells what happens, ``attendance`` says who is listened to,
``output`` plays, ``ears`` listen, ``post`` tells.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, assert_never

from agents.core.line import LineError
from pipelines.audio.frame import HEARING_RATE
from pipelines.clock import Timer
from pipelines.playout.output import AudioOutput
from voice_server.calls import Calls
from voice_server.clients.commands import Say
from voice_server.clients.events import AgentStateChanged, ClientEvent
from voice_server.clients.stream import Told
from voice_server.ending import Ending
from voice_server.leg import LegError, Transport
from voice_server.live import LiveCall, Terms
from voice_server.livekit.access import Access
from voice_server.livekit.attendance import Attendance, Change, Deaf, Left, Linked, Listen, PersonKind
from voice_server.livekit.counter import Counter
from voice_server.livekit.ears import Ears
from voice_server.livekit.invitation import Invitation
from voice_server.livekit.keypad import Keypad
from voice_server.livekit.output import QUEUE_MS, RoomOutput
from voice_server.livekit.post import Pages, Post, Saying, Showing
from voice_server.livekit.presence import Presence, Speak, Stay, Step, Wait
from voice_server.livekit.room import JoinError, Person, Room, Voice
from voice_server.livekit.telephone import described, transfer
from voice_server.livekit.tokens import agent_token
from voice_server.livekit.transcription import Transcription

if TYPE_CHECKING:
    from livekit import rtc

__all__ = ["RoomLeg", "join"]

_log = logging.getLogger(__name__)

_DIGITS = re.compile(r"\d(?=\d{2})")
"""Those of a telephone's identity, which is its number, that nobody needs to know."""

TOKEN_S = 6 * 3600.0
"""Seconds the agent's token is good for: the SDK comes back with it when the connection breaks."""

WORKS_ON_S = 0.1
"""Seconds the SDK's threads still work after a room was left: of 45 processes that ended sooner, 3 were aborted."""

ASK_S = 2.0
"""Seconds a microphone that was asked for may take to come: a tenth of that, where nothing is amiss."""

FLUSH_S = 1.0
"""Seconds that what was told last may take to get out before the agent leaves."""


def join(calls: Calls, access: Access, invitation: Invitation, *, voice: AudioOutput | None = None) -> LiveCall:
    """Have a call held in a room. The agent is there a moment later; if it cannot be, the call fails and says why.

    Args:
        calls: admits.
        access: to the LiveKit server.
        invitation: into which room, and to go on with what.
        voice: where the agent's voice goes, when it is an avatar's: then no track of the agent's own is published.

    Raises:
        CallRefusedError: no calls are taken, or the conversation is in one.
    """
    return calls.hold(
        Terms(
            conversation=invitation.conversation,
            mode=invitation.mode,
            pipeline=invitation.pipeline,
            wanted=invitation.wanted,
        ),
        partial(RoomLeg, access=access, invitation=invitation, voice=voice),
    )


class RoomLeg:
    """A :class:`~voice_server.leg.Leg`; also the :class:`~voice_server.livekit.room.Guest` of its room.

    Args:
        call: whose.
        access: to the LiveKit server.
        invitation: into which room.
        voice: where the agent's voice goes; ``None``: it publishes a track.
    """

    transport = Transport.ROOM
    hears = HEARING_RATE

    def __init__(
        self, call: LiveCall, *, access: Access, invitation: Invitation, voice: AudioOutput | None = None
    ) -> None:
        self.call = call
        self.room = invitation.room
        self._access = access
        self._identity = invitation.identity
        self._clock = call.premises.clock
        self._track = None
        if voice is None:
            self._track = RoomOutput(
                call.premises.house.synthesizer.rate,
                self._clock,
                lateness=call.premises.metrics.frame_lateness.observe,
            )
        self._voice = voice or self._track
        self._attendance = Attendance(invitation.listen_to)
        self._presence = Presence(call.premises.settings.grace_s)
        self._entered = asyncio.Event()
        """Set when the room is joined, or never will be."""
        self._people: dict[str, Person] = {}
        self._ready: dict[str, None] = {}
        """Whoever can be told things, in their order."""
        self._post = Post(self._greet_all)
        self._transcription = Transcription(call.id)
        self._keypad = Keypad()
        self._keying: Timer | None = None
        self._settling: Timer | None = None
        self._asking: Timer | None = None
        self._counter = Counter(call, self._clock, self._post.put, self._whine)
        self._room = Room(self)
        self._group: asyncio.TaskGroup | None = None
        self._ears: Ears | None = None

    # ------------------------------------------------------------------------------------------------ what a call asks

    @property
    def output(self) -> AudioOutput:
        """Where the agent's voice goes."""
        assert self._voice is not None
        return self._voice

    @property
    def attached(self) -> bool:
        """Whether the caller is there, and hears."""
        return self._presence.here

    @property
    def caller(self) -> Mapping[str, str]:
        """What is known of the caller: LiveKit's attributes of a telephone, in plain words."""
        person = self._people.get(self._attendance.caller or "")
        return {} if person is None else described(person.kind, person.attributes)

    async def transfer(self, to: str) -> None:
        """Put a telephone through.

        Raises:
            LineError: the caller has none, or it did not work.
        """
        person = self._people.get(self._attendance.caller or "")
        if person is None or person.kind is not PersonKind.SIP:
            raise LineError("this caller is not on a telephone, and cannot be put through; take a message instead")
        await transfer(self._access, self.room, person.identity, to)

    def begin(self) -> None:
        """The call hears: tell whoever is there, and wait for the caller if need be."""
        self._greet_all(resumed=False)
        self._step(self._presence.begin())

    def notice(self, event: ClientEvent) -> None:
        """Show what clients are told in the way of LiveKit's components."""
        if isinstance(event, AgentStateChanged):
            self._post.put(Showing(state=event.state))
        elif (piece := self._transcription.feed(event)) is not None:
            self._post.put(Saying(piece=piece))

    async def run(self) -> None:
        """Be in the room until this is cancelled.

        Raises:
            LegError: the room cannot be joined.
        """
        try:
            source = await self._enter()
        except JoinError as error:
            _log.warning("room %r cannot be joined: %s", self.room, error)
            raise LegError("room", f"the agent cannot join the room: {error}") from None
        finally:
            self._entered.set()
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._ears = Ears(group, self.call.hear)
            group.create_task(self._post.run(self._room), name="post")
            if self._track is not None and source is not None:
                try:
                    await self._track.run(Voice(source))
                finally:
                    await source.aclose()

    async def _enter(self) -> rtc.AudioSource | None:
        token = agent_token(self._access, room=self.room, lasts_s=TOKEN_S, identity=self._identity)
        await self._room.join(self._access.url, token)
        self._post.put(Showing(state=self.call.state))
        return None if self._track is None else await self._room.speak(self._track.rate, QUEUE_MS)

    async def aclose(self, ending: Ending) -> None:
        """Tell what is still to be told, and leave the room. Idempotent."""
        for timer in (self._keying, self._settling, self._asking):
            if timer is not None:
                timer.cancel()
        try:
            async with asyncio.timeout(FLUSH_S):
                await self._entered.wait()
                if self._group is not None:
                    await self._post.flush()
        except TimeoutError:
            _log.info("room %r: what was told last did not get out", self.room)
        self.call.stream.drop(self)
        try:
            await self._room.leave()
        except Exception as error:  # noqa: BLE001 - the SDK's boundary: we are gone either way
            _log.info("room %r was not left in time: %s", self.room, type(error).__name__)
        await self._clock.sleep(WORKS_ON_S)

    # -------------------------------------------------------------------------------------------------- who is there

    def came(self, person: Person) -> None:
        """Somebody is there."""
        self._people[person.identity] = person
        self._carry_out(self._attendance.join(person.identity, person.kind))

    def went(self, identity: str) -> None:
        """Somebody is there no more."""
        self._ready.pop(identity, None)
        if identity != self._attendance.caller:  # of whom something is still to be known
            self._people.pop(identity, None)
        self._counter.forget(identity)
        self._carry_out(self._attendance.leave(identity))

    def ready(self, identity: str) -> None:
        """Somebody can be told things."""
        if identity in self._ready:
            return
        self._ready[identity] = None
        if self.call.hearing.is_set() and self._presence.connected:
            self._greet((identity,), resumed=True)
        if identity == self._attendance.caller:
            self._step(self._presence.ready(self._clock.now()))

    def published(self, identity: str, track: str) -> None:
        """Somebody has a microphone."""
        self._carry_out(self._attendance.publish(identity, track))

    def unpublished(self, identity: str, track: str) -> None:
        """Somebody has it no more."""
        self._carry_out(self._attendance.unpublish(identity, track))

    def sounding(self, track: rtc.RemoteAudioTrack) -> None:
        """A microphone can be listened to."""
        if track.sid == self._attendance.track and self._ears is not None:
            self._ears.listen(track)

    def subscribed(self) -> None:
        """Somebody hears the agent for the first time: the caller, who need not be waited for then."""
        self._step(self._presence.subscribed())

    def _carry_out(self, changes: list[Change]) -> None:
        for change in changes:
            match change:
                case Linked():
                    self._linked(change.identity)
                case Left():
                    self._left()
                case Listen():
                    self._listen()
                case Deaf():
                    if self._ears is not None:
                        self._ears.close()
                case _:
                    assert_never(change)

    def _listen(self) -> None:
        """Ask for the caller's microphone, and again until it is there: while the server is away nobody is heard."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        track = self._attendance.track
        if track is not None and (self._ears is None or self._ears.track != track):
            again, self._room.microphone = self._room.microphone == track, track
            self._room.subscribe(self._attendance.caller or "", track, again=again)
            self._asking = self._clock.call_at(self._clock.now() + ASK_S, self._listen)

    def _linked(self, identity: str) -> None:
        self._room.caller = identity
        self._step(self._presence.linked())

    def _left(self) -> None:
        self._keys_complete(self._keypad.press("#", self._clock.now()))
        self._step(self._presence.left())

    def _step(self, steps: list[Step]) -> None:
        """Have the call do something, and come back when it is time."""
        for step in steps:
            match step:
                case Wait():
                    self.call.wait_for_caller(step.seconds, step.ending)
                case Stay():
                    self.call.stop_waiting()
                case Speak():
                    self.call.stop_waiting()
                    if (controls := self.call.controls) is not None:
                        controls.restore()
                case _:
                    assert_never(step)
        if self._settling is not None:
            self._settling.cancel()
            self._settling = None
        if (deadline := self._presence.deadline) is not None:
            self._settling = self._clock.call_at(deadline, self._settled)

    def _settled(self) -> None:
        self._settling = None
        self._step(self._presence.tick(self._clock.now()))

    # ------------------------------------------------------------------------------------------------ the connection

    def lost(self) -> None:
        """The media server is gone, and may come back: so may we."""
        _log.warning("room %r: the connection is lost", self.room)
        self._post.drop()
        self._step(self._presence.lost())

    def back(self) -> None:
        """We are in the room again, perhaps as somebody new, and so are others."""
        self._step(self._presence.back(self._clock.now(), present=self._attendance.present))
        self._post.put(Showing(state=self.call.state))
        self._greet_all()
        self._listen()

    def over(self, ending: Ending) -> None:
        """We are out of the room for good."""
        self._post.drop()
        self.call.end(ending)

    # ------------------------------------------------------------------------------------------------------- telling

    def offer(self, told: Told) -> None:
        """Send an event to everybody."""
        if self._ready:
            self._post.put(Pages(pages=(told.text,), to=tuple(self._ready), lossy=told.seq is None))

    def close(self) -> None:
        """Nothing follows."""

    def _greet_all(self, *, resumed: bool = True) -> None:
        self.call.stream.drop(self)
        if self._ready:
            self._greet(tuple(self._ready), resumed=resumed)
        self.call.stream.add(self)

    def _greet(self, to: tuple[str, ...], *, resumed: bool) -> None:
        """Tell somebody all that was told before."""
        call = self.call
        told = [call.aside(call.greeting(resumed=resumed)), *call.missed(0)]
        self._post.put(Pages(pages=tuple(each.text for each in told), to=to))
        if call.screen is not None:
            call.screen.tell_again()

    # ------------------------------------------------------------------------------------------------ what callers do

    def packet(self, identity: str, data: bytes) -> None:
        """Somebody sent a packet on our topic."""
        self._counter.take(identity, data.decode(errors="replace"), caller=self._attendance.caller)

    def letter(self, identity: str, topic: str, reader: rtc.TextStreamReader) -> None:
        """Somebody sends a text."""
        if self._group is not None:
            self._counter.read(identity, topic, reader, self._group, lambda: self._attendance.caller)

    def key(self, identity: str, digit: str) -> None:
        """Somebody pressed a key."""
        if identity != self._attendance.caller:
            return
        if self._keying is not None:
            self._keying.cancel()
            self._keying = None
        self._keys_complete(self._keypad.press(digit, self._clock.now()))
        if (deadline := self._keypad.deadline) is not None:
            self._keying = self._clock.call_at(deadline, self._key_gap)

    def _key_gap(self) -> None:
        self._keying = None
        self._keys_complete(self._keypad.tick(self._clock.now()))

    def _keys_complete(self, keyed: str | None) -> None:
        if keyed is not None:
            self.call.obey(Say(text=keyed))

    def _whine(self, identity: str, reason: str) -> None:
        person = self._people.get(identity)
        shown = _DIGITS.sub("*", identity) if person is not None and person.kind is PersonKind.SIP else identity
        _log.warning("room %r, participant %r: %s", self.room, shown, reason)
