"""The speaker: a call's voice. Text in; sentences, their audio, and what was heard of them, out.

Above: ``cascade`` writes replies into it and takes its turn events. Below: ``sentences`` and ``speakable`` prepare the
text, a synthesiser renders it, ``player`` decides what the output gets.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from pipelines.audio.frame import Samples
from pipelines.clock import Clock, Timer
from pipelines.events import SentenceRendered, Tell, UtteranceHeard, UtteranceStarted, trouble
from pipelines.playout.output import AudioOutput
from pipelines.playout.player import (
    Advanced,
    Began,
    Clear,
    Pause,
    Play,
    Player,
    PlayerAction,
    PlayerSettings,
    Settled,
    Unpause,
)
from pipelines.playout.sentences import Sentence, SentenceSplitter
from pipelines.playout.speakable import speakable
from pipelines.playout.utterance import Break, Utterance, UtteranceKind
from pipelines.tts.base import SynthesisError, Synthesizer
from pipelines.turns.events import EngineFailed, TurnEvent, UtteranceAdvanced, UtteranceBegan, UtteranceOver

__all__ = ["Heard", "Speaker"]

AHEAD_S = 8.0
"""Seconds of audio made ahead of playout; more would be wasted by the next interruption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What the caller heard of an utterance, in the end."""

    source: str
    """All of the source text."""
    text: str
    """What of it was heard: a prefix that ends with a word."""
    interrupted: bool
    estimated: bool


@dataclass(slots=True, eq=False)
class _Voice:
    """An utterance being made."""

    utterance: Utterance
    turn: int | None
    settled: asyncio.Future[Heard]
    splitter: SentenceSplitter = field(default_factory=SentenceSplitter)
    sentences: asyncio.Queue[Sentence | int | None] = field(default_factory=asyncio.Queue)
    """Bounded by what a model writes in one reply. A number is that of an utterance which is heard before the rest;
    ``None`` ends it."""
    making: asyncio.Task[None] | None = None
    """``None``: somebody else makes it."""
    paused: bool = False
    """Whether whoever writes it has said that no more is coming soon."""


class Speaker:
    """Speaks a call.

    Args:
        clock: the call's.
        synthesizer: the process's voice.
        output: where it goes.
        group: the call's task group; what is made for an utterance dies with it.
        feed: takes what happens to utterances, for the turn machine.
        tell: takes what the outside is told.
        phrases: texts rendered beforehand, so that they can be said when the synthesiser is dead.
        settings: times of playout.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        synthesizer: Synthesizer,
        output: AudioOutput,
        group: asyncio.TaskGroup,
        feed: Callable[[TurnEvent], None],
        tell: Tell,
        phrases: Mapping[str, Samples] | None = None,
        settings: PlayerSettings | None = None,
    ) -> None:
        self._clock = clock
        self._synthesizer = synthesizer
        self._output = output
        self._group = group
        self._feed = feed
        self._tell = tell
        self._phrases = dict(phrases or {})
        self._player = Player(rate=output.rate, can_pause=output.can_pause, settings=settings)
        self._voices: dict[int, _Voice] = {}
        self._timer: Timer | None = None
        self._room = asyncio.Event()
        self._due: deque[PlayerAction] = deque()
        """What the player decided and is not done yet."""
        self._doing = False
        self._stopped = False
        output.attach(self._reported)

    @property
    def busy(self) -> bool:
        """Whether anything is being said, or is not settled yet."""
        return bool(self._voices)

    def begin(self, number: int, kind: UtteranceKind, *, turn: int | None = None) -> asyncio.Future[Heard]:
        """Begin an utterance; its text follows with ``write``.

        A narration does not wait for the rest of one that is paused: it is heard behind what is written of it so far.

        Returns:
            What will have been heard of it, once it is settled.
        """
        if kind == "narration":
            for other in self._voices.values():
                if other.paused and other.making is None:
                    other.utterance.breaks.append(Break(at_sample=other.utterance.samples, other=number))
                elif other.paused:
                    other.sentences.put_nowait(number)
        voice = self._add(Utterance(number, kind, rate=self._output.rate), turn)
        voice.making = self._group.create_task(self._make(voice), name=f"utterance {number}")
        self._do(self._player.begin(voice.utterance, self._clock.now()))
        return voice.settled

    def lend(self, utterance: Utterance, *, turn: int | None = None) -> asyncio.Future[Heard]:
        """Play an utterance that somebody else makes, who says :meth:`made` whenever there is more of it, or its end.

        Returns:
            What will have been heard of it, once it is settled.
        """
        voice = self._add(utterance, turn)
        self._do(self._player.begin(utterance, self._clock.now()))
        return voice.settled

    def made(self, number: int, *, paused: bool = False) -> None:
        """There is more of a lent utterance, or all of it.

        Args:
            number: which; nothing happens when it is over.
            paused: whether no more is coming soon: a narration may go before the rest.
        """
        if (voice := self._voices.get(number)) is not None:
            voice.paused = paused
            self._do(self._player.tick(self._clock.now()))

    def say(self, number: int, text: str) -> None:
        """Write all of an utterance; a text that was rendered beforehand is spoken as one piece."""
        if text in self._phrases and (voice := self._open(number)) is not None:
            voice.utterance.text = text
            voice.sentences.put_nowait(Sentence(text=text, start=0, end=len(text)))
        else:
            self.write(number, text)
        self.finish(number)

    def write(self, number: int, text: str) -> None:
        """Add text to an utterance; text for one that is over or was cancelled is dropped."""
        if (voice := self._open(number)) is not None:
            voice.utterance.text += text
            voice.paused = False
            for sentence in voice.splitter.feed(text):
                voice.sentences.put_nowait(sentence)

    def text(self, number: int) -> str:
        """All that was written of an utterance, empty when it is over."""
        voice = self._voices.get(number)
        return "" if voice is None else voice.utterance.text

    def flush(self, number: int) -> None:
        """Speak what was held back for the rest of a sentence: no more is coming soon."""
        if (voice := self._open(number)) is not None:
            for sentence in voice.splitter.flush():
                voice.sentences.put_nowait(sentence)
            voice.paused = True

    def finish(self, number: int) -> None:
        """There will be no more text. Idempotent."""
        self.flush(number)
        if (voice := self._open(number)) is not None:
            voice.sentences.put_nowait(None)

    def cut_short(self, number: int) -> None:
        """The rest of the utterance will never be made; what was made is played."""
        if (voice := self._open(number)) is not None:
            voice.utterance.cut_short = True
            self.finish(number)

    def cancel(self, number: int) -> None:
        """Stop making and playing an utterance."""
        if (voice := self._voices.get(number)) is None:
            return
        if voice.making is not None:
            voice.making.cancel()
        self._do(self._player.cancel(number, self._clock.now()))

    def hold(self) -> None:
        """Fall silent at once; go on making."""
        self._do(self._player.hold(self._clock.now()))

    def resume(self) -> None:
        """Go on where it fell silent."""
        self._do(self._player.resume(self._clock.now()))

    def suspend(self) -> None:
        """Say nothing before ``restore``: nobody is there to hear it; go on making."""
        self._do(self._player.suspend(self._clock.now()))

    def restore(self) -> None:
        """Go on with the first word not proven heard."""
        self._do(self._player.restore(self._clock.now()))

    def stop(self) -> None:
        """Stop for good: what was heard is settled by what is proven, the output gets nothing more. Idempotent."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for voice in list(self._voices.values()):
            heard_end = voice.utterance.heard_end()
            self._settle(Settled(utterance=voice.utterance, heard_end=heard_end, interrupted=True, estimated=False))

    def _add(self, utterance: Utterance, turn: int | None) -> _Voice:
        settled: asyncio.Future[Heard] = asyncio.get_running_loop().create_future()
        voice = self._voices[utterance.number] = _Voice(utterance=utterance, turn=turn, settled=settled)
        return voice

    def _open(self, number: int) -> _Voice | None:
        voice = self._voices.get(number)
        return None if voice is None or voice.making is None or voice.making.done() else voice

    async def _make(self, voice: _Voice) -> None:
        utterance = voice.utterance
        while (sentence := await voice.sentences.get()) is not None:
            if isinstance(sentence, int):
                utterance.breaks.append(Break(at_sample=utterance.samples, other=sentence))
                self._do(self._player.tick(self._clock.now()))
                continue
            while utterance.unplayed_s > AHEAD_S:
                self._room.clear()
                await self._room.wait()
            try:
                await self._render(utterance, sentence)
            except Exception as error:  # noqa: BLE001 - an engine's boundary: whatever it raises, the call goes on
                utterance.cut_short = True
                self._tell(trouble("synthesizer", error, known=SynthesisError))
                self._feed(EngineFailed(engine="synthesizer"))
                break
        utterance.complete = True
        self._do(self._player.tick(self._clock.now()))

    async def _render(self, utterance: Utterance, sentence: Sentence) -> None:
        spoken = speakable(sentence.text)
        if not spoken.text.strip():
            return
        asked_at = self._clock.now()
        piece = utterance.open_piece(sentence.start, spoken)
        if (rendered := self._phrases.get(sentence.text)) is not None:
            utterance.append(rendered)
        else:
            async for audio in self._synthesizer.synthesize(spoken.text, self._clock):
                utterance.append(audio.samples, audio.words)
                self._do(self._player.tick(self._clock.now()))
        if not piece.samples and any(char.isalnum() for char in spoken.text):
            raise SynthesisError(f"it gave no sound for {len(spoken.text)} characters of text")
        utterance.close_piece()
        self._tell(
            SentenceRendered(
                utterance=utterance.number,
                text=sentence.text,
                asked_at=asked_at,
                seconds=piece.samples / utterance.rate,
            )
        )
        self._do(self._player.tick(self._clock.now()))

    def _reported(self, epoch: int, played_s: float, *, final: bool = False) -> None:
        self._do(self._player.report(epoch, played_s, self._clock.now(), final=final))

    def _tick(self) -> None:
        self._timer = None
        self._do(self._player.tick(self._clock.now()))

    def _do(self, actions: list[PlayerAction]) -> None:
        """Carry out what the player decided; what it decides meanwhile waits its turn."""
        self._due.extend(actions)
        if self._doing or self._stopped:
            return
        self._doing = True
        try:
            while self._due and not self._stopped:
                self._perform(self._due.popleft())
        finally:
            self._doing = False
            self._arm()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._stopped and (deadline := self._player.deadline) is not None:
            self._timer = self._clock.call_at(deadline, self._tick)

    def _perform(self, action: PlayerAction) -> None:
        match action:
            case Play() | Pause() | Unpause() | Clear():
                try:
                    self._command(action)
                except Exception as error:  # noqa: BLE001 - an output's boundary
                    self._output_failed(error)
            case Began():
                self._began(action.utterance)
            case Advanced():
                number, heard_end = action.utterance.number, action.heard_end
                self._tell(UtteranceHeard(utterance=number, heard=action.utterance.text[:heard_end]))
                self._feed(UtteranceAdvanced(utterance=number, heard_end=heard_end))
            case Settled():
                self._settle(action)
            case _:
                assert_never(action)

    def _command(self, action: Play | Pause | Unpause | Clear) -> None:
        match action:
            case Play():
                self._room.set()
                self._output.play(action.epoch, action.samples)
            case Pause():
                self._output.pause()
            case Unpause():
                self._output.unpause()
            case Clear():
                self._output.clear(action.epoch)
            case _:
                assert_never(action)

    def _output_failed(self, error: Exception) -> None:
        """Cut what is being said: nobody knows what would be heard of it. The next utterance tries again."""
        if not self._voices:
            return
        self._tell(trouble("output", error))
        for number in list(self._voices):
            self.cancel(number)

    def _began(self, utterance: Utterance) -> None:
        turn = self._voices[utterance.number].turn if utterance.number in self._voices else None
        self._tell(UtteranceStarted(utterance=utterance.number, kind=utterance.kind, turn=turn))
        self._feed(UtteranceBegan(utterance=utterance.number))

    def _settle(self, settled: Settled) -> None:
        if (voice := self._voices.pop(settled.utterance.number, None)) is None:
            return
        if voice.making is not None:
            voice.making.cancel()
        self._room.set()
        if not voice.settled.done():
            source = settled.utterance.text
            heard = source[: settled.heard_end]
            voice.settled.set_result(
                Heard(
                    source=source,
                    text=heard.rstrip() if settled.interrupted else heard,
                    interrupted=settled.interrupted,
                    estimated=settled.estimated,
                )
            )
        self._feed(UtteranceOver(utterance=settled.utterance.number))
