from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from voice_server.livekit.attendance import LISTENED_TO, Attendance, Change, Deaf, Left, Linked, Listen, PersonKind

KINDS = st.sampled_from(PersonKind)
NAMES = st.sampled_from(["ann", "bob", "cat", "agent"])


def test_the_first_person_or_phone_is_the_caller_and_no_machine() -> None:
    attendance = Attendance()
    assert attendance.join("agent-2", PersonKind.AGENT) == []
    assert attendance.join("recorder", PersonKind.EGRESS) == []
    assert attendance.join("+43", PersonKind.SIP) == [Linked(identity="+43", again=False)]
    assert attendance.join("ann", PersonKind.STANDARD) == []
    assert attendance.publish("ann", "A") == []
    assert attendance.publish("+43", "P") == [Listen(track="P")]


def test_who_is_named_is_the_caller_whatever_they_are() -> None:
    attendance = Attendance("robot")
    assert attendance.join("ann", PersonKind.STANDARD) == []
    assert attendance.join("robot", PersonKind.AGENT) == [Linked(identity="robot", again=False)]


def test_the_latest_microphone_is_listened_to_and_then_the_one_before() -> None:
    attendance = Attendance()
    attendance.join("ann", PersonKind.STANDARD)
    assert attendance.publish("ann", "A") == [Listen(track="A")]
    assert attendance.publish("ann", "B") == [Listen(track="B")]
    assert attendance.unpublish("ann", "B") == [Listen(track="A")]
    assert attendance.unpublish("ann", "A") == [Deaf()]


def test_who_leaves_is_waited_for_and_nobody_takes_their_place() -> None:
    attendance = Attendance()
    attendance.join("ann", PersonKind.STANDARD)
    attendance.join("bob", PersonKind.STANDARD)
    attendance.publish("ann", "A")
    attendance.publish("bob", "B")
    assert attendance.leave("ann") == [Deaf(), Left(identity="ann")]
    assert attendance.join("cat", PersonKind.STANDARD) == []
    assert attendance.join("ann", PersonKind.STANDARD) == [Linked(identity="ann", again=True)]
    assert attendance.publish("ann", "A2") == [Listen(track="A2")]


@dataclass
class Ears:
    """What somebody does who is told of changes and nothing else."""

    caller: str | None = None
    there: bool = False
    track: str | None = None
    callers: set[str] = field(default_factory=set)

    def hear(self, changes: list[Change]) -> None:
        for change in changes:
            match change:
                case Linked():
                    assert not self.there and change.again is (change.identity in self.callers)
                    self.caller, self.there = change.identity, True
                    self.callers.add(change.identity)
                case Left():
                    assert self.there and self.caller == change.identity and self.track is None
                    self.there = False
                case Listen():
                    assert self.there and self.track != change.track
                    self.track = change.track
                case Deaf():
                    assert self.track is not None
                    self.track = None


class Room(RuleBasedStateMachine):
    """People come, go, publish and stop, in any order, some of it told twice."""

    tracks = Bundle("tracks")

    @initialize(wanted=st.none() | NAMES)
    def open(self, wanted: str | None) -> None:
        self.wanted = wanted
        self.attendance = Attendance(wanted)
        self.ears = Ears()
        self.there: dict[str, list[str]] = {}
        self.first: str | None = wanted
        self.made = 0

    @rule(name=NAMES, kind=KINDS)
    def join(self, name: str, kind: PersonKind) -> None:
        if name not in self.there and self.first is None and kind in LISTENED_TO:
            self.first = name
        self.there.setdefault(name, [])
        self.ears.hear(self.attendance.join(name, kind))

    @rule(name=NAMES)
    def leave(self, name: str) -> None:
        self.there.pop(name, None)
        self.ears.hear(self.attendance.leave(name))

    @rule(target=tracks, name=NAMES)
    def publish(self, name: str) -> tuple[str, str]:
        self.made += 1
        track = f"{name}-{self.made}"
        if name in self.there:
            self.there[name].append(track)
        self.ears.hear(self.attendance.publish(name, track))
        return name, track

    @rule(published=tracks)
    def unpublish(self, published: tuple[str, str]) -> None:
        name, track = published
        if track in self.there.get(name, []):
            self.there[name].remove(track)
        self.ears.hear(self.attendance.unpublish(name, track))

    @rule(published=tracks)
    def publish_twice(self, published: tuple[str, str]) -> None:
        name, track = published
        if track in self.there.get(name, []):
            self.ears.hear(self.attendance.publish(name, track))

    @invariant()
    def one_person_is_listened_to_by_their_latest_track(self) -> None:
        if not hasattr(self, "first"):
            return
        tracks = self.there.get(self.first or "", [])
        assert self.ears.track == (tracks[-1] if tracks else None) == self.attendance.track
        assert self.ears.there == (self.first in self.there) == self.attendance.present
        assert self.attendance.caller == self.first


TestRoom = Room.TestCase
TestRoom.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
