"""Any story of a provider, a caller and a host: what must hold in all of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given, note, settings
from hypothesis import strategies as st

from pipelines.events import ToolCalled, ToolReturned, TurnCommitted, UtteranceEnded, UtteranceStarted
from pipelines.realtime.events import CallerBegan, CallerWords, ReplyOutcome
from pipelines.realtime.events import ToolCalled as Called
from tests.pipelines.scripted import letters
from tests.realtime.scripted import RATE, RealtimeLine, hold, tool, words

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.booleans()),
        st.tuples(st.just("late"), st.none()),
        st.tuples(st.just("answer"), st.integers(0, 6)),
        st.tuples(st.just("begin"), st.integers(1, 6)),
        st.tuples(st.just("end"), st.none()),
        st.tuples(st.just("call"), st.sampled_from(["quick", "slow", "unknown"])),
        st.tuples(st.just("barge"), st.none()),
        st.tuples(st.just("drop"), st.booleans()),
        st.tuples(st.just("type"), st.none()),
        st.tuples(st.just("inject"), st.booleans()),
        st.tuples(st.just("refresh"), st.none()),
        st.tuples(st.just("narrate"), st.none()),
        st.tuples(st.just("interrupt"), st.none()),
        st.tuples(st.just("wait"), st.sampled_from([0.0, 0.05, 0.3, 1.1])),
    ),
    max_size=14,
)


class Story:
    """Plays the provider's part by the rules of the contract."""

    def __init__(self, line: RealtimeLine) -> None:
        self.line = line
        self.session = line.session
        self.reply: str | None = None
        self.replies = 0
        self.callers: list[str] = []
        self.unworded: list[str] = []
        self.calls: list[str] = []
        self.void: list[tuple[float, int]] = []
        """When which reply became void."""
        self.heard: dict[str, int] = {}
        """The word each value of the track stands for."""

    async def take(self, name: str, value: Any) -> None:
        if self.session is not self.line.session:
            self.session, self.reply, self.unworded = self.line.session, None, []
        if self.line.pipeline._connection.number == 0 and name not in ("wait", "type", "inject", "refresh"):
            return
        await getattr(self, f"_{name}")(value)

    async def _turn(self, late: bool) -> None:
        self._close()
        item = f"c{len(self.callers)}"
        text = f"{letters('c', len(self.callers))}."
        self.callers.append(text)
        self.session.tell(CallerBegan(), CallerWords(item=item, text="" if late else text, final=not late))
        if late:
            self.unworded.append(item)
        await self.line.wait(0)

    async def _late(self, _: Any) -> None:
        if self.unworded:
            item = self.unworded.pop(0)
            self.session.tell(CallerWords(item=item, text=self.callers[int(item[1:])], final=True))

    async def _answer(self, count: int) -> None:
        await self._begin(count)
        await self._end(None)

    async def _begin(self, count: int) -> None:
        self._close()
        self.replies += 1
        self.reply = self.line.begin()
        if count:
            said = [letters("r", self.replies, at) for at in range(count)]
            for at, word in enumerate(said):
                self.heard[word] = (self.replies * 10 + at) * 10
            samples = words(count, first=self.replies * 10)
            self.line.say(self.reply, " ".join(said) + ".", samples)

    async def _end(self, _: Any) -> None:
        self._close()

    async def _call(self, name: str) -> None:
        if self.reply is None:
            await self._begin(0)
        call_id = f"k{len(self.calls)}"
        self.calls.append(call_id)
        assert self.reply is not None
        self.session.tell(Called(reply=self.reply, call_id=call_id, name=name, arguments="{}"))
        self._close()
        await self.line.wait(0)

    async def _barge(self, _: Any) -> None:
        await self.line.wait(0)
        self.void.append((self.line.clock.now(), self.replies))
        self.line.barge_in(self.reply)
        self.reply = None

    async def _drop(self, retried: bool) -> None:
        if self.reply is not None:
            self.line.end(self.reply, ReplyOutcome.FAILED, "the connection broke")
            self.reply = None
        self.session.end(code=1006)
        await self.line.wait(0.2 if retried else 0.01)

    async def _type(self, _: Any) -> None:
        text = f"{letters('c', len(self.callers))}."
        self.callers.append(text)
        self.void.append((self.line.clock.now(), self.replies))
        self.line.pipeline.type_in(text)
        self._cancelled()

    async def _inject(self, respond: bool) -> None:
        self.line.pipeline.inject("It rains.", respond=respond)

    async def _refresh(self, _: Any) -> None:
        await self.line.pipeline.refresh_context()

    async def _narrate(self, _: Any) -> None:
        self.line.pipeline.narrate("Hold.")

    async def _interrupt(self, _: Any) -> None:
        self.void.append((self.line.clock.now(), self.replies))
        self.line.pipeline.interrupt()
        self._cancelled()

    async def _wait(self, seconds: float) -> None:
        await self.line.wait(seconds)

    def _close(self) -> None:
        if self.reply is not None:
            self.line.end(self.reply)
            self.reply = None

    def _cancelled(self) -> None:
        """The provider does as it was told."""
        if self.reply is not None:
            self.line.barge_in(self.reply)
            self.reply = None


