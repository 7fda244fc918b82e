"""A call outlives its connections: renewed ahead of time, restored after a drop, and ended when there is no use."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from pipelines.audio.frame import HEARING_RATE
from pipelines.clock import VirtualClock
from pipelines.events import EngineTrouble, UtteranceEnded, UtteranceStarted
from pipelines.realtime.base import RealtimeError, Snapshot, ToolAnswer, TurnDetection
from pipelines.realtime.events import ReplyOutcome, SessionExpiring
from pipelines.realtime.lasting import Gap, Renewal, waits
from pipelines.realtime.outbox import Answers, Hear, Inject, Outbox, Refresh, Truncate
from pipelines.realtime.settings import Lasting, Lost, RealtimeSettings
from tests.realtime.scripted import RATE, RealtimeLine, ScriptedProvider, hold, tool, words

SETTINGS = RealtimeSettings()
APOLOGY = np.full(RATE // 2, 7, np.int16)
PHRASES = {SETTINGS.apology: APOLOGY, SETTINGS.farewell: np.full(RATE // 2, 9, np.int16)}


def flaky(*failures: RealtimeError, **more: Any) -> Any:
    return lambda clock: ScriptedProvider(clock, refusals=list(failures), **more)


def test_a_drop_in_mid_sentence_is_gone_on_from_what_was_heard() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Which flights?", "c1")
        reply = line.begin()
        line.say(reply, "one two three four five six", words(6))
        await line.wait(0.6)
        line.end(reply, ReplyOutcome.FAILED, "the connection broke")
        line.session.end("", code=1006)
        await line.wait(3.0)
        second = line.session
        past = [(turn.role, turn.text) for turn in second.setup.past]
        assert past == [("caller", "Which flights?"), ("agent", "one two three four five six")]
        ((role, text, respond),) = second.of("inject")
        assert role == "system" and respond and "broke off" in text
        line.answer("seven eight", words(2))
        await line.wait(1.5)
        assert line.pipeline.idle

    line = hold(tale, pipeline={"phrases": PHRASES})
    assert not [event for event in line.all(UtteranceStarted) if event.kind == "apology"], "it was a short gap"


def test_what_is_said_in_the_gap_is_heard_once_and_bounded() -> None:
    settings = RealtimeSettings(lasting=Lasting(kept_audio_s=1.0))

    async def tale(line: RealtimeLine) -> None:
        line.session.end()
        await line.wait()
        line.provider.refusals += [RealtimeError("down")] * 3
        for value in range(1, 16):
            await line.sends(np.full(HEARING_RATE // 10, value, np.int16))
        await line.wait(8.0)

    line = hold(tale, settings=settings)
    assert len(line.provider.sessions) == 2 and line.provider.attempts == 5
    heard = line.session.voice
    assert len(heard) <= HEARING_RATE and heard[-1] == 15 and heard[0] >= 5, "the latest second"
    assert len(np.flatnonzero(np.diff(heard))) == len(set(heard.tolist())) - 1, "in order, once"


def test_a_turn_that_a_break_cuts_is_told_the_next_session_from_its_beginning() -> None:
    async def tale(line: RealtimeLine) -> None:
        await line.silence(0.5)
        await line.voiced(0.8)
        line.session.end(code=1006)
        await line.voiced(0.8)
        await line.silence(2.0)

    line = hold(tale, settings=RealtimeSettings(turn_detection=TurnDetection.OURS))
    first, second = line.provider.sessions
    assert [name for name, _ in first.sent] == ["begin"]
    assert [name for name, _ in second.sent] == ["begin", "end"]
    assert np.count_nonzero(second.voice) == round(1.6 * HEARING_RATE), "every sample of it, once"


def test_what_is_typed_in_the_gap_is_told_the_next_session_once() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("A trip.", "c1")
        line.answer("Where to?", words(2))
        await line.wait(1.0)
        line.session.end()
        line.provider.refusals += [RealtimeError("down")]
        await line.wait()
        line.pipeline.type_in("To Vienna.")
        await line.wait(2.0)

    line = hold(tale)
    assert [turn.text for turn in line.session.setup.past] == ["A trip.", "Where to?"]
    assert line.session.of("inject") == [("caller", "To Vienna.", True)]
    assert asyncio.run(line.stored())[-1] == "caller: To Vienna."


def test_a_session_that_was_opened_too_early_is_not_gone_on_with() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.provider.takes_s = 1.0
        line.session.tell(SessionExpiring(in_s=60.0))
        await line.wait(0.5)
        line.turn("A trip.", "c1")
        line.answer("Where to?", words(2))
        await line.wait(5.0)
        first, missed, last = line.provider.sessions
        assert first.closed and missed.closed and not last.closed
        assert [turn.text for turn in last.setup.past] == ["A trip.", "Where to?"]

    hold(tale)


def test_a_long_gap_is_apologised_for_once() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.session.end()
        line.provider.refusals += [RealtimeError("down")] * 5
        await line.wait(20.0)

    line = hold(tale, pipeline={"phrases": PHRASES})
    assert np.count_nonzero(line.output.track() == 7) == RATE // 2
    assert len(line.provider.sessions) == 2


def test_a_result_of_a_call_the_new_session_does_not_know_is_told_in_words_once() -> None:
    async def slow(_: Any, ctx: Any) -> str:
        async with ctx.waiting():
            await asyncio.sleep(2.0)
        return "found"

    async def tale(line: RealtimeLine) -> None:
        line.turn("Search.", "c1")
        line.calls(("k1", "search", "{}"))
        await line.wait(0.5)
        line.session.end()
        await line.wait(4.0)

    line = hold(tale, tools=(tool("search", slow),))
    first, second = line.provider.sessions
    assert not first.of("answer") and not second.of("answer")
    told = second.of("inject")
    assert [("found" in text, respond) for _, text, respond in told] == [(True, True)]


def test_a_result_that_was_sent_into_a_dying_session_is_told_the_next_one() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Book.", "c1")
        line.calls(("k1", "book", "{}"))
        await line.wait(0.2)
        assert line.session.of("answer")
        line.session.end()
        await line.wait(1.0)

    line = hold(tale, tools=(tool("book", lambda *_: "done"),))
    ((_, text, respond),) = line.session.of("inject")
    assert "done" in text and respond


def test_a_session_is_renewed_before_its_end_when_nobody_speaks() -> None:
    settings = RealtimeSettings(lasting=Lasting(ahead_s=20.0, forced_s=5.0))

    async def tale(line: RealtimeLine) -> None:
        await line.wait(75.0)
        line.turn("Hello.", "c1")
        reply = line.begin()
        await line.wait(8.0)
        assert len(line.provider.sessions) == 1, "an answer is being made"
        line.say(reply, "one two", words(2))
        line.end(reply)
        await line.wait(2.0)
        assert len(line.provider.sessions) == 2 and line.provider.sessions[0].closed

    line = hold(tale, settings=settings, provider=lambda clock: ScriptedProvider(clock, lasts_s=100.0))
    (ended,) = line.all(UtteranceEnded)
    assert ended.heard == "one two", "nothing is cut"
    assert not line.session.of("inject"), "and the model says nothing because of it"


def test_a_session_is_renewed_in_mid_sentence_when_it_cannot_wait() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.turn("Hello.", "c1")
        reply = line.begin()
        line.say(reply, "one two", words(2))
        line.session.tell(SessionExpiring(in_s=5.5))
        await line.wait(5.0)
        assert len(line.provider.sessions) == 2
        ((_, text, respond),) = line.session.of("inject")
        assert respond and "broke off" in text

    hold(tale)


def test_a_renewal_that_fails_is_tried_again_and_harms_nobody() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.provider.refusals.append(RealtimeError("down"))
        line.session.tell(SessionExpiring(in_s=60.0))
        await line.wait(2.0)
        assert len(line.provider.sessions) == 1 and not line.session.closed
        await line.wait(8.0)
        assert len(line.provider.sessions) == 2

    hold(tale)


def test_an_expiring_session_is_resumed_by_its_handle() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.session.tell(SessionExpiring(in_s=60.0))
        await line.wait(1.0)
        assert line.session.setup.resume == "h-1"
        assert line.provider.sessions[0].closed, "a provider resumes nothing that still lasts"

    hold(tale, provider=lambda clock: ScriptedProvider(clock, handle="h-1"))


def test_a_handle_that_is_refused_is_not_tried_again() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.session.end()
        line.provider.refusals.append(RealtimeError("no such handle", retry=False))
        await line.wait(2.0)
        assert len(line.provider.sessions) == 2 and line.session.setup.resume is None

    hold(tale, provider=lambda clock: ScriptedProvider(clock, handle="h-1"))


def test_a_provider_that_is_not_there_at_first_is_tried_again() -> None:
    async def tale(line: RealtimeLine) -> None:
        await line.wait(2.0)
        line.turn("Hello.", "c1")
        line.answer("Hi.", words(1))
        await line.wait(1.0)

    line = hold(tale, provider=flaky(RealtimeError("down"), RealtimeError("down")))
    assert [event.heard for event in line.all(UtteranceEnded)] == ["Hi."]


def test_a_key_without_access_ends_the_call_with_the_provider_s_words() -> None:
    async def tale(line: RealtimeLine) -> None:
        await line.wait(10.0)

    clock = VirtualClock()
    provider = ScriptedProvider(clock, refusals=[RealtimeError("You do not have access to this model.", retry=False)])
    line = RealtimeLine(clock, provider=provider, pipeline={"phrases": PHRASES})
    with pytest.raises(ExceptionGroup) as raised:
        clock.run(line.call(tale))
    assert raised.group_contains(RealtimeError, match="You do not have access")
    assert any("do not have access" in event.reason for event in line.all(EngineTrouble))
    assert provider.attempts == 1, "the key will not be better in a second"
    assert [event.heard for event in line.all(UtteranceEnded)] == [SETTINGS.farewell], "the caller is told"


def test_a_call_may_go_on_without_its_model() -> None:
    async def tale(line: RealtimeLine) -> None:
        line.session.end("You do not have access.", code=1008, retry=False)
        await line.wait(5.0)
        assert line.pipeline.idle

    line = hold(tale, settings=RealtimeSettings(on_lost=Lost.STAY), pipeline={"phrases": PHRASES})
    assert any("You do not have access. (1008)" in event.reason for event in line.all(EngineTrouble))


def test_closing_leaves_the_host_s_listeners_and_nothing_running() -> None:
    told: list[str] = []

    class Watching:
        async def record(self, type: str, data: dict[str, Any]) -> None:
            told.append(type)

    async def tale(line: RealtimeLine) -> None:
        line.glove.add_subscriber(Watching())
        line.turn("Hello.", "c1")
        reply = line.begin()
        line.say(reply, "one two three four", words(4))
        await line.wait(0.6)

    line = hold(tale)
    assert line.session.closed
    assert asyncio.run(line.stored()) == ["caller: Hello.", "agent: one two"]
    asyncio.run(line.glove.subscribers.emit("text_delta", text="x"))
    assert told[-1] == "text_delta"
    assert [event.interrupted for event in line.all(UtteranceEnded)] == [True]


# ---------------------------------------------------------------------------------------------------- the policies


def test_attempts_are_made_at_once_and_then_less_often() -> None:
    found = list(waits(Lasting(first_wait_s=0.25, longest_wait_s=8.0, give_up_s=30.0)))
    assert found == [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0]


def test_a_renewal_waits_for_a_quiet_moment_while_it_can() -> None:
    renewal = Renewal(Lasting(ahead_s=120.0, forced_s=5.0))
    assert not renewal.due(10.0, busy=False) and renewal.deadline is None
    renewal.opened(3600.0, 0.0)
    assert not renewal.due(3479.0, busy=False)
    assert renewal.due(3480.0, busy=False) and not renewal.due(3480.0, busy=True)
    assert renewal.due(3595.0, busy=True)
    renewal.expiring(10.0, 100.0)
    assert renewal.due(100.0, busy=False) and not renewal.due(104.0, busy=True) and renewal.due(105.0, busy=True)
    renewal.failed(106.0)
    assert not renewal.due(110.0, busy=False) and renewal.due(114.0, busy=False)


def test_a_gap_is_told_once() -> None:
    gap = Gap(Lasting(apologise_after_s=2.0))
    told = []
    gap.down(10.0)
    gap.down(11.0)
    told += [at for at in (11.9, 12.0, 13.0) if gap.tick(at)]
    gap.down(14.0)
    told += [at for at in (16.0, 17.0) if gap.tick(at)]
    gap.up()
    told += [at for at in (18.0,) if gap.tick(at)]
    gap.down(20.0)
    assert gap.deadline == 22.0
    told += [at for at in (21.9, 22.0, 23.0) if gap.tick(at)]
    assert told == [12.0, 22.0]
    assert gap.deadline is None


def test_the_outbox_makes_of_what_it_holds_what_it_is_to_the_next_session() -> None:
    box = Outbox(100)
    result = ToolAnswer(call_id="k", name="book", output=json.dumps({"status": "success"}))
    answers = Answers(results=(result,), snapshot=Snapshot(version=2, text=""), respond=True, connection=1)
    box.put(answers)
    assert box.take(1) == answers and box.take(1) is None
    box.put(Truncate(item="i", heard_s=0.1, connection=1))
    box.put(Refresh(snapshot=Snapshot(version=3, text="")))
    box.put(Hear(samples=np.ones(60, np.int16)))
    box.put(Hear(samples=np.full(60, 2, np.int16)))
    box.broke()
    told = box.take(2)
    assert isinstance(told, Inject) and "book" in told.text and told.respond
    heard = box.take(2)
    assert isinstance(heard, Hear) and heard.samples[0] == 2, "only so much voice is kept"
    assert box.take(2) is None
    box.answered()
    box.broke()
    assert box.take(3) is None, "what was answered is not told again"
