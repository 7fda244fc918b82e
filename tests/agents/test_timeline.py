from __future__ import annotations

from agents.core.messages import Message, ToolCall, ToolResult, ToolResultData
from agents.core.results import STILL_RUNNING
from agents.core.tools import Tool
from agents.models.openai_wire import write_messages
from agents.models.scripted import ScriptedCall
from agents.timeline import AgentText, ToolEntry, UserText, timeline
from tests.agents.core.scenes import Anything, talking


async def test_history_is_rendered_from_what_tools_gave_for_the_screen_and_the_model_never_sees() -> None:
    made = ToolResultData(status="success", data={"seats": 2}, render_data={"map": "secret"})
    tool = Tool(name="seats", description="", input=Anything, do=lambda given, ctx: made)
    glove, model = talking(["Let me see.", ScriptedCall(name="seats", input={"word": "x"})], "Two.", tools=(tool,))
    glove.add_context_provider(lambda signal: "It rains.")
    request = glove.begin("Any seats?")
    await request.run()
    await request.settle("Let me see.Tw", interrupted=True)
    messages = await glove.store.get_messages()
    asked, called, _, answered = (message.id for message in messages)
    assert timeline(messages, await glove.store.get_settlements()) == [
        UserText(message_id=asked, text="Any seats?"),
        AgentText(message_id=called, text="Let me see.", heard="Let me see."),
        ToolEntry(
            id="call_1",
            message_id=called,
            name="seats",
            input={"word": "x"},
            status="success",
            output={"seats": 2},
            render_data={"map": "secret"},
        ),
        AgentText(message_id=answered, text="Two.", heard="Tw", interrupted=True),
    ]
    assert "secret" not in str(write_messages(model.requests[1]))


def test_a_call_runs_until_its_late_result_is_there() -> None:
    def results(data: str, **options: str) -> Message:
        result = ToolResult(tool_name="t", call_id="c", result=ToolResultData(status="success", data=data))
        return Message(sender="user", tool_results=(result,), **options)  # type: ignore[arg-type]

    call = Message(sender="agent", tool_calls=(ToolCall(id="c", tool_name="t", input_args={}),))
    running = [call, results(STILL_RUNNING)]
    late = [*running, Message(sender="user", text="?"), results("done", framework_context="tool_result")]
    states = [[e.status for e in timeline(m) if isinstance(e, ToolEntry)] for m in ([call], running, late)]
    assert states == [["running"], ["running"], ["success"]]
