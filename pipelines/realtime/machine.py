"""The realtime machine: which reply answers which turn, what of it is played, and what is void.

Pure: it is fed what the provider says, what became of utterances, and the time, and returns what to do. A turn of the
caller's is answered by one utterance, however many replies and tool calls that takes. Above: ``agent`` drives it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto

from pipelines.events import (
    EngineTrouble,
    ReplyWorded,
    TranscriptHeard,
    TurnCommitted,
    TurnWorded,
    UtteranceCancelled,
    UtteranceEnded,
)
from pipelines.playout.utterance import UtteranceKind
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
    Tell,
    Unspoken,
    Withdraw,
    Write,
)
from pipelines.realtime.events import (
    CallerWords,
    CallsWithdrawn,
    Interrupted,
    ProviderEvent,
    ProviderTrouble,
    ReplyAudio,
    ReplyBegan,
    ReplyEnded,
    ReplyOutcome,
    ReplyWords,
    TokensTold,
    TokensUsed,
    ToolCalled,
)
from pipelines.turns.events import Cause

__all__ = ["RealtimeMachine"]

FAILURE_WAIT_S = 0.1
"""How long after an answer failed it is owned up to: when the connection broke, that is told in a moment."""

REPLIES_KEPT = 16
"""Replies of which it is remembered what turn they answered: what they cost is told before the next but one."""


class Phase(Enum):
    """How far an answer is."""

    AWAITED = auto()
    """The turn is committed; the model has not begun."""
    MAKING = auto()
    """A reply is being made."""
    WORKING = auto()
    """Its calls are run, and the model will go on."""
    MADE = auto()
    """All of it is made; it may be playing."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Answer:
    """What is said in one go."""

    utterance: int
    kind: UtteranceKind
    turn: int | None
    phase: Phase
    replies: list[str] = field(default_factory=list)
    worded: bool = False
    lent: bool = False
    """Whether the player has it."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Heard:
    """An utterance of the caller's."""

    segment: int
    turn: int | None = None
    """The turn it belongs to, once there is one."""
    text: str = ""
    final: bool = False
    heard_at: float = 0.0


