"""What a speech-to-speech model has to know: after every tool call, and when somebody changes it from outside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.concierge import create as concierge
from agents.concierge.bookings import BookingDesk
from agents.core.glove import Glove
from agents.forms.adapter import MemoryForms
from agents.forms.context import FormContext
from agents.forms.definition import Form
from agents.forms.effects import Patch
from agents.forms.field import ask
from agents.forms.mount import use_form_runner
from agents.forms.step import FormStep
from agents.models.driven import s2s_driven_model
from pipelines.audio.frame import Samples
from pipelines.audio.wav import read_wav
from pipelines.realtime.agent import RealtimePipeline
from tests.fixtures.catalogue import fixture
from tests.realtime.brisk import BriskClock
from tests.realtime.holding import Desk, hold
from tests.realtime.local_mind import LocalMind
from tests.realtime.mind import Mind, Result, ScriptedMind, Thought, View, Words, context_in, contexts, latest_context
from tests.realtime.standing_in import PROVIDERS, standing_in
from voice_server.transports.recorded import RecordedCaller, Recording

pytestmark = [pytest.mark.wire, pytest.mark.realtime]

PACE = 4.0


def now() -> datetime:
    return datetime.now().astimezone()


async def rendered(glove: Glove) -> str:
    """What the agent has to say for itself at this moment."""
    return "\n\n".join(message.text for message in await glove.render_context())


class WatchedMind:
    """A mind that compares, whenever it goes on after tool calls, what it was told with how things are.

    Attributes:
        compared: the snapshots it held, all of them, and what there was to know at that moment.
    """

    def __init__(self, mind: Mind, glove: Glove) -> None:
        self.compared: list[tuple[list[str], str]] = []
        self._mind = mind
        self._glove = glove

    async def transcribe(self, samples: Samples, view: View) -> str:
        return await self._mind.transcribe(samples, view)

    async def respond(self, view: View) -> AsyncIterator[Thought]:
        items = [item for item in view.items if not (isinstance(item, Words) and context_in(item.text))]
        if isinstance(items[-1], Result):
            told = sorted(contexts(view), key=lambda context: context.version)
            self.compared.append(([context.text for context in told], await rendered(self._glove)))
        async for thought in self._mind.respond(view):
            yield thought


@pytest.fixture(scope="module")
def ears() -> LocalMind:
    made = LocalMind(voiced=False)
    made.warm()
    return made


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_after_every_tool_call_the_provider_holds_what_is_true_then(
    provider: str, ears: LocalMind, tmp_path: Path
) -> None:
    glove = concierge(s2s_driven_model("whoever"), now=now, bookings=BookingDesk(tmp_path / "bookings.db"))
    mind = WatchedMind(ears, glove)
    clock = BriskClock(PACE)
    says = ("flights-for-two", "my-name-is-laura", "my-address")
    caller = RecordedCaller(clock, [Recording(frame=read_wav(fixture(name).path)) for name in says])
    async with standing_in(provider, mind) as stand_in:
        await hold(glove, stand_in.adapter, caller, clock)
        assert stand_in.refusals() == []
    assert len(mind.compared) == 8, "list, start, inspect, fill; and twice inspect, fill"
    for told, true in mind.compared:
        assert told[-1] == true
        assert len(told) == 1 or not stand_in.takes_back
    assert "[form: trip-booking]" in mind.compared[-1][1]
    assert len({true for _, true in mind.compared}) >= 4, "it did change"


class Visa(FormStep, title="Visa"):
    """Who wants one."""

    name: str = ask("Name", "What is your name?")
    passport: str = ask("Passport", "What is the number of your passport?")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_checkpoint_that_the_host_resolves_changes_what_is_known_and_no_word_is_said(provider: str) -> None:
    at_work = asyncio.Event()

    async def check(ctx: FormContext[None]) -> Patch:
        at_work.set()
        await asyncio.Event().wait()
        return Patch({})

    form = Form("visa", version=1, steps=[Visa], name="Visa", description="Apply for a visa.")
    form.checkpoint("check", when=lambda state: "name" in state.values, blocking=True, wait_message="We are checking.")(
        check
    )
    glove = Glove(model=s2s_driven_model("whoever"))
    forms = use_form_runner(glove, form, store=MemoryForms(), now=lambda: datetime.now(UTC)).runner
    clock = BriskClock(PACE)

    async with asyncio.TaskGroup() as group, standing_in(provider, ScriptedMind()) as stand_in:
        starting = group.create_task(forms.start("visa", {"name": "Laura"}))
        await at_work.wait()

        async def known() -> str:
            """Wait until the provider holds what is true, and give it."""
            true = await rendered(glove)
            for _ in range(100):
                context = latest_context(stand_in.view())
                if context is not None and context.text == true:
                    assert len(contexts(stand_in.view())) == 1 or not stand_in.takes_back
                    return true
                await clock.sleep(0.05)
            raise AssertionError(f"{true!r} is not known")

        async def settle(pipeline: RealtimePipeline) -> None:
            while not pipeline.idle:
                await clock.sleep(0.05)
            assert "We are checking." in await known()
            await forms.resolve_checkpoint("check", ok=True)
            await pipeline.refresh_context()
            assert "passport" in (await known()).lower()

        told = await hold(glove, stand_in.adapter, Desk(settle), clock)
        assert stand_in.refusals() == []
        starting.cancel()
    assert told == [], "nobody said anything"
