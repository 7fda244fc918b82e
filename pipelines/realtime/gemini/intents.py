"""What we want of a session, as messages to Gemini: those that would cut an answer off wait until it is quiet.

Above: ``protocol``. Below: ``floor`` says whose turn it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import Enum, auto
from typing import Literal

from pipelines.audio.frame import Samples
from pipelines.realtime.base import SessionSetup, Snapshot, ToolAnswer
from pipelines.realtime.gemini.families import Family
from pipelines.realtime.gemini.floor import Floor, Turn
from pipelines.realtime.gemini.wire import HEARS, Activity, Outgoing, Results, Text, Turns, Voice, result
from pipelines.realtime.wording import snapshot_text, system_text

__all__ = ["Intents"]

KEPT_BACK_S = 3.0
"""How much of the caller's voice is kept back before it is a turn for sure, in seconds: what was no turn was not heard
then. After as much voice an answer is interrupted anyway."""

WAITING_LIMIT = 256
"""How many words may wait to be put in; of more, the oldest that ask for no answer are dropped."""

REMIND_S = 1.5
"""How long an answer may take to begin before the model is reminded that it is its turn, in seconds: twice what a good
one takes. Content without an end made some models wait for more, whatever the caller said then."""


class _Speech(Enum):
    """How far the caller's speech is, where turns are ours."""

    NONE = auto()
    KEPT = auto()
    """It is kept back."""
    SENT = auto()
    """The provider hears it."""