class RealtimeMachine:
    """Takes the turns of one call.

    Args:
        answer_wait_s: how long a turn waits for its answer to begin before it counts as not answered.
    """

    def __init__(self, *, answer_wait_s: float) -> None:
        self._speech_ended_at: float | None = None
        self._answer_wait_s = answer_wait_s
        self._utterances = 0
        self._turns = 0
        self._segments = 0
        self._heard: dict[str, _Heard] = {}
        """What the caller said of which more is to come, by item."""
        self._turn: list[_Heard] = []
        """What the latest turn consists of."""
        self._awaiting: _Answer | None = None
        """The answer to the latest turn, while the model has not begun it."""
        self._awaiting_until = 0.0
        self._follows_until: float | None = None
        """Until when the model is believed to go on after its calls."""
        self._answer: _Answer | None = None
        """What is being made, or was made last and still plays."""
        self._playing: dict[int, _Answer] = {}
        """What the player has that may be interrupted."""
        self._live: str | None = None
        """The reply of which what comes is wanted."""
        self._turns_of: dict[str, int | None] = {}
        """The turns of the latest replies, for what they cost may be told later."""
        self._called: set[str] = set()
        """Replies being made that have made calls."""
        self._triggers: deque[tuple[UtteranceKind, float]] = deque()
        """What replies are that were asked for and answer no turn, and until when each is believed to come."""
        self._unconfirmed = False
        """Whether the provider was asked to void what it makes, and has not said so."""
        self._failed_at: float | None = None
        self._actions: list[MachineAction] = []

    # ------------------------------------------------------------------------------------------------------ what it is

    @property
    def busy(self) -> bool:
        """Whether the model has something to say or to do, or something waits to be answered or written down."""
        return self.owed or bool(self._heard or self._playing or self._triggers)

    @property
    def making(self) -> bool:
        """Whether a reply is being made, or its calls are run."""
        return self._answer is not None and self._answer.phase is not Phase.MADE

    @property
    def audible(self) -> bool:
        """Whether something is made or played that the caller may interrupt."""
        return self._live is not None or bool(self._playing)

    @property
    def owed(self) -> bool:
        """Whether the caller waits for a word of the model's: it has not begun, or is not done."""
        return self._awaiting is not None or self.making or self._failed_at is not None

    @property
    def turn(self) -> int | None:
        """The turn being answered."""
        return None if self._answer is None else self._answer.turn

    def replies_of(self, utterance: int) -> tuple[str, ...]:
        """The replies that an utterance consists of, while the player has it."""
        answer = self._playing.get(utterance)
        return () if answer is None else tuple(answer.replies)

    def number(self, kind: UtteranceKind) -> int:
        """Give the next utterance its number, for who says something without the model."""
        self._utterances += 1
        if kind == "greeting":  # Nothing else of these may be interrupted.
            self._playing[self._utterances] = _Answer(
                utterance=self._utterances, kind=kind, turn=None, phase=Phase.MADE, lent=True
            )
        return self._utterances

    # ------------------------------------------------------------------------------------------------ what it is told

    def feed(self, event: ProviderEvent, now: float) -> list[MachineAction]:
        """Take what the provider says."""
        match event:
            case ReplyAudio() if event.reply == self._live:
                self._sound(event)
            case ReplyWords() if event.reply == self._live:
                self._words(event)
            case ToolCalled() if event.reply == self._live:
                self._called.add(event.reply)
            case CallerWords():
                self._caller_said(event, now)
            case ReplyBegan():
                self._reply_began(event, now)
            case ReplyEnded():
                self._reply_ended(event, now)
            case Interrupted():
                self._unconfirmed = False
                self._void(Cause.SPEECH)
            case CallsWithdrawn():
                self._actions.append(Withdraw(call_ids=event.call_ids))
            case TokensTold():
                self._spent(event.reply, event.used)
            case ProviderTrouble():
                self._complain(f"{event.code}: {event.message}")
            case _:
                pass
        return self._take()

    def spoke(self, ended_at: float) -> None:
        """The caller's speech ended, seconds of the call's clock."""
        self._speech_ended_at = ended_at

    def typed(self, text: str, now: float) -> list[MachineAction]:
        """The caller typed something, which is a turn at once."""
        self._segments += 1
        self._commit([_Heard(segment=self._segments, text=text, final=True, heard_at=now)], now, reason="typed")
        return self._take()

    def asked(self, kind: UtteranceKind, now: float) -> list[MachineAction]:
        """A reply was asked for that answers no turn; it may never come, for another may have said it all."""
        self._triggers.append((kind, now + self._answer_wait_s))
        return self._take()

    def void(self, cause: Cause, *, asked: bool) -> list[MachineAction]:
        """What is made and played is not wanted any more.

        Args:
            cause: why.
            asked: whether the provider is asked to void it too: what it begins until it says so is not wanted.
        """
        self._unconfirmed = asked
        self._void(cause)
        return self._take()

    def results_told(self, now: float, *, respond: bool) -> list[MachineAction]:
        """The results of the answer's calls were sent.

        Args:
            now: seconds.
            respond: whether the model goes on because of them.
        """
        if respond:
            self._follows_until = now + self._answer_wait_s
        elif self._answer is not None and self._answer.phase is Phase.WORKING:
            self._finish(self._answer, whole=True)
        return self._take()

    def over(self, utterance: int) -> list[MachineAction]:
        """An utterance is settled."""
        answer = self._playing.pop(utterance, None)
        if answer is not None and answer is self._answer:
            if answer.phase is Phase.MADE:
                self._answer = None
            else:
                self._renumber(answer)
        return self._take()

    def disconnected(self) -> list[MachineAction]:
        """The connection is over: nothing more comes of what was being made, and what was asked for is not known."""
        self._failed_at = None
        self._unconfirmed = False
        self._live = None
        self._called.clear()
        self._triggers.clear()
        self._heard.clear()  # Nobody will write it down any more.
        if self._answer is not None and self._answer.phase is Phase.MAKING:
            self._finish(self._answer, whole=False)
        return self._take()

    def closed(self) -> list[MachineAction]:
        """The call ends."""
        for answer in (self._awaiting, self._answer):
            if answer is not None and answer.phase is not Phase.MADE:
                self._finish(answer, whole=False)
        self._awaiting = None
        return self._take()

    def tick(self, now: float) -> list[MachineAction]:
        """Do what is due."""
        if self._failed_at is not None and now >= self._failed_at:
            self._failed_at = None
            self._actions.append(Apologise())
        if self._awaiting is not None and now >= self._awaiting_until:
            self._finish(self._awaiting, whole=False)
            self._awaiting = None
        while self._triggers and now >= self._triggers[0][1]:
            self._triggers.popleft()
        if self._follows_until is not None and now >= self._follows_until:
            self._follows_until = None
            if self._answer is not None and self._answer.phase is Phase.WORKING:
                self._finish(self._answer, whole=True)
        return self._take()

    @property
    def deadline(self) -> float | None:
        """When to call :meth:`tick`; ``None``: not before something is fed."""
        awaiting = None if self._awaiting is None else self._awaiting_until
        trigger = self._triggers[0][1] if self._triggers else None
        times = (self._failed_at, awaiting, self._follows_until, trigger)
        return min((at for at in times if at is not None), default=None)

    def _take(self) -> list[MachineAction]:
        taken, self._actions = self._actions, []
        return taken

    def _complain(self, reason: str) -> None:
        self._actions.append(Tell(event=EngineTrouble(engine="model", reason=reason)))

    # ------------------------------------------------------------------------------------------------------ the caller

    def _caller_said(self, event: CallerWords, now: float) -> None:
        if (heard := self._heard.get(event.item)) is None:
            self._segments += 1
            heard = self._heard[event.item] = _Heard(segment=self._segments)
        heard.text, heard.final, heard.heard_at = event.text.strip(), event.final, now
        if heard.text or event.final:
            words = TranscriptHeard(segment=heard.segment, text=heard.text, final=event.final)
            self._actions.append(Tell(event=words))
        if event.final:
            del self._heard[event.item]
            if heard.turn is not None:
                self._word(heard.turn, now)
            elif heard.text:
                self._commit([heard], now, reason="provider")
        elif not event.text and heard.turn is None:
            self._commit([heard], now, reason="provider")

    def _word(self, turn: int, now: float) -> None:
        """Tell the words of a turn that was committed before they were there."""
        if self._turn and self._turn[0].turn == turn and all(heard.final for heard in self._turn):
            text = " ".join(heard.text for heard in self._turn if heard.text)
            self._actions.append(Tell(event=TurnWorded(turn=turn, text=text, heard_at=now)))

    def _commit(self, heard: list[_Heard], now: float, *, reason: str) -> None:
        """Make a turn of what the caller said."""
        if self._answer is not None and self._answer.phase is Phase.WORKING:
            self._actions.append(GiveWay())
            self._finish(self._answer, whole=True)
        if self._awaiting is not None:
            self._finish(self._awaiting, whole=False)
        self._utterances += 1
        turn, self._turns = self._turns, self._turns + 1
        for each in heard:
            each.turn = turn
        self._turn = heard
        self._awaiting = _Answer(utterance=self._utterances, kind="reply", turn=turn, phase=Phase.AWAITED)
        self._awaiting_until = now + self._answer_wait_s
        ended_at = now if self._speech_ended_at is None or reason == "typed" else self._speech_ended_at
        whole = all(each.final for each in heard)
        self._actions.append(
            Tell(
                event=TurnCommitted(
                    turn=turn,
                    utterance=self._utterances,
                    text=" ".join(each.text for each in heard if each.text) if whole else "",
                    ended_at=min(ended_at, now),
                    heard_at=now,
                    reason=reason,
                )
            )
        )

    # -------------------------------------------------------------------------------------------------------- the model

    def _reply_began(self, event: ReplyBegan, now: float) -> None:
        if uncommitted := [heard for heard in self._heard.values() if heard.turn is None]:
            self._commit(uncommitted, now, reason="provider")
        self._live = event.reply
        self._follows_until = None
        if self._awaiting is not None:
            self._answer, self._awaiting = self._awaiting, None
        elif self._answer is None or self._answer.phase is not Phase.WORKING:
            kind: UtteranceKind = self._triggers.popleft()[0] if self._triggers else "reply"
            self._utterances += 1
            self._answer = _Answer(utterance=self._utterances, kind=kind, turn=None, phase=Phase.MAKING)
        self._answer.phase = Phase.MAKING
        self._answer.replies.append(event.reply)
        self._turns_of[event.reply] = self._answer.turn
        while len(self._turns_of) > REPLIES_KEPT:
            del self._turns_of[next(iter(self._turns_of))]
        if self._unconfirmed:
            self._void(Cause.SUPERSEDED)

    def _sound(self, event: ReplyAudio) -> None:
        if (answer := self._answer) is None:
            return
        self._worded(answer)
        if not answer.lent:
            answer.lent = True
            self._playing[answer.utterance] = answer
            self._actions.append(Begin(utterance=answer.utterance, kind=answer.kind, turn=answer.turn))
        self._actions.append(Sound(utterance=answer.utterance, item=event.item, samples=event.samples))

    def _words(self, event: ReplyWords) -> None:
        if (answer := self._answer) is not None:
            self._worded(answer)
            self._actions.append(Write(utterance=answer.utterance, item=event.item, text=event.text))

    def _worded(self, answer: _Answer) -> None:
        if not answer.worded:
            answer.worded = True
            if answer.turn is not None:
                self._actions.append(Tell(event=ReplyWorded(turn=answer.turn, utterance=answer.utterance)))

    def _reply_ended(self, event: ReplyEnded, now: float) -> None:
        if event.used is not None:
            self._spent(event.reply, event.used)
        called = event.reply in self._called
        self._called.discard(event.reply)
        if event.reply != self._live:
            return
        self._live = None
        if (answer := self._answer) is None:
            return
        if event.outcome is ReplyOutcome.COMPLETED and called:
            answer.phase = Phase.WORKING
            if answer.lent:
                self._actions.append(Rest(utterance=answer.utterance))
            return
        self._finish(answer, whole=event.outcome is ReplyOutcome.COMPLETED)
        if event.outcome in (ReplyOutcome.FAILED, ReplyOutcome.INCOMPLETE):
            self._complain(f"an answer is {event.outcome.name.lower()}: {event.reason or 'no reason was given'}")
        if event.outcome is ReplyOutcome.FAILED:
            self._failed_at = now + FAILURE_WAIT_S

    def _spent(self, reply: str, used: TokensUsed) -> None:
        self._actions.append(Spent(turn=self._turns_of.get(reply), used=used))

    def _void(self, cause: Cause) -> None:
        """Cut what may be interrupted; what tools do for an answer goes on."""
        self._live = None
        answer = self._answer
        for utterance in list(self._playing):
            self._actions.append(Cut(utterance=utterance, cause=cause))
        if answer is None:
            return
        if answer.phase is Phase.WORKING and answer.lent:
            self._renumber(answer)
        elif answer.phase is Phase.MAKING and answer.lent:
            answer.phase = Phase.MADE
        elif answer.phase is Phase.MAKING:
            self._actions.append(Tell(event=UtteranceCancelled(utterance=answer.utterance, cause=cause)))
            self._finish(answer, whole=False)

    def _renumber(self, answer: _Answer) -> None:
        """Let the rest of an answer be another utterance: what was said of it is over."""
        self._utterances += 1
        self._answer = _Answer(
            utterance=self._utterances, kind=answer.kind, turn=answer.turn, phase=answer.phase, worded=answer.worded
        )

    def _finish(self, answer: _Answer, *, whole: bool) -> None:
        """Nothing more of an answer comes; one that nobody heard a sound of is over."""
        answer.phase = Phase.MADE
        if answer.lent:
            self._actions.append(Finish(utterance=answer.utterance, whole=whole))
            return
        if answer is self._answer:
            self._answer = None
        if answer.replies:
            self._actions.append(Unspoken(utterance=answer.utterance, replies=tuple(answer.replies)))
        if answer.turn is not None:
            self._actions.append(
                Tell(
                    event=UtteranceEnded(
                        utterance=answer.utterance,
                        kind=answer.kind,
                        turn=answer.turn,
                        text="",
                        heard="",
                        interrupted=not whole,
                        estimated=False,
                    )
                )
            )
