"""What we want of a session, as messages to the provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.realtime.base import SessionSetup, Snapshot, ToolAnswer
from pipelines.realtime.openai import wire
from pipelines.realtime.openai.ledger import ItemLedger
from pipelines.realtime.openai.options import OpenAIOptions
from pipelines.realtime.openai.outbox import Outbox
from pipelines.realtime.openai.sequencer import Floor, Sequencer
from pipelines.realtime.wording import snapshot_text

__all__ = ["Intents"]

SHORTEST_TURN = wire.RATE // 10
"""Samples: less is refused as a turn, so silence is put behind it."""

_ROLES = {"caller": "user", "agent": "assistant", "system": "system"}


class Intents:
    """Writes what is wanted into the outbox. Triggers wait in the sequencer until they are due.

    Args:
        setup: what the session begins with.
        options: how it is set up.
        outbox: takes the messages.
        ledger: what the conversation holds.
        sequencer: puts answers in a row.
    """

    def __init__(
        self, setup: SessionSetup, options: OpenAIOptions, outbox: Outbox, ledger: ItemLedger, sequencer: Sequencer
    ) -> None:
        self._setup = setup
        self._outbox = outbox
        self._ledger = ledger
        self._sequencer = sequencer
        self._ours = wire.turn_detection(setup, options) is None
        self._turn_samples = 0
        outbox.put("setup", {"type": "session.update", "session": wire.session(setup, options)})
        for turn in setup.past:
            self._put_message(turn.role, turn.text)
        if setup.snapshot is not None:
            self.refresh(setup.snapshot)

    def hear(self, samples: Samples) -> None:
        """Pass the caller's voice on, 24 kHz."""
        self._turn_samples += len(samples)
        self._outbox.put_voice(samples)

    def begin_speech(self) -> None:
        """Begin a turn of the caller's, where turns are ours."""
        if self._ours:
            self._sequencer.caller_begins()
            self._clear()

    def end_speech(self, now: float, *, respond: bool) -> None:
        """End a turn of the caller's; where the provider takes turns, only the one it hears just now.

        Args:
            now: seconds.
            respond: whether it is answered; if not, it is forgotten.
        """
        if self._sequencer.floor is not Floor.CALLER:
            return
        self._sequencer.caller_ends(now, answered=False)
        if not respond:
            self._clear()
        elif self._turn_samples or not self._ours:
            if self._ours and self._turn_samples < SHORTEST_TURN:
                self._outbox.put_voice(np.zeros(SHORTEST_TURN - self._turn_samples, np.int16))
            self._sequencer.want(self._outbox.put("turn", {"type": "input_audio_buffer.commit"}))
            self._turn_samples = 0

    def inject(self, text: str, role: Literal["caller", "system"], *, respond: bool) -> None:
        """Put words into the conversation, to be answered or not."""
        item = self._put_message(role, text)
        if respond:
            self._sequencer.want(item)

    def answer(self, results: Sequence[ToolAnswer], snapshot: Snapshot, *, respond: bool) -> None:
        """Give the results of one batch, then the context: behind them, even where it says the same as before."""
        item = ""
        for result in results:
            item = self._outbox.name("result")
            output = {"id": item, "type": "function_call_output", "call_id": result.call_id, "output": result.output}
            self._outbox.put("result", {"type": "conversation.item.create", "item": output})
        if self._ledger.supersedes(snapshot):
            item = self._replace(snapshot) or item
        if respond and item:
            self._sequencer.want(item)

    def refresh(self, snapshot: Snapshot) -> None:
        """Replace the context, when it is newer and says something else: what is not changed stays cached."""
        if self._ledger.supersedes(snapshot) and not self._ledger.says(snapshot.text):
            self._replace(snapshot)

    def truncate(self, item: str, heard_s: float) -> None:
        """Cut an item off behind what was heard."""
        if (at_ms := self._ledger.cut(item, heard_s)) is not None:
            cut = {"type": "conversation.item.truncate", "item_id": item, "content_index": 0, "audio_end_ms": at_ms}
            self._outbox.put("truncate", cut)

    def update(self, setup: SessionSetup) -> None:
        """Change instructions and tools, where they are others; never the voice, which cannot change once it spoke."""
        changed: wire.Message = {}
        if setup.instructions != self._setup.instructions:
            changed["instructions"] = setup.instructions
        if setup.tools != self._setup.tools:
            changed["tools"] = wire.write_tools(setup.tools)
        self._setup = setup
        if changed:
            self._outbox.put("update", {"type": "session.update", "session": {"type": "realtime", **changed}})

    def cancel(self, answer: str) -> None:
        """Cancel an answer by its id, so that never another one is hit."""
        self._outbox.put("cancel", {"type": "response.cancel", "response_id": answer})

    def forget(self, item: str) -> None:
        """Delete an item."""
        self._outbox.put("delete", {"type": "conversation.item.delete", "item_id": item})

    def ask_if_due(self, now: float) -> None:
        """Ask for the answer that is due. It will bear its trigger's name: the provider begins some by itself."""
        if self._sequencer.due:
            trigger = self._outbox.name("answer")
            asked = {"type": "response.create", "response": {"metadata": {"trigger": trigger}}}
            self._outbox.put_as(trigger, asked)
            self._sequencer.ask(trigger, now)

    def _clear(self) -> None:
        self._turn_samples = 0
        self._outbox.put("turn", {"type": "input_audio_buffer.clear"})

    def _put_message(self, role: Literal["caller", "agent", "system"], words: str) -> str:
        item = self._outbox.name("item")
        made = wire.message_item(item, _ROLES[role], words)
        self._outbox.put("item", {"type": "conversation.item.create", "item": made})
        return item

    def _replace(self, snapshot: Snapshot) -> str | None:
        item = None
        if snapshot.text:
            item = self._outbox.name("context")
            made = wire.message_item(item, "system", snapshot_text(snapshot))
            self._outbox.put("snapshot", {"type": "conversation.item.create", "item": made})
        if (gone := self._ledger.replace(snapshot, item)) is not None:
            self.forget(gone)
        return item
