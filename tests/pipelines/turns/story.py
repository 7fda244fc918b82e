"""A story told to a turn machine in plain numbers: what happens when, and what it decided."""

from __future__ import annotations

from typing import TypeVar

from pipelines.responder import OPEN_QUESTION, Expectation
from pipelines.turns.events import (
    Cancel,
    Cause,
    Commit,
    Hold,
    Note,
    NoteKind,
    Resume,
    Speak,
    TalkBegan,
    TalkEnded,
    TurnAction,
    TurnEvent,
    UtteranceAdvanced,
    UtteranceBegan,
    UtteranceGrew,
    UtteranceOver,
    UtteranceWritten,
    WordsHeard,
)
from pipelines.turns.machine import TurnMachine
from pipelines.turns.settings import TurnSettings
from pipelines.vad.detector import SpeechEnded, SpeechMisfired, SpeechProgressed, SpeechStarted

Action = TypeVar("Action")

WINDOW = 0.032
NOTICED_S = 0.256
"""After speech ended, when the detector says so."""


class Story:
    """Tells a machine what happens, in order; the machine's timers fire on the way."""

    def __init__(self, settings: TurnSettings | None = None, *, expects: Expectation | None = None) -> None:
        self.machine = TurnMachine(settings, expects=expects)
        self.now = 0.0
        self.actions: list[tuple[float, TurnAction]] = []

    # ------------------------------------------------------------------------------------------------- what happens

    def until(self, when: float) -> None:
        """Let time pass; whatever is due fires at its time."""
        while (deadline := self.machine.deadline) is not None and deadline <= when:
            self.now = max(self.now, deadline)
            before = len(self.actions)
            self._did(self.machine.tick(self.now))
            assert self.machine.deadline != deadline or len(self.actions) > before, "a deadline that does nothing"
        self.now = max(self.now, when)

    def feed(self, event: TurnEvent, at: float) -> None:
        self.until(at)
        self._did(self.machine.feed(event, self.now))

    def speech(self, start: float, end: float, *, level: float = 0.1, sureness: float = 0.95) -> int:
        """Let the caller speak; return the segment. Its words come with ``words``."""
        self.begin_speech(start, level=level, sureness=sureness, until=end)
        return self.end_speech(start, end, level=level, sureness=sureness)

    def begin_speech(self, start: float, *, until: float, level: float = 0.1, sureness: float = 0.95) -> int:
        self.feed(SpeechStarted(at=start), start + WINDOW)
        voiced = WINDOW
        while start + voiced <= until + 1e-9:
            self.feed(SpeechProgressed(voiced_s=voiced, level=level, sureness=sureness), start + voiced)
            voiced += WINDOW
        return self.machine.segment

    def end_speech(self, start: float, end: float, *, level: float = 0.1, sureness: float = 0.95) -> int:
        ended = SpeechEnded(started_at=start, ended_at=end, voiced_s=end - start, level=level, sureness=sureness)
        self.feed(ended, end + NOTICED_S)
        return self.machine.segment

    def press(self, start: float, end: float) -> int:
        """Let the caller hold the button; return the segment. Its words come with ``words``."""
        self.feed(TalkBegan(at=start), start)
        self.feed(TalkEnded(at=end, level=0.0, sureness=0.0), end)
        return self.machine.segment

    def blip(self, start: float, end: float) -> None:
        self.feed(SpeechStarted(at=start), start + WINDOW)
        self.feed(SpeechMisfired(started_at=start, ended_at=end, voiced_s=end - start), end + NOTICED_S)

    def words(self, segment: int, text: str, at: float, *, final: bool = True) -> None:
        self.feed(WordsHeard(segment=segment, text=text, final=final), at)

    def caller_says(self, text: str, start: float, end: float, **voice: float) -> None:
        """Speech, and its final text 100 ms after its end was noticed."""
        segment = self.speech(start, end, **voice)
        self.words(segment, text, end + NOTICED_S + 0.1)

    def agent_says(
        self, text: str, at: float, *, asks: bool = False, expects: Expectation = OPEN_QUESTION, kind: str = "greeting"
    ) -> int:
        """Let an utterance begin to sound; how far it is heard comes with ``heard``."""
        self.until(at)
        self._did(self.machine.say(kind, text, self.now))  # type: ignore[arg-type]
        speak = self.all(Speak)[-1]
        self._sounds(speak.utterance, text, at, asks, expects)
        return speak.utterance

    def replies(self, text: str, at: float, *, asks: bool = False, expects: Expectation = OPEN_QUESTION) -> int:
        """Let the reply to the latest turn begin to sound."""
        utterance = self.all(Commit)[-1].utterance
        self._sounds(utterance, text, at, asks, expects)
        return utterance

    def _sounds(self, utterance: int, text: str, at: float, asks: bool, expects: Expectation) -> None:
        self.feed(UtteranceGrew(utterance=utterance, text=text), at)
        question_end = len(text) if asks else None
        self.feed(UtteranceWritten(utterance=utterance, question_end=question_end, expectation=expects), at)
        self.feed(UtteranceBegan(utterance=utterance), at)

    def heard(self, utterance: int, end: int, at: float) -> None:
        self.feed(UtteranceAdvanced(utterance=utterance, heard_end=end), at)

    def over(self, utterance: int, at: float) -> None:
        self.feed(UtteranceOver(utterance=utterance), at)

    def host_interrupts(self) -> None:
        """Let somebody outside cut the agent now."""
        self._did(self.machine.interrupt(self.now))

    def types(self, text: str, at: float) -> None:
        """Let the caller type instead of speak."""
        self.until(at)
        self._did(self.machine.type_in(text, self.now))

    def host_commits(self) -> None:
        """Let somebody outside end the turn now."""
        self._did(self.machine.commit_turn(self.now))

    # ------------------------------------------------------------------------------------------------ what it decided

    def all(self, kind: type[Action]) -> list[Action]:
        return [action for _, action in self.actions if isinstance(action, kind)]

    def times(self, kind: type[TurnAction]) -> list[float]:
        return [at for at, action in self.actions if isinstance(action, kind)]

    @property
    def committed(self) -> list[str]:
        return [commit.text for commit in self.all(Commit)]

    @property
    def notes(self) -> list[NoteKind]:
        return [note.kind for note in self.all(Note)]

    @property
    def causes(self) -> list[Cause]:
        return [cancel.cause for cancel in self.all(Cancel)]

    def silent(self) -> bool:
        """Whether the output is held just now."""
        return len(self.all(Hold)) > len(self.all(Resume))

    def asked(self) -> bool:
        """Whether a question is open just now."""
        return self.machine.asked

    def _did(self, actions: list[TurnAction]) -> None:
        self.actions += [(self.now, action) for action in actions]
