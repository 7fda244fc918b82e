"""What every speech-to-speech adapter keeps to, as checks that any of them can be run through.

A check is a coroutine function that raises ``AssertionError``; its name is the sentence it checks. It gets a
:class:`~pipelines.realtime.stage.Stage`, fresh for each check::

    @pytest.mark.parametrize("check", REALTIME, ids=lambda check: check.__name__)
    async def test_my_adapter(check):
        async with my_stage() as stage:
            await check(stage)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from pipelines.audio.frame import Samples
from pipelines.realtime.base import AdvertisedTool, PastTurn, SessionSetup, Snapshot, ToolAnswer, TurnDetection
from pipelines.realtime.events import (
    CallerWords,
    Interrupted,
    ProviderTrouble,
    ReplyAudio,
    ReplyBegan,
    ReplyEnded,
    ReplyOutcome,
    ReplyWords,
    SessionEnded,
    SessionOpened,
    TokensTold,
    ToolCalled,
)
from pipelines.realtime.stage import Stage, fence, talk, until
from pipelines.realtime.wording import snapshot_text

__all__ = ["REALTIME", "RealtimeCheck"]

RealtimeCheck: TypeAlias = Callable[[Stage], Awaitable[None]]

_TOOLS = (
    AdvertisedTool(name="look_up", description="Look something up.", parameters={"type": "object", "properties": {}}),
    AdvertisedTool(
        name="book",
        description="Book a trip.",
        parameters={
            "type": "object",
            "properties": {"people": {"type": "integer", "minimum": 1}, "day": {"type": "string"}},
            "required": ["people"],
        },
    ),
)
_SETUP = SessionSetup(instructions="Be brief.", tools=_TOOLS, snapshot=Snapshot(version=1, text="Nothing is known."))


def _sound(seconds: float, rate: int) -> Samples:
    return (np.arange(round(seconds * rate)) % 2_000 - 1_000).astype(np.int16)


def _answers(*call_ids: str) -> Sequence[ToolAnswer]:
    return [ToolAnswer(call_id=call_id, name="look_up", output=f'{{"of": "{call_id}"}}') for call_id in call_ids]


async def an_adapter_says_what_it_hears_and_speaks(stage: Stage) -> None:
    adapter = stage.adapter
    assert adapter.name.strip(), "people and records have to know who answers"
    assert adapter.hears >= 8_000 and adapter.speaks >= 8_000, "audio is resampled to what the adapter says"
    assert adapter.lasts_s is None or adapter.lasts_s > 60, "a session is rolled over before this runs out"


async def opening_tells_instructions_tools_and_context(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        held = await fence(stage, call)
    assert held.instructions.startswith("Be brief."), "the model has to know who it is"
    assert held.tools == ("look_up", "book"), "the model has to know what it can do"
    assert held.contexts == (snapshot_text(Snapshot(version=1, text="Nothing is known.")),), (
        "it begins with the context"
    )
    assert held.answers == 0, "opening a session makes nobody speak"


async def a_session_is_opened_once_and_ended_once(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await call.session.aclose()
        ended = await call.until(SessionEnded)
        await call.session.aclose()
        await call.session.inject("Too late.", role="caller", respond=True)
        await call.session.hear(_sound(0.1, stage.adapter.hears))
        await call.session.interrupt()
    assert ended.expected, "we closed it: nobody has to connect again"
    assert len(call.of(SessionOpened)) == len(call.of(SessionEnded)) == 1, "a second end would be a second reconnection"
    assert call.told[-1] is ended, "nothing is told of a session that is over"


async def the_past_is_told_in_order(stage: Stage) -> None:
    past = (
        PastTurn(role="caller", text="A trip to Vienna."),
        PastTurn(role="agent", text="For how many?"),
        PastTurn(role="caller", text="Two."),
    )
    async with talk(stage, SessionSetup(instructions="Be brief.", past=past)) as call:
        held = await fence(stage, call)
    said = [turn for turn in held.said if turn[0] != "system"]
    assert said == [(turn.role, turn.text) for turn in past], "a new connection continues the conversation"
    assert held.answers == 0, "what was said before is not answered again"


async def a_call_is_told_once_under_its_own_id(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        call_id = await stage.call("book", '{"people": 2}')
        await stage.finish()
        ended = await call.until(ReplyEnded)
    (told,) = call.of(ToolCalled)
    assert (told.call_id, told.name) == (call_id, "book"), "the result is found by the id"
    assert told.arguments.replace(" ", "") == '{"people":2}', "arguments are the provider's"
    assert ended.outcome is ReplyOutcome.COMPLETED
    assert call.told.index(told) < call.told.index(ended), "a batch is run when its reply has ended"


async def a_repeated_call_id_is_dropped(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        call_id = await stage.call("look_up", "{}")
        await stage.call("look_up", "{}", call_id=call_id)
        await stage.finish()
        await call.until(ReplyEnded)
    assert [told.call_id for told in call.of(ToolCalled)] == [call_id], "the trip would be booked twice"


async def results_come_before_context_and_one_trigger_ends_a_batch(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        first = await stage.call("look_up", "{}")
        second = await stage.call("look_up", "{}")
        await stage.finish()
        await call.until(ReplyEnded)
        before = len(stage.held().order)
        await call.session.answer(_answers(first, second), snapshot=Snapshot(version=2, text="Two are known."))
        held = await until(stage, lambda held: held.answers == 1)
        await stage.say("There are two.", _sound(0.1, stage.adapter.speaks))
        await stage.finish()
        await call.until(ReplyEnded, 2)
        held = await fence(stage, call)
    assert held.results == ((first, f'{{"of": "{first}"}}'), (second, f'{{"of": "{second}"}}')), "each call its result"
    assert held.order[before:] == ("result", "result", "context", "trigger"), "the reply has to see the newest context"
    assert held.answers == 1, "each result with a trigger of its own makes the model speak twice"


async def one_snapshot_is_live_and_it_is_the_latest(stage: Stage) -> None:
    newest = Snapshot(version=4, text="Four.")
    async with talk(stage, _SETUP) as call:
        await call.session.refresh(Snapshot(version=2, text="Two."))
        await call.session.refresh(newest)
        await call.session.refresh(Snapshot(version=3, text="Three."))
        held = await until(stage, lambda held: snapshot_text(newest) in held.contexts)
        held = await fence(stage, call)
    assert held.contexts == (snapshot_text(newest),), "two snapshots contradict each other"


async def refreshing_makes_nobody_speak(stage: Stage) -> None:
    newest = Snapshot(version=3, text="Three.")
    async with talk(stage, _SETUP) as call:
        await call.session.refresh(Snapshot(version=2, text="Two."))
        await stage.say("One moment,", _sound(0.1, stage.adapter.speaks))
        await call.until(ReplyAudio)
        await call.session.refresh(newest)
        await stage.say("please.", _sound(0.1, stage.adapter.speaks))
        await stage.finish()
        ended = await call.until(ReplyEnded)
        await until(stage, lambda held: held.contexts == (snapshot_text(newest),))
        held = await fence(stage, call)
    assert ended.outcome is ReplyOutcome.COMPLETED, "a refresh interrupts nobody"
    assert held.answers == 0 and len(call.of(ReplyBegan)) == 1, "a refresh is silent"


async def words_put_in_are_answered_when_told_to(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await call.session.inject("It rains.", role="system", respond=False)
        held = await fence(stage, call)
        assert ("system", "It rains.") in held.said
        assert held.answers == 0, "words that need no answer get none, on every provider"
        await call.session.inject("Hello?", role="caller", respond=True)
        held = await until(stage, lambda held: held.answers == 1)
        assert ("caller", "Hello?") in held.said
        await stage.say("Yes?", _sound(0.1, stage.adapter.speaks))
        await stage.finish()
        ended = await call.until(ReplyEnded)
    assert ended.outcome is ReplyOutcome.COMPLETED


async def an_answer_waits_for_the_one_being_made(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await stage.say("It is noon", _sound(0.1, stage.adapter.speaks))
        await call.until(ReplyAudio)
        await call.session.inject("The report is there.", role="system", respond=True)
        await stage.say("in Vienna.", _sound(0.1, stage.adapter.speaks))
        await stage.finish()
        ended = await call.until(ReplyEnded)
        await until(stage, lambda held: held.answers == 1)
        await stage.say("The report is there.", _sound(0.1, stage.adapter.speaks))
        await stage.finish()
        await call.until(ReplyEnded, 2)
    assert ended.outcome is ReplyOutcome.COMPLETED, "what is being said is said to its end"
    assert not call.of(ProviderTrouble), "a second answer at once is refused"


async def voice_arrives_sample_for_sample(stage: Stage) -> None:
    extremes = np.array([0, 1, -1, 32_767, -32_768], np.int16)
    async with talk(stage, _SETUP) as call:
        await stage.say("Hello.", extremes)
        await stage.say("Hello again.", extremes[:4])
        await stage.finish()
        ended = await call.until(ReplyEnded)
        if ended.used is None:
            told = await call.until(TokensTold)
            assert told.reply == ended.reply, "calls have a price, turn by turn"
    heard = np.concatenate([told.samples for told in call.of(ReplyAudio)])
    assert heard.dtype == np.int16 and heard.tolist() == [*extremes.tolist(), *extremes[:4].tolist()]
    words = "".join(told.text for told in call.of(ReplyWords))
    assert "".join(words.split()) == "Hello.Helloagain.", "what is said is stored"
    (began,) = call.of(ReplyBegan)
    assert {told.reply for told in call.of(ReplyAudio)} == {began.reply} == {ended.reply}


async def the_caller_s_words_are_final_once(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await stage.hear_caller("I", "I need", "I need a trip.")
        await stage.say("Where to?", _sound(0.1, stage.adapter.speaks))
        await stage.finish()
        await call.until(ReplyEnded)
        while not any(told.final for told in call.of(CallerWords)):
            await call.until(CallerWords, len(call.of(CallerWords)) + 1)
    words = call.of(CallerWords)
    assert [told.text.strip() for told in words if told.final] == ["I need a trip."], "a turn is stored once"
    assert words[-1].final, "nothing comes after the final words"
    texts = [told.text for told in words]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts)), "all of it so far"
    assert len({told.item for told in words}) == 1, "one utterance, one item"


async def with_our_turn_detection_a_turn_is_what_lies_between(stage: Stage) -> None:
    setup = SessionSetup(instructions="Be brief.", turn_detection=TurnDetection.OURS)
    voice = _sound(0.5, stage.adapter.hears)
    async with talk(stage, setup) as call:
        await call.session.begin_speech()
        await call.session.hear(voice)
        await call.session.end_speech(respond=False)
        held = await fence(stage, call)
        assert held.answers == 0, "a cough is not answered"
        await call.session.begin_speech()
        for start in range(0, len(voice), 480):
            await call.session.hear(voice[start : start + 480])
        await call.session.end_speech()
        held = await until(stage, lambda held: held.answers == 1)
        await stage.say("Yes.", _sound(0.1, stage.adapter.speaks))
        await stage.finish()
        await call.until(ReplyEnded)
    assert held.heard[-len(voice) :].tolist() == voice.tolist(), "every sample of the turn, once"


async def interrupting_is_told_even_when_nothing_is_said(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await call.session.interrupt()
        told = await call.until(Interrupted)
        assert told.reply is None
        await fence(stage, call)
    assert not call.of(ProviderTrouble), "there was nothing to cancel, and that is no complaint"


async def nothing_of_a_void_answer_is_told(stage: Stage) -> None:
    sound = _sound(0.1, stage.adapter.speaks)
    async with talk(stage, _SETUP) as call:
        await stage.say("It is noon", sound)
        began = await call.until(ReplyBegan)
        await call.until(ReplyAudio)
        await call.session.interrupt()
        told = await call.until(Interrupted)
        await stage.say_late(sound)
        ended = await call.until(ReplyEnded)
        assert (told.reply, ended.reply, ended.outcome) == (began.reply, began.reply, ReplyOutcome.CANCELLED)
        await stage.say("Yes?", sound)
        await stage.finish()
        await call.until(ReplyEnded, 2)
    late = call.told[call.told.index(told) + 1 : call.told.index(ended)]
    assert not [event for event in late if isinstance(event, ReplyAudio | ReplyWords | ToolCalled)], "it is void"
    assert [event.reply for event in call.of(ReplyAudio)].count(began.reply) == 1, "late audio would be heard"
    assert call.of(ReplyEnded)[-1].outcome is ReplyOutcome.COMPLETED, "the next answer is another one"


async def the_caller_s_interruption_voids_the_answer(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await stage.say("It is noon", _sound(0.1, stage.adapter.speaks))
        await stage.call("book", '{"people": 2}')
        await call.until(ReplyAudio)
        await stage.interrupt()
        ended = await call.until(ReplyEnded)
    told = [event for event in call.of(Interrupted) if event.reply == ended.reply]
    assert len(told) == 1 and call.told.index(told[0]) < call.told.index(ended), "first what is void, then its end"
    assert ended.outcome is ReplyOutcome.CANCELLED
    assert not call.of(ToolCalled), "nothing is booked for who said stop"


async def truncating_is_clamped_to_what_there_was(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        for _ in range(2):
            await stage.say("It is noon.", _sound(0.2, stage.adapter.speaks))
            await stage.finish()
        await call.until(ReplyEnded, 2)
        first, second = (told.item for told in call.of(ReplyAudio)[:: len(call.of(ReplyAudio)) // 2][:2])
        await call.session.truncate(first, 9.0)
        await call.session.truncate("nothing", 0.1)
        await call.session.truncate(second, 0.1)
        held = await fence(stage, call)
    assert not call.of(ProviderTrouble), "truncating past the end is refused, and the agent falls silent"
    assert held.truncated == (((second, 0.1),) if stage.truncates else ()), "all of the first was heard"


async def what_the_provider_makes_up_is_passed_over(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await stage.babble()
        await stage.say("Hello.", _sound(0.1, stage.adapter.speaks))
        await stage.babble()
        await stage.finish()
        ended = await call.until(ReplyEnded)
        assert not call.of(SessionEnded), "a word we do not know ends no call"
    assert ended.outcome is ReplyOutcome.COMPLETED


async def an_abnormal_close_tells_code_and_reason(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await stage.say("It is", _sound(0.1, stage.adapter.speaks))
        await call.until(ReplyAudio)
        await stage.close(1011, "The server had an error.")
        ended = await call.until(SessionEnded)
    assert (ended.expected, ended.code, ended.retry) == (False, 1011, True), "another connection may fare better"
    assert "The server had an error." in ended.reason, "without the provider's words nobody can help"
    (reply,) = call.of(ReplyEnded)
    assert reply.outcome is ReplyOutcome.FAILED and call.told[-2:] == [reply, ended], "a reply that began has to end"
    assert len(call.of(SessionEnded)) == 1


async def a_refusal_is_not_worth_another_try(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await stage.close(1008, "You do not have access to this model.")
        ended = await call.until(SessionEnded)
    assert (ended.code, ended.retry) == (1008, False), "the key will not be better in a second"
    assert "You do not have access" in ended.reason


async def a_connection_that_breaks_off_ends_the_session(stage: Stage) -> None:
    async with talk(stage, _SETUP) as call:
        await stage.vanish()
        ended = await call.until(SessionEnded)
        await call.session.refresh(Snapshot(version=9, text="Nine."))
    assert (ended.expected, ended.retry) == (False, True)
    assert len(call.of(SessionEnded)) == 1


REALTIME: tuple[RealtimeCheck, ...] = (
    an_adapter_says_what_it_hears_and_speaks,
    opening_tells_instructions_tools_and_context,
    a_session_is_opened_once_and_ended_once,
    the_past_is_told_in_order,
    a_call_is_told_once_under_its_own_id,
    a_repeated_call_id_is_dropped,
    results_come_before_context_and_one_trigger_ends_a_batch,
    one_snapshot_is_live_and_it_is_the_latest,
    refreshing_makes_nobody_speak,
    words_put_in_are_answered_when_told_to,
    an_answer_waits_for_the_one_being_made,
    voice_arrives_sample_for_sample,
    the_caller_s_words_are_final_once,
    with_our_turn_detection_a_turn_is_what_lies_between,
    interrupting_is_told_even_when_nothing_is_said,
    nothing_of_a_void_answer_is_told,
    the_caller_s_interruption_voids_the_answer,
    truncating_is_clamped_to_what_there_was,
    what_the_provider_makes_up_is_passed_over,
    an_abnormal_close_tells_code_and_reason,
    a_refusal_is_not_worth_another_try,
    a_connection_that_breaks_off_ends_the_session,
)
"""Every check."""