class Intents:
    """Writes what is wanted as messages, in order, and keeps what has to wait.

    Args:
        setup: what the session begins with.
        family: what its model takes.
        floor: whose turn it is.
        ours: whether turns are ours to say, and not the provider's.
        resumed: whether the provider knows the conversation.
    """

    def __init__(self, setup: SessionSetup, family: Family, floor: Floor, *, ours: bool, resumed: bool) -> None:
        self._family = family
        self._floor = floor
        self._ours = ours
        self._out: deque[Outgoing] = deque()
        self._waiting: deque[tuple[str, bool]] = deque()
        self._sent = setup.snapshot
        self._next: Snapshot | None = None
        self._carrier: str | None = None
        """The call in whose result the context travelled last."""
        self._speech = _Speech.NONE
        self._kept: list[Samples] = []
        self._streaming = False
        """Whether the provider may be waiting for more of the caller's voice."""
        self._names: dict[str, str] = {}
        self._unended = False
        """Whether something was put in after which some models wait for more, and no answer has begun since."""
        if setup.past and not resumed:
            past = tuple((_ROLES[turn.role], turn.text) for turn in setup.past)
            # Where content is history only, its end has to be said; it is not answered.
            self._put(Turns(turns=past, complete=not family.takes_content))

    def take(self) -> Outgoing | None:
        """Take the next message."""
        return self._out.popleft() if self._out else None

    def hear(self, samples: Samples) -> None:
        """Pass the caller's voice on, or keep it back."""
        if not self._ours or self._speech is _Speech.SENT:
            self._streaming = True
            self._out.append(Voice(samples=samples))
        elif self._speech is _Speech.KEPT:
            self._kept.append(samples)
            if sum(map(len, self._kept)) > KEPT_BACK_S * HEARS:
                self._send_speech()

    def begin_speech(self) -> None:
        """Begin a turn of the caller's, where turns are ours."""
        if self._ours and self._speech is _Speech.NONE:
            self._speech = _Speech.KEPT

    def end_speech(self, now: float, *, respond: bool) -> bool:
        """End a turn of the caller's; where turns are not ours, the one that the provider may be hearing.

        Returns:
            Whether the provider heard one of ours.
        """
        if not self._ours and respond and self._streaming:
            self._streaming = False
            self._out.append(Activity.PAUSES)
        if self._speech is _Speech.KEPT and (not respond or not self._kept):
            self._speech, self._kept = _Speech.NONE, []
        if self._speech is _Speech.NONE:
            return False
        self._send_speech()
        self._out.append(Activity.ENDS)
        self._speech = _Speech.NONE
        self._floor.ask(now)
        if not respond:
            self.cut(now)
        return True

    def cut(self, now: float) -> None:
        """Interrupt what is being answered, if there is something."""
        if not self._floor.cut(now):
            return
        if self._speech is not _Speech.NONE:
            self._send_speech()
        elif self._family.takes_content:
            self._put(Turns())

    def called(self, call_id: str, name: str) -> None:
        """Note that a result is wanted."""
        self._names[call_id] = name

    def withdrawn(self, call_ids: Sequence[str]) -> tuple[str, ...]:
        """Note that no results are wanted of some calls, and give those of which they were.

        A result that crosses its withdrawal is passed over, and so is the context inside: it is told again.
        """
        if self._carrier in call_ids:
            self._sent, self._next = None, self._next or self._sent
        return tuple(call_id for call_id in call_ids if self._names.pop(call_id, None) is not None)

    @property
    def calls_open(self) -> bool:
        """Whether results are wanted."""
        return bool(self._names)

    def answer(self, results: Sequence[ToolAnswer], snapshot: Snapshot, now: float) -> None:
        """Give results, with the context inside the last one: the model goes on at once when it has them."""
        self._note(snapshot)
        wanted = [each for each in results if each.call_id in self._names]
        if not wanted:
            return
        # Also where it says the same as before: what stands behind the calls counts.
        context = self._next or self._sent or snapshot
        written = [
            result(each, self._names.pop(each.call_id), snapshot_text(context) if each is wanted[-1] else None)
            for each in wanted
        ]
        self._sent, self._next, self._carrier = context, None, wanted[-1].call_id
        self._out.append(Results(results=tuple(written)))
        if not self._names:
            self._unended = self._unended or not self._family.takes_content
            self._floor.give_results(now)

    def inject(self, text: str, role: Literal["caller", "system"], *, respond: bool) -> None:
        """Put words in, as soon as it is quiet."""
        if len(self._waiting) >= WAITING_LIMIT:
            self._waiting.remove(next((each for each in self._waiting if not each[1]), self._waiting[0]))
        self._waiting.append((text if role == "caller" else system_text(text), respond))

    def refresh(self, snapshot: Snapshot) -> None:
        """Replace the context, as soon as it is quiet, when it is newer and says something else."""
        self._note(snapshot)
        if self._next is not None and self._sent is not None and self._next.text == self._sent.text:
            self._sent, self._next = self._next, None

    def put_in(self, now: float) -> None:
        """Put in what waits, if it is quiet: all at once, and answered once."""
        if self._floor.turn is not Turn.NOBODY or self._speech is not _Speech.NONE:
            return
        asks = any(respond for _, respond in self._waiting)
        if not asks and not (self._family.takes_content and (self._waiting or self._next)):
            return
        texts = [] if self._next is None else [snapshot_text(self._next)]
        texts += [text for text, _ in self._waiting]
        self._waiting.clear()
        self._sent, self._next = self._next or self._sent, None
        if self._family.takes_content:
            self._put(Turns(turns=tuple(("user", text) for text in texts), complete=asks))
        else:
            self._out.append(Text(text="\n\n".join(texts)))
        if asks:
            self._floor.ask(now)

    def remind(self, now: float) -> None:
        """Say that it is the model's turn, if it may wait for that and somebody waits for an answer."""
        since = self._floor.unanswered_since
        if self._unended and since is not None and now >= since + REMIND_S:
            self._unended = False
            self._out.append(Turns(complete=True) if self._family.takes_content else Text(text=" "))
            self._floor.ask(now)

    def replying(self) -> None:
        """Note that an answer has begun."""
        self._unended = False

    def _put(self, turns: Turns) -> None:
        self._unended = not turns.complete
        self._out.append(turns)

    def _send_speech(self) -> None:
        if self._speech is _Speech.KEPT:
            self._out.append(Activity.BEGINS)
            self._out.extend(Voice(samples=samples) for samples in self._kept)
            self._speech, self._kept = _Speech.SENT, []

    def _note(self, snapshot: Snapshot) -> None:
        """Note a snapshot to be told, unless there is a later one."""
        known = max((each.version for each in (self._sent, self._next) if each is not None), default=0)
        if snapshot.version > known:
            self._next = snapshot


_ROLES: dict[str, Literal["user", "model"]] = {"caller": "user", "agent": "model"}
