"""A room, as the agent is in it: LiveKit's SDK, its events and its calls, in this house's words.

Above: ``leg`` is told what happens and says what is to be done. Below: the SDK, which is imported when the first room
is joined, in a thread: it takes a second.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from pipelines.audio.frame import Samples
from voice_server.clients.commands import LONGEST_COMMAND
from voice_server.ending import Ending
from voice_server.livekit.attendance import PersonKind
from voice_server.livekit.hiding import without_tokens
from voice_server.livekit.post import LARGEST_PACKET, Letter, Pages, Saying, Showing
from voice_server.livekit.quiet import narrow_room
from voice_server.livekit.transcription import FINAL, SEGMENT, TOPIC, TRACK, Grow, Piece

if TYPE_CHECKING:
    from livekit import rtc

__all__ = ["CHAT", "GLOVE", "STATE", "Guest", "JoinError", "Person", "Room", "Voice"]

_log = logging.getLogger(__name__)

GLOVE = "glove"
"""Topic of our own events and commands."""

CHAT = "lk.chat"
STATE = "lk.agent.state"
VOICE = "agent-voice"
"""Name of the agent's track."""

LEAVE_S = 2.0
"""Seconds the goodbye to the server may take."""


class JoinError(Exception):
    """The room cannot be joined; the message says why, and holds no secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody else in a room."""

    identity: str
    kind: PersonKind
    attributes: Mapping[str, str] = field(default_factory=dict, repr=False)


class Guest(Protocol):
    """Is told what happens in a room. All of it returns at once."""

    def came(self, person: Person) -> None:
        """Somebody is there. Tracks and ``ready`` follow."""
        ...

    def went(self, identity: str) -> None:
        """Somebody is there no more."""
        ...

    def ready(self, identity: str) -> None:
        """Somebody who came can be told things, and hears in a moment."""
        ...

    def published(self, identity: str, track: str) -> None:
        """Somebody has a microphone."""
        ...

    def unpublished(self, identity: str, track: str) -> None:
        """Somebody has it no more."""
        ...

    def sounding(self, track: rtc.RemoteAudioTrack) -> None:
        """A microphone that was asked for can be listened to."""
        ...

    def subscribed(self) -> None:
        """Somebody hears the agent for the first time."""
        ...

    def packet(self, identity: str, data: bytes) -> None:
        """Somebody sent a packet on our topic."""
        ...

    def letter(self, identity: str, topic: str, reader: rtc.TextStreamReader) -> None:
        """Somebody sends a text, on ours or the chat's."""
        ...

    def key(self, identity: str, digit: str) -> None:
        """Somebody pressed a key."""
        ...

    def lost(self) -> None:
        """The connection is gone; the SDK tries to bring it back."""
        ...

    def back(self) -> None:
        """It is there again."""
        ...

    def over(self, ending: Ending) -> None:
        """It is gone for good."""
        ...


class Voice:
    """A :class:`~voice_server.livekit.output.Source`: LiveKit's, at one rate.

    Args:
        source: the SDK's.
    """

    def __init__(self, source: rtc.AudioSource) -> None:
        from livekit import rtc

        self._frame = rtc.AudioFrame
        self._source = source

    @property
    def queued_duration(self) -> float:
        """Seconds it has not played."""
        return self._source.queued_duration

    async def capture(self, samples: Samples) -> None:
        """Queue samples; wait while the queue is full. What a source that is gone does not take is lost."""
        frame = self._frame(samples.tobytes(), self._source.sample_rate, 1, len(samples))
        try:
            await self._source.capture_frame(frame)
        except Exception as error:  # noqa: BLE001 - the SDK's boundary: the room will say what happened
            _log.info("the agent's voice was not taken: %s", error)

    def clear_queue(self) -> None:
        """Drop what was not played."""
        self._source.clear_queue()


