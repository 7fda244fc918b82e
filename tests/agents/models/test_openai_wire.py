from __future__ import annotations

from typing import Any

import pytest

from agents.core.messages import ContentPart, Message, ToolResultData, Usage
from agents.core.model import ModelFinished, ModelRequest, TextChunk, ToolSpec, UsageTold
from agents.models.openai_wire import ChunkReader, write_messages, write_tools
from agents.models.wording import result_text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResultData(status="success", data="as it is"), "as it is"),
        (ToolResultData(status="success", data={"say": "Grüß"}), '{"say": "Grüß"}'),
        (ToolResultData(status="success", data=None), "null"),
        (ToolResultData(status="success", data=1, render_data="secret"), "1"),
        (ToolResultData(status="error", message="no"), "Error: no"),
        (ToolResultData(status="error", message="no", data="more"), "Error: no\nmore"),
        (ToolResultData(status="error", message="no", data=[1]), "Error: no\n[1]"),
        (ToolResultData(status="aborted", message="stopped"), "Aborted: stopped"),
    ],
)
def test_a_result_is_written_as_text(result: ToolResultData, text: str) -> None:
    assert result_text(result) == text


def test_what_the_framework_says_is_marked_as_not_the_callers() -> None:
    messages = (
        Message(sender="user", text="Hello"),
        Message(sender="user", text="It rains.", framework_context="runtime"),
    )
    spoken, told = write_messages(ModelRequest(system_prompt="", messages=messages))
    assert spoken["content"] == "Hello"
    assert told["content"].startswith("[") and told["content"].endswith("It rains.")


def test_pictures_go_as_parts() -> None:
    picture = ContentPart(type="image", media_type="image/jpeg", data="QUJD")
    message = Message(
        sender="user", text="What is this?", content=(picture, ContentPart(type="document", name="a.pdf"))
    )
    (written,) = write_messages(ModelRequest(system_prompt="", messages=(message,)))
    assert written["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QUJD"}},
        {"type": "text", "text": "[document a.pdf]"},
    ]


def test_examples_are_shown_in_the_description_a_few_only() -> None:
    spec = ToolSpec(name="t", description="Tells.", input_schema={"type": "object"}, examples=("a", "b", "c", "d"))
    (written,) = write_tools([spec])
    assert written["function"]["description"] == 'Tells. A caller may say: "a"; "b"; "c".'


@pytest.mark.parametrize("chunk", [{}, {"choices": None}, {"choices": []}, {"choices": [{"delta": None}]}])
def test_chunks_without_content_say_nothing(chunk: dict[str, Any]) -> None:
    assert ChunkReader().feed(chunk) == []


def test_a_service_that_counts_as_it_goes_is_believed_before_the_end() -> None:
    reader, usage = ChunkReader(), {"prompt_tokens": 5, "completion_tokens": 1}
    going = {"choices": [{"delta": {"content": "One"}, "finish_reason": None}], "usage": usage}
    assert reader.feed(going) == [UsageTold(usage=Usage(tokens_in=5, tokens_out=1)), TextChunk(text="One")]
    assert reader.feed({"choices": [{"delta": {}, "finish_reason": "stop"}]}) == []
    assert reader.feed({"choices": [], "usage": {**usage, "completion_tokens": 2}}) == []
    (finished,) = reader.finish()
    assert isinstance(finished, ModelFinished) and finished.usage == Usage(tokens_in=5, tokens_out=2)
