"""Gemini Live without a socket: what it says becomes events, what we want becomes messages to it.

Above: ``adapter`` carries both over a connection. Below: ``intents`` writes messages, ``floor`` says whose turn it is,
``transcript`` puts the caller's words together.
"""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from pipelines.realtime.base import SessionSetup
from pipelines.realtime.events import (
    CallerBegan,
    CallerStopped,
    CallsWithdrawn,
    Interrupted,
    ProviderEvent,
    ProviderTrouble,
    ReplyAudio,
    ReplyBegan,
    ReplyEnded,
    ReplyOutcome,
    ReplyWords,
    SessionEnded,
    SessionExpiring,
    SessionOpened,
    TokensTold,
    TokensUsed,
    ToolCalled,
)
from pipelines.realtime.gemini.families import Family
from pipelines.realtime.gemini.floor import Floor, Turn
from pipelines.realtime.gemini.intents import Intents
from pipelines.realtime.gemini.options import GeminiOptions
from pipelines.realtime.gemini.refusal import closed
from pipelines.realtime.gemini.setup import turns_are_ours
from pipelines.realtime.gemini.transcript import CallerTranscript
from pipelines.realtime.gemini.wire import SPEAKS, in_words, seconds

if TYPE_CHECKING:
    from google.genai import types

__all__ = ["GeminiProtocol"]

CALLS_KEPT = 1_024
"""Call ids that are remembered, so that none is told twice."""

UPDATE_S = 600.0
"""Within how many seconds another connection is wanted when instructions or tools have changed, which they cannot in
one: when it is quiet, and not in the middle of something, for nothing happens when it is not opened."""


