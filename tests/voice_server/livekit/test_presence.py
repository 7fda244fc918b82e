from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from voice_server.ending import Ending
from voice_server.livekit.presence import ARRIVAL_S, HERE_S, Presence, Speak, Stay, Step, Wait

GRACE_S = 10.0

GONE = [Wait(seconds=GRACE_S, ending=Ending.DISCONNECTED)]
LOST = [Wait(seconds=GRACE_S, ending=Ending.MEDIA_LOST)]


def test_a_caller_who_comes_is_spoken_to_when_they_hear() -> None:
    presence = Presence(GRACE_S)
    assert presence.begin() == [Wait(seconds=ARRIVAL_S, ending=Ending.DISCONNECTED)]
    assert presence.linked() == [Stay()]
    assert presence.ready(3.0) == []
    assert presence.deadline == 3.0 + HERE_S
    assert presence.tick(3.4) == []
    assert presence.tick(3.5) == [Speak()]
    assert presence.here and presence.deadline is None


def test_the_first_who_subscribes_need_not_be_waited_for() -> None:
    presence = Presence(GRACE_S)
    presence.linked()
    assert presence.subscribed() == [Speak()]
    assert presence.subscribed() == []


def test_who_leaves_is_waited_for_and_spoken_to_when_they_are_back() -> None:
    presence = Presence(GRACE_S)
    presence.linked()
    presence.subscribed()
    assert presence.left() == GONE
    assert presence.linked() == [Stay()]
    presence.ready(8.0)
    assert presence.left() == GONE
    assert presence.tick(9.0) == []


def test_a_lost_room_is_waited_for_from_the_first_moment_whoever_leaves_it_meanwhile() -> None:
    presence = Presence(GRACE_S)
    presence.linked()
    presence.subscribed()
    assert presence.lost() == LOST
    assert presence.lost() == presence.left() == presence.linked() == presence.subscribed() == []
    assert presence.back(5.0, present=True) == [Stay()]
    assert presence.tick(5.5) == [Speak()]


def test_a_room_that_is_back_without_the_caller_waits_for_them() -> None:
    presence = Presence(GRACE_S)
    presence.linked()
    presence.lost()
    assert presence.back(5.0, present=False) == GONE
    assert presence.back(6.0, present=False) == []


class Story(RuleBasedStateMachine):
    """A room whose caller and whose server come and go as they like."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.presence = Presence(GRACE_S)
        self.present = self.connected = False
        self.connected = True
        self.spoken_to = False
        self.ending: Ending | None = Ending.DISCONNECTED
        """How the call ends if nothing happens; ``None``: it does not."""
        self.carry_out(self.presence.begin())

    def carry_out(self, steps: list[Step]) -> None:
        for step in steps:
            match step:
                case Wait():
                    self.ending, self.spoken_to = step.ending, False
                case Stay():
                    self.ending, self.spoken_to = None, False
                case Speak():
                    assert self.present and self.connected
                    self.ending, self.spoken_to = None, True

    @rule(seconds=st.floats(0.0, 2.0))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.carry_out(self.presence.tick(self.now))

    @precondition(lambda self: not self.present)
    @rule()
    def come(self) -> None:
        self.present = True
        self.carry_out(self.presence.linked())

    @precondition(lambda self: self.present)
    @rule()
    def leave(self) -> None:
        self.present = False
        self.carry_out(self.presence.left())

    @precondition(lambda self: self.present)
    @rule()
    def be_ready(self) -> None:
        self.carry_out(self.presence.ready(self.now))

    @rule()
    def be_subscribed(self) -> None:
        self.carry_out(self.presence.subscribed())

    @rule()
    def lose(self) -> None:
        self.connected = False
        self.carry_out(self.presence.lost())

    @rule()
    def come_back(self) -> None:
        self.connected = True
        self.carry_out(self.presence.back(self.now, present=self.present))

    @invariant()
    def nobody_is_spoken_to_who_is_not_there_and_nobody_is_waited_for_who_is(self) -> None:
        assert self.spoken_to == self.presence.here
        assert self.connected == self.presence.connected
        if not self.connected:
            assert self.ending is Ending.MEDIA_LOST
        else:
            assert self.ending is (None if self.present else Ending.DISCONNECTED)


TestStory = Story.TestCase
TestStory.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