class Room:
    """One connection to a room. A :class:`~voice_server.livekit.post.Carrier`.

    Args:
        guest: is told what happens.
    """

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._room: rtc.Room | None = None
        self._publication: rtc.LocalTrackPublication | None = None
        self._growing: dict[str, rtc.TextStreamWriter] = {}
        """By segment, the streams of words that are being heard."""
        self.caller = ""
        """Whose words the caller's are."""
        self.microphone = ""
        """The caller's track."""

    # --------------------------------------------------------------------------------------------------- being there

    async def join(self, url: str, token: str) -> None:
        """Go in; whoever is there is told of, as if they came just now.

        Raises:
            JoinError: the server cannot be reached, or does not let us in.
        """
        await asyncio.to_thread(importlib.import_module, "livekit.rtc")
        from livekit import rtc

        room = rtc.Room()
        self._attend(room)
        options = rtc.RoomOptions(
            auto_subscribe=False, data_stream=rtc.DataStreamOptions(max_payload_byte_length=LONGEST_COMMAND)
        )
        try:
            await room.connect(url, token, options)
        except rtc.ConnectError as error:
            raise JoinError(without_tokens(error.message)) from None
        narrow_room(room)
        self._room = room
        for participant in tuple(room.remote_participants.values()):
            self._came(participant)

    async def speak(self, rate: int, queue_ms: int) -> rtc.AudioSource:
        """Publish the agent's voice.

        Returns:
            What plays it; close it in the end.

        Raises:
            JoinError: the server does not take it.
        """
        from livekit import rtc
        from livekit.rtc.participant import PublishTrackError

        assert self._room is not None
        source = rtc.AudioSource(rate, 1, queue_size_ms=queue_ms)
        track = rtc.LocalAudioTrack.create_audio_track(VOICE, source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        try:
            self._publication = await self._room.local_participant.publish_track(track, options)
        except PublishTrackError as error:
            raise JoinError(f"the agent's voice is not taken: {error.message}") from None
        return source

    def subscribe(self, identity: str, track: str, *, again: bool) -> None:
        """Ask for somebody's microphone; no other is sent.

        Args:
            identity: whose.
            track: which.
            again: whether it was asked for in vain: the SDK believes that it is on its way, and would not ask.
        """
        if self._room is None or (participant := self._room.remote_participants.get(identity)) is None:
            return
        for sid, publication in participant.track_publications.items():
            if publication.kind == self._audio:
                if again or sid != track:
                    publication.set_subscribed(False)
                if sid == track:
                    publication.set_subscribed(True)

    async def leave(self) -> None:
        """Go out. Idempotent; bounded in time."""
        room, self._room = self._room, None
        if room is not None:
            async with asyncio.timeout(LEAVE_S):
                await room.disconnect()

    # ------------------------------------------------------------------------------------------------------- telling

    async def carry(self, letter: Letter) -> None:
        """Send a letter."""
        assert self._room is not None
        agent = self._room.local_participant
        match letter:
            case Showing():
                await agent.set_attributes({STATE: letter.state.value})
            case Saying():
                await self._say(letter.piece)
            case Pages(pages=(page,)) if len(data := page.encode()) <= LARGEST_PACKET:
                await agent.publish_data(
                    data, reliable=not letter.lossy, topic=GLOVE, destination_identities=list(letter.to)
                )
            case Pages():
                writer = await agent.stream_text(topic=GLOVE, destination_identities=list(letter.to))
                await writer.write("\n".join(letter.pages))
                await writer.aclose()

    async def _say(self, piece: Piece) -> None:
        writer = self._growing.pop(piece.segment, None) or await self._open(piece)
        if piece.text:
            await writer.write(piece.text)
        if isinstance(piece, Grow) and not piece.final:
            self._growing[piece.segment] = writer
        else:
            await writer.aclose(attributes={FINAL: str(piece.final).lower()})

    async def _open(self, piece: Piece) -> rtc.TextStreamWriter:
        assert self._room is not None
        mine = isinstance(piece, Grow)
        track = self.microphone
        if mine:
            track = self._publication.sid if self._publication is not None else ""
        return await self._room.local_participant.stream_text(
            topic=TOPIC,
            attributes={
                SEGMENT: piece.segment,
                TRACK: track,
                FINAL: "false" if mine else str(piece.final).lower(),
            },
            sender_identity=None if mine or not self.caller else self.caller,
        )

    # -------------------------------------------------------------------------------------------------- what happens

    def _attend(self, room: rtc.Room) -> None:
        from livekit import rtc

        guest = self._guest
        self._audio = rtc.TrackKind.KIND_AUDIO
        happenings: dict[rtc.room.EventTypes, Callable[..., None]] = {
            "participant_connected": self._came,
            "participant_active": lambda participant: guest.ready(participant.identity),
            "participant_disconnected": lambda participant: guest.went(participant.identity),
            "track_published": self._published,
            "track_unpublished": lambda publication, participant: guest.unpublished(
                participant.identity, publication.sid
            ),
            "track_subscribed": self._sounding,
            "local_track_subscribed": lambda _: guest.subscribed(),
            "data_received": self._received,
            "sip_dtmf_received": self._keyed,
            "reconnecting": self._lost,
            "reconnected": guest.back,
            "disconnected": lambda reason: guest.over(_ending(reason)),
        }
        for name, happening in happenings.items():
            room.on(name, happening)
        for topic in (GLOVE, CHAT):
            room.register_text_stream_handler(topic, partial(self._texted, topic))

    def _lost(self) -> None:
        self._growing.clear()
        self._guest.lost()

    def _came(self, participant: rtc.RemoteParticipant) -> None:
        from livekit import rtc

        kind = _KINDS.get(rtc.ParticipantKind.Name(participant.kind), PersonKind.OTHER)
        person = Person(identity=participant.identity, kind=kind, attributes=participant.attributes)
        self._guest.came(person)
        for publication in participant.track_publications.values():
            self._published(publication, participant)
        if participant.state == rtc.ParticipantState.PARTICIPANT_STATE_ACTIVE:
            self._guest.ready(participant.identity)

    def _published(self, publication: rtc.RemoteTrackPublication, participant: rtc.RemoteParticipant) -> None:
        from livekit import rtc

        if publication.kind == self._audio and publication.source != rtc.TrackSource.SOURCE_SCREENSHARE_AUDIO:
            self._guest.published(participant.identity, publication.sid)

    def _sounding(self, track: rtc.Track, *_: object) -> None:
        from livekit import rtc

        if isinstance(track, rtc.RemoteAudioTrack):
            self._guest.sounding(track)

    def _received(self, packet: rtc.DataPacket) -> None:
        if packet.topic == GLOVE and packet.participant is not None:
            self._guest.packet(packet.participant.identity, packet.data)

    def _texted(self, topic: str, reader: rtc.TextStreamReader, identity: str) -> None:
        self._guest.letter(identity, topic, reader)

    def _keyed(self, key: rtc.SipDTMF) -> None:
        if key.participant is not None:
            self._guest.key(key.participant.identity, key.digit)


_KINDS = {f"PARTICIPANT_KIND_{kind.name}": kind for kind in PersonKind if kind is not PersonKind.OTHER}


def _ending(reason: int) -> Ending:
    """Say what it means for the call that the connection is gone for good."""
    from livekit.rtc import DisconnectReason

    match reason:
        case DisconnectReason.PARTICIPANT_REMOVED | DisconnectReason.ROOM_DELETED | DisconnectReason.DUPLICATE_IDENTITY:
            return Ending.REMOVED
        case DisconnectReason.ROOM_CLOSED:
            return Ending.DISCONNECTED
        case _:
            return Ending.MEDIA_LOST
