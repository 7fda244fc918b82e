"""The speech of a realtime call: what is said by whichever voice, and who is told what was heard of it.

Above: ``agent`` has things said. Below: ``voices`` speaks; the chronicle keeps, and the model is told, what was heard.
"""

from __future__ import annotations

from collections.abc import Callable

from pipelines.events import Tell, UtteranceEnded
from pipelines.playout.streamed import StreamedUtterance
from pipelines.playout.utterance import UtteranceKind
from pipelines.realtime.chronicle import Chronicle, Spoken
from pipelines.realtime.outbox import Inject, Sending, Truncate
from pipelines.realtime.voices import Saying
from pipelines.realtime.wording import SAID
from pipelines.responder import SpokenKind
from pipelines.speaker import Heard

__all__ = ["Speech"]


class Speech:
    """Settles what was said in one call.

    Args:
        chronicle: takes what was heard.
        replies: the model's replies that an utterance consists of.
        post: sends to the provider.
        over: called with the number of what is settled, after everybody was told.
        tell: takes what the outside is told.
    """

    def __init__(
        self,
        *,
        chronicle: Chronicle,
        replies: Callable[[int], tuple[str, ...]],
        post: Callable[[Sending], None],
        over: Callable[[int], None],
        tell: Tell,
    ) -> None:
        self._chronicle = chronicle
        self._replies = replies
        self._post = post
        self._over = over
        self._tell = tell

    def settled(self, saying: Saying, heard: Heard) -> None:
        """Take something that was said, and what was heard of it."""
        self._tell(
            UtteranceEnded(
                utterance=saying.number,
                kind=saying.kind,
                turn=saying.turn,
                text=heard.source,
                heard=heard.text,
                interrupted=heard.interrupted,
                estimated=heard.estimated,
            )
        )
        if saying.streamed is None:
            self._own(saying.kind, heard)
        else:
            self._model(saying, saying.streamed, heard)
        self._over(saying.number)

    def _model(self, saying: Saying, streamed: StreamedUtterance, heard: Heard) -> None:
        for reply in self._replies(saying.number):
            parts = self._chronicle.parts(reply)
            text = streamed.text_of(parts, end=len(heard.text))
            cut = heard.interrupted and text != streamed.text_of(parts)
            self._chronicle.heard(reply, text, interrupted=cut)
        for part in streamed.parts_heard() if heard.interrupted else ():
            if part.heard_s < part.made_s:
                self._post(Truncate(item=part.part, heard_s=part.heard_s, connection=saying.connection))

    def _own(self, kind: UtteranceKind, heard: Heard) -> None:
        if heard.text.strip():
            self._chronicle.spoke(Spoken(text=heard.text, kind=_spoken(kind), interrupted=heard.interrupted))
            self._post(Inject(text=SAID.format(text=heard.text), role="system", respond=False))


def _spoken(kind: UtteranceKind) -> SpokenKind:
    return kind if kind in ("greeting", "apology") else "narration"