class GeminiProtocol:
    """One session, whose setup was accepted.

    Args:
        setup: what it begins with.
        options: how it is set up.
        family: what its model takes.
        resumed: whether the provider knows the conversation.

    Attributes:
        intents: what is wanted of it.
        handle: what another session is resumed with.
        over: whether its end was told.
    """

    def __init__(self, setup: SessionSetup, options: GeminiOptions, family: Family, *, resumed: bool) -> None:
        self._floor = Floor()
        self._caller = CallerTranscript()
        self._told: deque[ProviderEvent] = deque([SessionOpened(resumed=resumed)])
        self._replies = 0
        self._reply: str | None = None
        self._spoken = 0
        self._used = TokensUsed()
        self._calls: OrderedDict[str, None] = OrderedDict()
        self._setup = setup
        self.intents = Intents(setup, family, self._floor, ours=turns_are_ours(setup, options), resumed=resumed)
        self.handle: str | None = None
        self.over = False

    def receive(self, message: types.LiveServerMessage, now: float) -> None:
        """Take a message of the provider's.

        Args:
            message: as the SDK reads it.
            now: seconds, as everywhere here.
        """
        if self.over:
            return
        if (update := message.session_resumption_update) is not None:
            self.handle = update.new_handle or None if update.resumable else None
        if (going := message.go_away) is not None:
            self._told.append(SessionExpiring(in_s=seconds(going.time_left)))
        if (voice := message.voice_activity) is not None and voice.voice_activity_type is not None:
            self._read_voice(voice.voice_activity_type.value, now)
        if (usage := message.usage_metadata) is not None:
            self._read_usage(usage)
        if (content := message.server_content) is not None:
            self._read_content(content, now)
        if (called := message.tool_call) is not None:
            self._read_calls(called.function_calls or [])
        if (cancelled := message.tool_call_cancellation) is not None:
            self._read_withdrawal(cancelled.ids or [], now)
        self.intents.put_in(now)

    def tick(self, now: float) -> None:
        """Give up what did not come in time; to be called about twice a second."""
        if self._floor.tick(now) and self._reply is None:
            self._told.extend(self._caller.end())
        self.intents.remind(now)
        self.intents.put_in(now)

    def interrupt(self, now: float) -> None:
        """Void the answer being made, or the one that was asked for."""
        self.intents.cut(now)
        self._told.append(Interrupted(reply=self._reply))
        self._end(ReplyOutcome.CANCELLED, now)

    def end_speech(self, now: float, *, respond: bool) -> None:
        """End a turn of the caller's, where turns are ours."""
        if self.intents.end_speech(now, respond=respond):
            self._told.extend(self._caller.place())
        self.intents.put_in(now)

    def update(self, setup: SessionSetup) -> None:
        """Note other instructions and tools: they want another connection."""
        if (setup.instructions, setup.tools) != (self._setup.instructions, self._setup.tools):
            self._told.append(SessionExpiring(in_s=UPDATE_S))
        self._setup = setup

    def close(self, code: int | None, reason: object, *, expected: bool) -> None:
        """Note that the connection is over. Idempotent.

        Args:
            code: the close code; ``None`` when there was none.
            reason: the provider's.
            expected: whether we closed it.
        """
        if self.over:
            return
        self.over = True
        why = closed(code, reason, accepted=True)
        words = "" if expected else why.reason
        self._told.extend(self._caller.end())
        if self._reply is not None:
            self._told.append(self._ended(self._reply, ReplyOutcome.FAILED, words))
        self._told.append(SessionEnded(expected=expected, code=code, reason=words, retry=why.retry or expected))

    @property
    def has_event(self) -> bool:
        """Whether there is something to tell."""
        return bool(self._told)

    def take_event(self) -> ProviderEvent | None:
        """Take the next event."""
        return self._told.popleft() if self._told else None

    def _read_voice(self, kind: str, now: float) -> None:
        if kind == "ACTIVITY_START":
            self._floor.hear(now)
            self._told.append(CallerBegan())
        elif kind == "ACTIVITY_END":
            self._told.append(CallerStopped())

    def _read_content(self, content: types.LiveServerContent, now: float) -> None:
        if content.interrupted and self._floor.interrupted(now):
            self._told.append(Interrupted(reply=self._reply))
            self._end(ReplyOutcome.CANCELLED, now)
        if (heard := content.input_transcription) is not None and (heard.text or heard.finished):
            self._read_words(heard.text or "", now, finished=heard.finished is True)
        for part in (content.model_turn and content.model_turn.parts) or []:
            if (sound := part.inline_data) is not None and sound.data and (sound.mime_type or "").startswith("audio/"):
                self._read_sound(sound.data)
        if (said := content.output_transcription) is not None and said.text and self._replying() is not None:
            reply = self._replying() or ""
            self._told.append(ReplyWords(reply=reply, item=reply, text=said.text))
        reason = "" if content.turn_complete_reason is None else content.turn_complete_reason.value
        if content.generation_complete or content.turn_complete:
            self._complete(reason, now)
        if content.turn_complete and not _in_progress(content) and self._floor.complete(now):
            self._told.extend(self._caller.end())

    def _read_words(self, text: str, now: float, *, finished: bool) -> None:
        # While it waits for results nobody has spoken without an interruption: what comes is late, and may be settled.
        if self._floor.turn is not Turn.CALLS or self._caller.open:
            self._floor.hear(now)
            self._told.extend(self._caller.add(text, finished=finished))

    def _read_sound(self, data: bytes) -> None:
        samples = np.frombuffer(data, "<i2", count=len(data) // 2).astype(np.int16, copy=False)
        if len(samples) and (reply := self._replying()) is not None:
            self._spoken += len(samples)
            self._told.append(ReplyAudio(reply=reply, item=reply, samples=samples))

    def _read_calls(self, calls: list[types.FunctionCall]) -> None:
        reply: str | None = None
        for call in calls:
            if not call.id or not call.name or call.id in self._calls or (reply := self._replying()) is None:
                continue
            # A tool is run for what the caller said, and must not wait for the end of the turn to know it.
            self._told.extend(self._caller.settle())
            self._calls[call.id] = None
            self.intents.called(call.id, call.name)
            arguments = json.dumps(call.args or {})
            self._told.append(ToolCalled(reply=reply, call_id=call.id, name=call.name, arguments=arguments))
        if reply is None:
            return
        while len(self._calls) > CALLS_KEPT:
            self._calls.popitem(last=False)
        # The model says no more before it has the results: what it says then is another answer.
        self._told.append(self._ended(reply, ReplyOutcome.COMPLETED, ""))
        self._floor.call()

    def _read_withdrawal(self, call_ids: list[str], now: float) -> None:
        if withdrawn := self.intents.withdrawn(call_ids):
            self._told.append(CallsWithdrawn(call_ids=withdrawn))
            if not self.intents.calls_open:
                self._floor.withdraw(now)

    def _read_usage(self, usage: types.UsageMetadata) -> None:
        used = _tokens(usage)
        if self._replies and self._floor.settling:
            self._told.append(TokensTold(reply=_reply_id(self._replies), used=used))
        else:
            self._used = _sum(self._used, used)

    def _replying(self) -> str | None:
        """Give the answer that more comes of, begun if it is not; ``None``: it is void."""
        answers_caller = self._floor.turn in (Turn.NOBODY, Turn.CALLER)
        if not self._floor.speak():
            return None
        self.intents.replying()
        if self._reply is None:
            if answers_caller:
                self._told.extend(self._caller.place())
            self._replies += 1
            self._spoken = 0
            self._reply = _reply_id(self._replies)
            self._told.append(ReplyBegan(reply=self._reply))
        return self._reply

    def _complete(self, reason: str, now: float) -> None:
        unwell = bool(reason) and reason not in _WELL
        self._end(
            ReplyOutcome.INCOMPLETE if unwell else ReplyOutcome.COMPLETED,
            now,
            reason=in_words(reason) if unwell else "",
        )
        if unwell and self._floor.turn is Turn.ASKED:
            self._told.append(ProviderTrouble(code=reason, message=f"the model gives no answer: {in_words(reason)}"))

    def _end(self, outcome: ReplyOutcome, now: float, *, reason: str = "") -> None:
        """End the answer being made, if there is one, and the utterance that it answers."""
        if self._reply is not None:
            self._told.extend(self._caller.end())
            self._told.append(self._ended(self._reply, outcome, reason))
            self._floor.end_reply(self._spoken / SPEAKS, now)

    def _ended(self, reply: str, outcome: ReplyOutcome, reason: str) -> ReplyEnded:
        used, self._used, self._reply = self._used, TokensUsed(), None
        return ReplyEnded(reply=reply, outcome=outcome, reason=reason, used=None if used == TokensUsed() else used)


_WELL = frozenset({"TURN_COMPLETE_REASON_UNSPECIFIED", "NEED_MORE_INPUT"})
"""Reasons of a turn's end that are no failure."""


def _reply_id(number: int) -> str:
    return f"reply-{number}"


def _in_progress(content: types.LiveServerContent) -> bool:
    return content.interaction_status is not None and content.interaction_status.value == "IN_PROGRESS"


def _tokens(usage: types.UsageMetadata) -> TokensUsed:
    audio_in, text_in = _by_modality(usage.prompt_tokens_details, usage.prompt_token_count)
    audio_out, text_out = _by_modality(usage.response_tokens_details, usage.response_token_count)
    return TokensUsed(
        audio_in=audio_in,
        text_in=text_in + (usage.tool_use_prompt_token_count or 0),
        audio_out=audio_out,
        text_out=text_out + (usage.thoughts_token_count or 0),
        cached_in=usage.cached_content_token_count or 0,
    )


def _by_modality(details: list[types.ModalityTokenCount] | None, total: int | None) -> tuple[int, int]:
    """Tell audio and other tokens apart; all are others where the provider does not."""
    if not details:
        return 0, total or 0
    audio = sum(
        each.token_count or 0 for each in details if each.modality is not None and each.modality.value == "AUDIO"
    )
    return audio, sum(each.token_count or 0 for each in details) - audio


def _sum(one: TokensUsed, other: TokensUsed) -> TokensUsed:
    return TokensUsed(**{each.name: getattr(one, each.name) + getattr(other, each.name) for each in fields(TokensUsed)})