def tools() -> tuple[Any, ...]:
    async def slow(_: Any, ctx: Any) -> str:
        async with ctx.waiting():
            await asyncio.sleep(0.7)
        return "found"

    return (tool("quick", lambda *_: "done"), tool("slow", slow))


@given(STEPS)
@settings(deadline=None, max_examples=60)
def test_what_holds_in_every_story(steps: list[tuple[str, Any]]) -> None:
    note(repr(steps))
    told: list[Story] = []
    rendered: list[int] = []

    async def tale(line: RealtimeLine) -> None:
        line.glove.add_context_provider(lambda _: f"Moment {len(rendered)}.")
        story = Story(line)
        told.append(story)
        for name, value in steps:
            rendered.append(1)
            await story.take(name, value)
        for item in list(story.unworded):
            await story.take("late", item)
        story._close()
        await line.wait(70.0)
        assert line.pipeline.idle, "nothing is left over"

    line = hold(tale, tools=tools(), pipeline={"phrases": {"Hold.": np.full(RATE // 4, 5, np.int16)}})
    (story,) = told
    _everything_is_kept_once(line, story)
    _each_call_has_one_result(line, story)
    _nothing_is_heard_that_was_not_played(line, story)
    _what_is_void_is_silent(line, story)
    _one_context_is_live(line)
    started = Counter(event.utterance for event in line.all(UtteranceStarted))
    ended = Counter(event.utterance for event in line.all(UtteranceEnded))
    assert max(ended.values(), default=1) == 1 and set(started) <= set(ended), "each utterance ends once"
    assert [event.turn for event in line.all(TurnCommitted)] == list(range(len(line.all(TurnCommitted))))


def _everything_is_kept_once(line: RealtimeLine, story: Story) -> None:
    stored = asyncio.run(line.stored())
    said = Counter(text for text in stored if text.startswith("caller:"))
    assert max(said.values(), default=1) == 1, "nothing is stored twice"
    finals = [text for text in story.callers if f"caller: {text}" in said]
    assert [text.removeprefix("caller: ") for text in stored if text in said] == sorted(finals), "in spoken order"
    spoken = Counter(word for text in stored if text.startswith("agent:") for word in text.split()[1:])
    assert all(count == 1 for word, count in spoken.items() if word.startswith("r")), "nor is what was answered"


def _each_call_has_one_result(line: RealtimeLine, story: Story) -> None:
    sent: Counter[str] = Counter()
    for session in line.provider.sessions:
        for results, _, _ in session.of("answer"):
            sent.update(result.call_id for result in results)
    assert max(sent.values(), default=1) == 1, "a result is told once"
    called = [event.call_id for event in line.all(ToolCalled)]
    returned = [event.call_id for event in line.all(ToolReturned)]
    assert sorted(called) == sorted(returned) and len(set(called)) == len(called)


def _nothing_is_heard_that_was_not_played(line: RealtimeLine, story: Story) -> None:
    played = set(np.unique(line.output.track()).tolist())
    for event in line.all(UtteranceEnded):
        for word in event.heard.replace(".", "").split():
            assert word not in story.heard or story.heard[word] in played, f"{word} was not played"


def _what_is_void_is_silent(line: RealtimeLine, story: Story) -> None:
    track = line.output.track()
    for at, last in story.void:
        rest = track[round((at + 0.001) * RATE) :]
        values = {value for value in np.unique(rest).tolist() if 100 <= value < (last + 1) * 100}
        assert not values, "a void answer sounds after it was cut"


def _one_context_is_live(line: RealtimeLine) -> None:
    for session in line.provider.sessions:
        versions = [session.setup.snapshot.version if session.setup.snapshot else 0]
        for name, what in session.sent:
            if name == "refresh":
                versions.append(what.version)
            elif name == "answer":
                versions.append(what[1].version)
        assert versions == sorted(set(versions)), "a later context has a higher version"
