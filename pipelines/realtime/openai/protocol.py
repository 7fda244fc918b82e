"""OpenAI's Realtime API without a socket: what it says becomes events, what we want becomes messages to it.

Above: ``adapter`` carries both over a connection. Below: ``intents`` writes messages, ``sequencer`` puts answers in a
row, ``ledger`` keeps account of items.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pipelines.realtime.base import SessionSetup
from pipelines.realtime.events import (
    CallerBegan,
    CallerStopped,
    Interrupted,
    ProviderEvent,
    ProviderTrouble,
    ReplyAudio,
    ReplyBegan,
    ReplyEnded,
    ReplyOutcome,
    ReplyWords,
    SessionEnded,
    SessionOpened,
    TokensUsed,
)
from pipelines.realtime.openai import wire
from pipelines.realtime.openai.calls import Calls
from pipelines.realtime.openai.intents import Intents
from pipelines.realtime.openai.ledger import ItemLedger
from pipelines.realtime.openai.options import OpenAIOptions, Transcription
from pipelines.realtime.openai.outbox import Outbox, intent_of
from pipelines.realtime.openai.refusal import Refusal, closed, hopeless
from pipelines.realtime.openai.sequencer import Answer, Sequencer
from pipelines.realtime.openai.transcripts import Transcripts

__all__ = ["OpenAIProtocol"]

SETUP_S = 10.0
"""How long the provider may take to accept a session, in seconds; it takes a fraction of one."""

_HARMLESS = frozenset({"cancel", "delete", "truncate"})
"""What fails only when there is nothing left to do: the answer ended, the item is gone, all of it was heard."""

_ACTIVE = "conversation_already_has_active_response"
_OUTCOMES = {
    "completed": ReplyOutcome.COMPLETED,
    "cancelled": ReplyOutcome.CANCELLED,
    "incomplete": ReplyOutcome.INCOMPLETE,
}


class OpenAIProtocol:
    """One session.

    Args:
        setup: what it begins with.
        options: how it is set up.
        now: seconds, as everywhere here.

    Attributes:
        intents: what is wanted of it.
        refusal: why it is no use to go on; whoever has the connection closes it then.
        over: whether its end was told.
    """

    def __init__(self, setup: SessionSetup, options: OpenAIOptions, now: float) -> None:
        self._outbox = Outbox()
        self._ledger = ItemLedger()
        self._sequencer = Sequencer()
        self._calls = Calls()
        self._transcripts = Transcripts()
        self._told: deque[ProviderEvent] = deque()
        self._accepted_by: float | None = now + SETUP_S
        self._last_words = ""
        self._writes = isinstance(options.transcription, Transcription)
        detection = wire.turn_detection(setup, options)
        self._answers = getattr(detection, "create_response", None) is not False and detection is not None
        self._interrupts = getattr(detection, "interrupt_response", None) is not False
        self.intents = Intents(setup, options, self._outbox, self._ledger, self._sequencer)
        self.refusal: Refusal | None = None
        self.over = False
        self._readers: dict[str, Callable[[wire.Message, float], None]] = {
            "session.updated": self._read_updated,
            "error": self._read_error,
            "conversation.item.added": self._read_added,
            "conversation.item.input_audio_transcription.delta": self._read_fragment,
            "conversation.item.input_audio_transcription.completed": self._read_transcript,
            "conversation.item.input_audio_transcription.failed": self._read_no_transcript,
            "input_audio_buffer.speech_started": self._read_speech_started,
            "input_audio_buffer.speech_stopped": self._read_speech_stopped,
            "input_audio_buffer.committed": self._read_committed,
            "response.created": self._read_created,
            "response.output_item.added": self._read_item,
            "response.output_item.done": self._read_item,
            "response.output_audio.delta": self._read_audio,
            "response.output_audio.done": self._read_audio_done,
            "response.output_audio_transcript.delta": self._read_words,
            "response.done": self._read_done,
        }

    def receive(self, data: bytes | str, now: float) -> None:
        """Take a message of the provider's; what is none, or is unknown, is passed over."""
        message = wire.read(data)
        if message is None or self.over:
            return
        if (reader := self._readers.get(wire.text(message, "type"))) is not None:
            reader(message, now)
        self.intents.ask_if_due(now)

    def tick(self, now: float) -> None:
        """Give up what did not come in time; to be called about once a second."""
        if self._accepted_by is not None and now >= self._accepted_by:
            self._accepted_by = None
            self.refusal = Refusal(reason=f"it did not accept the session within {SETUP_S:.0f} s", retry=True)
        if (answer := self._sequencer.tick(now)) is not None:
            self._end(answer, ReplyOutcome.CANCELLED, "the provider never said that it ended", None)
        self.intents.ask_if_due(now)

    def interrupt(self, now: float) -> None:
        """Void the answer being made, or the one that was asked for."""
        answer = self._sequencer.void(now)
        if answer is not None:
            self.intents.cancel(answer.id)
        else:
            self._sequencer.void_asked()
        self._told.append(Interrupted(reply=None if answer is None else answer.id))

    def close(self, code: int | None, reason: str, *, expected: bool) -> None:
        """Note that the connection is over. Idempotent.

        Args:
            code: the close code; ``None`` when there was none.
            reason: the provider's.
            expected: whether we closed it.
        """
        if self.over:
            return
        self.over = True
        self._outbox.close()
        why = self.refusal or closed(code, reason, self._last_words)
        if (answer := self._sequencer.answer) is not None:
            self._sequencer.end(answer.id)
            outcome = ReplyOutcome.CANCELLED if answer.void else ReplyOutcome.FAILED
            self._end(answer, outcome, "" if expected else why.reason, None)
        retry = why.retry or expected
        reason = "" if expected else why.reason
        self._told.append(SessionEnded(expected=expected, code=code, reason=reason, retry=retry))

    @property
    def telling(self) -> bool:
        """Whether there is an event to take."""
        return bool(self._told)

    def take_event(self) -> ProviderEvent | None:
        """Take the next event."""
        return self._told.popleft() if self._told else None

    def take_frame(self) -> str | None:
        """Take the next message to the provider."""
        return self._outbox.take()

    def _read_updated(self, message: wire.Message, now: float) -> None:
        if self._accepted_by is not None:
            self._accepted_by = None
            self._told.append(SessionOpened())

    def _read_error(self, message: wire.Message, now: float) -> None:
        code, event_id = wire.text(message, "error", "code"), wire.text(message, "error", "event_id")
        words = wire.in_words(wire.text(message, "error", "message")) or code or "no reason given"
        intent = intent_of(event_id)
        if code == "response_cancel_not_active" or intent in _HARMLESS:
            return
        if intent == "answer" or code == _ACTIVE:
            # Some errors name no message: then it was the only answer that we have asked for.
            refused = event_id or self._sequencer.asked or ""
            self._sequencer.refuse(refused, again=code == _ACTIVE, now=now)
            if code == _ACTIVE:
                return
        self._last_words = words
        if code == "session_expired":
            return  # The close that follows tells it.
        if intent == "setup":
            retry = wire.text(message, "error", "type") == "server_error"
            self.refusal = hopeless(code, words) or Refusal(reason=words, retry=retry)
        elif (refusal := hopeless(code, words)) is not None:
            self.refusal = refusal
        else:
            self._told.append(ProviderTrouble(code=code or "error", message=words))

    def _read_added(self, message: wire.Message, now: float) -> None:
        self._sequencer.see(wire.text(message, "item", "id"))

    def _read_fragment(self, message: wire.Message, now: float) -> None:
        self._tell(self._transcripts.add(wire.text(message, "item_id"), wire.text(message, "delta")))

    def _read_transcript(self, message: wire.Message, now: float) -> None:
        self._tell(self._transcripts.end(wire.text(message, "item_id"), wire.text(message, "transcript")))

    def _read_no_transcript(self, message: wire.Message, now: float) -> None:
        self._tell(self._transcripts.end(wire.text(message, "item_id"), None))
        words = wire.in_words(wire.text(message, "error", "message")) or "the caller was not written down"
        self._told.append(ProviderTrouble(code=wire.text(message, "error", "code") or "transcription", message=words))

    def _read_speech_started(self, message: wire.Message, now: float) -> None:
        self._sequencer.caller_begins()
        self._told.append(CallerBegan())
        if self._interrupts:
            # The provider cancels what it makes. What is being played may be an answer made long ago: void as well.
            answer = self._sequencer.void(now)
            self._told.append(Interrupted(reply=None if answer is None else answer.id))

    def _read_speech_stopped(self, message: wire.Message, now: float) -> None:
        self._sequencer.caller_ends(now, answered=self._answers)
        self._told.append(CallerStopped())

    def _read_committed(self, message: wire.Message, now: float) -> None:
        item = wire.text(message, "item_id")
        self._tell(self._transcripts.begin(item))
        if not self._writes:
            self._tell(self._transcripts.end(item, ""))
        if item and self._answers and self._sequencer.talking:
            self._sequencer.want(item)  # It begins no answer while it makes one that the caller did not interrupt.

    def _read_created(self, message: wire.Message, now: float) -> None:
        if not (answer_id := wire.text(message, "response", "id")):
            return
        if (earlier := self._sequencer.answer) is not None:
            self._sequencer.end(earlier.id)
            self._end(earlier, ReplyOutcome.FAILED, "the provider began another answer", None)
        trigger = wire.text(message, "response", "metadata", "trigger")
        answer = self._sequencer.begin(answer_id, trigger or None, now)
        if answer.void:
            self.intents.cancel(answer.id)
        else:
            self._told.append(ReplyBegan(reply=answer.id))

    def _read_item(self, message: wire.Message, now: float) -> None:
        answer = self._sequencer.answer
        if answer is not None and answer.id == wire.text(message, "response_id"):
            self._calls.note(answer.id, wire.mapping(message, "item"))

    def _read_audio(self, message: wire.Message, now: float) -> None:
        item, samples = wire.text(message, "item_id"), wire.decode_audio(wire.text(message, "delta"))
        if not item or samples is None or not len(samples):
            return
        self._ledger.speak(item, len(samples))
        if (reply := self._heard(message)) is not None:
            self._told.append(ReplyAudio(reply=reply, item=item, samples=samples))

    def _read_audio_done(self, message: wire.Message, now: float) -> None:
        self._ledger.finish(wire.text(message, "item_id"))

    def _read_words(self, message: wire.Message, now: float) -> None:
        item, words = wire.text(message, "item_id"), wire.text(message, "delta")
        if item and words and (reply := self._heard(message)) is not None:
            self._told.append(ReplyWords(reply=reply, item=item, text=words))

    def _read_done(self, message: wire.Message, now: float) -> None:
        response = wire.mapping(message, "response")
        if (answer := self._sequencer.end(wire.text(response, "id"))) is None:
            return
        output = response.get("output")
        for item in output if isinstance(output, list) else ():
            self._calls.note(answer.id, item if isinstance(item, dict) else {})
        outcome = _OUTCOMES.get(wire.text(response, "status"), ReplyOutcome.FAILED)
        details = wire.mapping(response, "status_details")
        code, failure = wire.text(details, "error", "code"), wire.text(details, "error", "message")
        reason = wire.in_words(failure or code or wire.text(details, "reason"))
        if wire.text(details, "reason") == "turn_detected" and not answer.void:
            answer.void = True
            self._told.append(Interrupted(reply=answer.id))
        self._end(answer, outcome, reason, _used(wire.mapping(response, "usage")))
        if outcome is ReplyOutcome.FAILED and (refusal := hopeless(code, reason)) is not None:
            self.refusal = refusal

    def _end(self, answer: Answer, outcome: ReplyOutcome, reason: str, used: TokensUsed | None) -> None:
        if answer.void:
            outcome = ReplyOutcome.CANCELLED
        if outcome is ReplyOutcome.COMPLETED:
            self._told.extend(self._calls.complete())
            reason = ""
        else:
            for item in self._calls.abandon():
                self.intents.forget(item)
        if answer.told:
            self._told.append(ReplyEnded(reply=answer.id, outcome=outcome, reason=reason, used=used))

    def _heard(self, message: wire.Message) -> str | None:
        """Say of which answer more is to be heard; ``None``: of none, for it is void, or unknown."""
        answer = self._sequencer.answer
        if answer is None or answer.void or answer.id != wire.text(message, "response_id"):
            return None
        return answer.id

    def _tell(self, event: ProviderEvent | None) -> None:
        if event is not None:
            self._told.append(event)


def _used(usage: wire.Message) -> TokensUsed | None:
    if not usage:
        return None
    return TokensUsed(
        audio_in=wire.number(usage, "input_token_details", "audio_tokens"),
        audio_out=wire.number(usage, "output_token_details", "audio_tokens"),
        text_in=wire.number(usage, "input_token_details", "text_tokens"),
        text_out=wire.number(usage, "output_token_details", "text_tokens"),
        cached_in=wire.number(usage, "input_token_details", "cached_tokens"),
    )
