"""The turn machine: decides when the agent falls silent, goes on, is cut, and when words are the caller's turn.

Pure: it is fed events and the time, and returns actions. Above: ``cascade`` carries them out. Below: ``endpointing``
and ``judge`` answer its questions; ``floor`` keeps what the agent says.
"""

from __future__ import annotations

import math
from typing import assert_never

from pipelines.playout.utterance import UtteranceKind
from pipelines.responder import OPEN_QUESTION, Expectation
from pipelines.turns.endpointing import Pace
from pipelines.turns.events import (
    Cancel,
    Cause,
    Commit,
    CutSound,
    DisplayBlocked,
    Drop,
    EngineFailed,
    HearingFailed,
    Hold,
    Note,
    NoteKind,
    Prepare,
    Report,
    ResultReady,
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
from pipelines.turns.floor import Floor, FloorState, Line
from pipelines.turns.judge import Judge
from pipelines.turns.results import WaitingResults
from pipelines.turns.segment import Fate, Over, Segment
from pipelines.turns.settings import TurnSettings
from pipelines.turns.turn import Turn
from pipelines.turns.words import words
from pipelines.vad.detector import SpeechEnded, SpeechMisfired, SpeechProgressed, SpeechStarted

__all__ = ["TurnMachine"]

CUT_GAP_S = 0.1
"""Seconds: a sound that begins so soon after one that was cut is the same one going on."""


class TurnMachine:
    """Takes turns between a caller and an agent.

    Args:
        settings: times and rules.
        expects: what the caller was asked before; ``None``: nothing.
    """

    def __init__(self, settings: TurnSettings | None = None, *, expects: Expectation | None = None) -> None:
        self.settings = settings or TurnSettings()
        self.floor = Floor()
        self.asked = expects is not None
        """Whether a question is open: its sentence was heard, and no turn has answered it."""
        self.expectation: Expectation = expects or OPEN_QUESTION
        """What the agent's latest question wants."""
        self.segment = 0
        """The number of the sound in progress, or of the latest one."""
        self.blocked = False
        """Whether a display slot waits for an answer: speech does not cancel then."""
        self._judge = Judge(self.settings)
        self._pace = Pace()
        self._sounding: Segment | None = None
        """The sound the caller makes just now; ``None``: they are silent."""
        self._awaited: dict[int, Segment] = {}
        """Segments that ended and have no final text yet."""
        self._turn = Turn()
        self._host_commits = 0
        """The latest segment that is to be committed without waiting for more."""
        self._sound_ended_at: float | None = None
        self._held_at = 0.0
        self._cut: Segment | None = None
        """The latest sound that was made to end."""
        self._apologised_at: float | None = None
        self._results = WaitingResults(self.settings)
        self._utterances = 0
        self._turns = 0
        self._actions: list[TurnAction] = []

    # ------------------------------------------------------------------------------------------------ what is fed

    def feed(self, event: TurnEvent, now: float) -> list[TurnAction]:
        """Take an event; return what to do, in order."""
        match event:
            case SpeechStarted():
                self._speech_started(event, now)
            case SpeechProgressed():
                self._speech_progressed(event)
            case SpeechMisfired():
                self._speech_misfired(event)
            case SpeechEnded():
                self._speech_ended(event)
            case TalkBegan():
                self._talk_began(event)
            case TalkEnded():
                self._talk_ended(event)
            case WordsHeard():
                self._words_heard(event, now)
            case HearingFailed():
                self._hearing_failed(event.segment, now)
            case EngineFailed():
                self._apologise_for_engine(now)
            case DisplayBlocked():
                self.blocked = event.blocked
                if event.blocked:
                    self._reconsider(self.floor.line, Over.PROTECTED)
            case ResultReady():
                self._results.add()
            case UtteranceGrew() | UtteranceWritten() | UtteranceBegan() | UtteranceAdvanced() | UtteranceOver():
                self._agent_progressed(event)
            case _:
                assert_never(event)
        return self.tick(now)

    def say(self, kind: UtteranceKind, text: str, now: float) -> list[TurnAction]:
        """Speak a text without asking the model, after what is being said."""
        self._speak(kind, text)
        return self.tick(now)

    def interrupt(self, now: float) -> list[TurnAction]:
        """Cut whatever the agent says, a narration too: somebody outside asks for it."""
        while (line := self.floor.line) is not None:
            self._cancel(line, Cause.HOST)
        return self.tick(now)

    def commit_turn(self, now: float) -> list[TurnAction]:
        """Commit what was said, as soon as its text is there, without waiting for more."""
        self._host_commits = self.segment
        if not (self._turn or self._awaited or self._sounding):
            self._actions.append(Note(kind=NoteKind.NOTHING_SAID))
        self._schedule()
        return self.tick(now)

    def type_in(self, text: str, now: float) -> list[TurnAction]:
        """Take words that were typed: with what was said before they are a turn at once, and the agent falls silent.

        Not before what is heard to its end is over; and words that were spoken are waited for until their text is
        there, but for a sound that goes on, which is a turn of its own.
        """
        self._give_floor(Cause.TYPED)
        self._turn.type_in(text, now)
        self._schedule()
        return self.tick(now)

    def tick(self, now: float) -> list[TurnAction]:
        """Do what is due."""
        for segment in [s for s in self._awaited.values() if now >= s.last_at + self.settings.final_limit_s]:
            self._actions.append(Drop(segment=segment.number))
            self._hearing_failed(segment.number, now)
        self._update_hold(now)
        self._cut_endless(now)
        if (due_at := self._due_at()) is not None and now >= due_at:
            self._commit()
        self._watch_silence(now)
        taken, self._actions = self._actions, []
        return taken

    @property
    def busy(self) -> bool:
        """Whether a turn is in progress, or the agent has something to say."""
        return bool(self._turn or self._awaited or self._sounding or self.floor.line)

    @property
    def patience_s(self) -> float:
        """Seconds of silence over which the caller's sound is still one; 0 leaves it to the detector.

        Only while the agent has nothing to say: over an agent, a sound's end is what lets it go on.
        """
        if self._sounding is None or self._sounding.over is not Over.SILENCE or self.floor.line is not None:
            return 0.0
        return self.settings.endpointing.patience_s(self.expectation)

    @property
    def deadline(self) -> float | None:
        """When to call ``tick`` next, in seconds of the call's clock; ``None``: not before something is fed."""
        times = [segment.last_at + self.settings.final_limit_s for segment in self._awaited.values()]
        if (due_at := self._due_at()) is not None:
            times.append(due_at)
        if self.floor.held:
            times.append(self._resume_at())
        if self._sounding is not None and self._sounding is not self._cut:
            times.append(self._stale_at(self._sounding))
        if (report_at := self._results.due_at(asked=self.asked)) is not None:
            times.append(report_at)
        return min((at for at in times if at < math.inf), default=None)

    # --------------------------------------------------------------------------------------------------- the caller

    def _speech_started(self, event: SpeechStarted, now: float) -> None:
        self.segment += 1
        line = self.floor.line
        over = Over.SILENCE
        if line is not None:
            over = Over.SPEECH if line.interruptible and not self.blocked else Over.PROTECTED
        goes_on = self._cut is not None and event.at - self._cut.last_at < CUT_GAP_S
        worded_at = self._cut.worded_at if self._cut is not None and goes_on else event.at
        self._sounding = Segment(number=self.segment, over=over, line=line, started_at=event.at, worded_at=worded_at)
        if self._turn:
            self._pace.observe(event.at - self._turn.ended_at)
        if over is Over.SPEECH:
            self._hold(now)

    def _speech_progressed(self, event: SpeechProgressed) -> None:
        if (segment := self._sounding) is None:
            return
        segment.voiced_s, segment.level, segment.sureness = event.voiced_s, event.level, event.sureness
        if segment.over is Over.SPEECH:
            self._weigh(segment)

    def _speech_misfired(self, event: SpeechMisfired) -> None:
        if (segment := self._sounding) is None:
            return
        self._sounding = None
        self._sound_ended_at = event.ended_at
        segment.voiced_s = event.voiced_s
        if segment.over is Over.SPEECH:
            self._note(NoteKind.NOISE, segment)

    def _speech_ended(self, event: SpeechEnded) -> None:
        if (segment := self._sounding) is None:
            return
        self._sounding = None
        self._sound_ended_at = segment.ended_at = event.ended_at
        segment.voiced_s, segment.level, segment.sureness = event.voiced_s, event.level, event.sureness
        self._awaited[segment.number] = segment

    def _talk_began(self, event: TalkBegan) -> None:
        """Give the floor to a caller who presses for it, unless the agent says what is heard to its end."""
        self.segment += 1
        self._give_floor(Cause.PRESSED)
        line = self.floor.line
        self._sounding = Segment(
            number=self.segment,
            over=Over.SILENCE if line is None else Over.PROTECTED,
            line=line,
            started_at=event.at,
            worded_at=event.at,
            pressed=True,
            fate=Fate.TURN,
        )

    def _talk_ended(self, event: TalkEnded) -> None:
        if (segment := self._sounding) is None:
            return
        self._sounding = None
        self._sound_ended_at = segment.ended_at = event.at
        segment.voiced_s, segment.level, segment.sureness = event.at - segment.started_at, event.level, event.sureness
        self._awaited[segment.number] = segment
        self._host_commits = segment.number

    def _words_heard(self, event: WordsHeard, now: float) -> None:
        segment = self._awaited.get(event.segment)
        if segment is None and self._sounding is not None and self._sounding.number == event.segment:
            segment = self._sounding
        if segment is None:
            return  # stale: the segment was dropped or is over
        if words(event.text) != words(segment.text):
            segment.worded_at = now
        segment.text = event.text
        if segment.over is Over.SPEECH:
            self._weigh(segment)
        if event.final and self._awaited.pop(segment.number, None) is not None:
            self._take(segment, now)

    def _stale_at(self, segment: Segment) -> float:
        """From when on a sound that goes on without new words keeps nobody waiting: a television, a hum.

        Never, when somebody holds a button for it.
        """
        return math.inf if segment.pressed else segment.worded_at + self.settings.stale_s

    def _cut_endless(self, now: float) -> None:
        """Let words be answered although the sound they came in does not end."""
        sound = self._sounding
        if sound is None or sound is self._cut or now < self._stale_at(sound):
            return
        self._cut = sound
        if words(sound.text):
            self._actions.append(CutSound())

    def _hearing_failed(self, number: int, now: float) -> None:
        """Make do with the last partial text of a segment; without any, own up."""
        if (segment := self._awaited.pop(number, None)) is None:
            return
        if words(segment.text):
            self._take(segment, now)
            return
        self._note(NoteKind.UNHEARD, segment)
        self._apologise_for_engine(now)
        self._schedule()

    def _weigh(self, segment: Segment) -> None:
        """Ask whether a sound over the agent is evidence yet; cancel if it is."""
        if segment.fate is not Fate.UNDECIDED or segment.line is None:
            return
        if self._judge.sounds_far(segment):
            segment.fate = Fate.FAR
        elif (cause := self._judge.cause(segment, asked=self.asked)) is not None:
            segment.fate = Fate.TURN
            for line in self.floor.interruptible():
                self._cancel(line, cause)

    def _take(self, segment: Segment, now: float) -> None:
        """Decide what a segment's final text is: part of the turn, or an event."""
        if (kind := self._judge.no_turn(segment, now)) is None:
            self._judge.accept(segment, now)
            self._turn.add(segment, now)
        else:
            self._note(kind, segment)
            if kind is NoteKind.UNRECOGNISED and not self._turn and self.floor.state is FloorState.FREE:
                self._speak("apology", self.settings.not_understood)
        self._schedule()

    # ---------------------------------------------------------------------------------------------------- the agent

    def _agent_progressed(
        self, event: UtteranceGrew | UtteranceWritten | UtteranceBegan | UtteranceAdvanced | UtteranceOver
    ) -> None:
        if (line := self.floor.find(event.utterance)) is None:
            return
        match event:
            case UtteranceGrew():
                line.text = event.text
            case UtteranceWritten():
                line.question_end = event.question_end
                self.expectation = event.expectation
                self._open_question(line)
            case UtteranceBegan():
                self.floor.begin(line)
            case UtteranceAdvanced():
                line.heard_end = event.heard_end
                self._open_question(line)
            case UtteranceOver():
                self.floor.remove(line.utterance)
            case _:
                assert_never(event)

    def _open_question(self, line: Line) -> None:
        if line.question_end is not None and line.heard_end >= line.question_end:
            self.asked = True

    def _speak(self, kind: UtteranceKind, text: str) -> None:
        self._utterances += 1
        self.floor.add(Line(utterance=self._utterances, kind=kind, text=text))
        self._actions.append(Speak(utterance=self._utterances, kind=kind, text=text))

    def _apologise_for_engine(self, now: float) -> None:
        if self._apologised_at is None or now - self._apologised_at >= self.settings.apology_every_s:
            self._apologised_at = now
            self._speak("apology", self.settings.engine_failed)

    def _give_floor(self, cause: Cause) -> None:
        """Cancel what may be interrupted, unless the agent waits for an answer on the screen."""
        for line in () if self.blocked else self.floor.interruptible():
            self._cancel(line, cause)

    def _cancel(self, line: Line, cause: Cause) -> None:
        self.floor.remove(line.utterance)
        self._actions.append(Cancel(utterance=line.utterance, cause=cause))
        self._reconsider(line, Over.SILENCE)

    def _reconsider(self, line: Line | None, over: Over) -> None:
        """Let sounds over a line that may not or need not stop it any more be judged by what the agent does now."""
        sounds = self._awaited.values() if self._sounding is None else (self._sounding, *self._awaited.values())
        for segment in sounds:
            if segment.line is line and segment.over is Over.SPEECH and segment.fate is Fate.UNDECIDED:
                segment.over = over

    def _watch_silence(self, now: float) -> None:
        """Tell results that wait, when the floor has been free long enough."""
        self._results.watch(now, busy=self.busy)
        if (report_at := self._results.due_at(asked=self.asked)) is not None and now >= report_at:
            self._results.take()
            self._utterances += 1
            self.floor.add(Line(utterance=self._utterances, kind="tool_result"))
            self._actions.append(Report(utterance=self._utterances))

    # ----------------------------------------------------------------------------------------------------- the hold

    def _hold(self, now: float) -> None:
        if not self.floor.held:
            self.floor.held = True
            self._held_at = now
            self._actions.append(Hold())

    def _resume_at(self) -> float:
        """When a held output resumes if nothing more happens."""
        latest = self._held_at + self.settings.hold_limit_s
        if self._sounding is not None or self._sound_ended_at is None:
            return latest
        return min(latest, self._sound_ended_at + self.settings.interruption.resume_s)

    def _update_hold(self, now: float) -> None:
        """Hold what would begin to sound into the caller's words; resume when nothing speaks for a hold any more."""
        sounding = self._sounding
        may_hold = sounding is not None and sounding.fate is not Fate.FAR and sounding.over is not Over.PROTECTED
        may_hold = may_hold and sounding is not self._cut
        if may_hold and self.floor.state is FloorState.PREPARING:
            self._hold(now)
        if not self.floor.held:
            return
        if self.floor.state is FloorState.FREE:
            wanted = sounding is not None and sounding is not self._cut
        elif sounding is not None:
            wanted = may_hold and now < self._held_at + self.settings.hold_limit_s
        else:
            undecided = any(s.over is Over.SPEECH and s.fate is Fate.UNDECIDED for s in self._awaited.values())
            wanted = undecided and now < self._resume_at()
        if not wanted:
            self.floor.held = False
            self._actions.append(Resume())

    # --------------------------------------------------------------------------------------------------- the commit

    def _schedule(self) -> None:
        """Say when the turn is to be committed, if it may be."""
        turn = self._turn
        if not turn or self._awaited:
            turn.due_at = None
        elif turn.typed:
            turn.due_at, turn.reason = turn.ended_at, "typed"
        elif turn.segments[-1].number <= self._host_commits:
            turn.due_at, turn.reason = turn.ended_at, "host"
        else:
            hold = self.settings.endpointing.hold(turn.text, self.expectation, self._pace)
            turn.due_at, turn.reason = turn.ended_at + hold.seconds, hold.reason
            self._prepare(turn)

    def _prepare(self, turn: Turn) -> None:
        """Use the time that is waited for more words: have the answer prepared to those there are."""
        if turn.drafts < self.settings.drafts and self.floor.state is FloorState.FREE and self._sounding is None:
            turn.drafts += 1
            self._actions.append(Prepare(text=turn.text))

    def _due_at(self) -> float | None:
        """When the turn is to be committed; ``None`` while something but time stands in its way."""
        line = self.floor.line
        if self._turn.due_at is None or self._awaited:
            return None
        if line is not None and (self.blocked or not line.interruptible):
            return None
        if self._turn.typed or self._sounding is None or self._judge.sounds_far(self._sounding):
            return self._turn.due_at
        return max(self._turn.due_at, self._stale_at(self._sounding))

    def _commit(self) -> None:
        for line in self.floor.interruptible():
            self._cancel(line, Cause.SUPERSEDED)
        self._utterances += 1
        self.floor.add(Line(utterance=self._utterances, kind="reply"))
        self._actions.append(
            Commit(
                turn=self._turns,
                utterance=self._utterances,
                text=self._turn.text,
                ended_at=self._turn.ended_at,
                heard_at=self._turn.heard_at,
                reason=self._turn.reason,
            )
        )
        self._turns += 1
        self._turn = Turn()
        self.asked = False
        self.expectation = OPEN_QUESTION

    def _note(self, kind: NoteKind, segment: Segment) -> None:
        self._actions.append(Note(kind=kind, text=segment.text.strip(), data=segment.measures))
