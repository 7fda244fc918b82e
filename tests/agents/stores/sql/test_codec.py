from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.errors import StoreError
from agents.core.messages import ContentPart, Message, ToolCall, ToolResult, ToolResultData
from agents.core.store import InboxItem
from agents.stores.sql.codec import KEY_LIMIT, Codec, as_key

MESSAGES = Codec(Message)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
CALLS = st.builds(ToolCall, id=TEXT, tool_name=TEXT, input_args=JSON)
OUTCOMES = st.builds(ToolResultData, status=st.just("error"), data=JSON, message=st.none() | TEXT, render_data=JSON)
RESULTS = st.builds(ToolResult, tool_name=TEXT, call_id=TEXT, result=OUTCOMES, duration_ms=st.floats(0, 1e6))
PARTS = st.builds(ContentPart, type=st.just("image"), data=st.none() | TEXT)


@given(
    st.builds(
        Message,
        sender=st.sampled_from(["user", "agent"]),
        text=TEXT,
        id=TEXT,
        content=st.tuples(PARTS),
        tool_calls=st.tuples(CALLS),
        tool_results=st.tuples(RESULTS),
        is_compaction=st.booleans(),
    )
)
def test_what_is_written_is_read_again(message: Message) -> None:
    assert MESSAGES.read(MESSAGES.write(message)) == message


@given(st.text(), JSON)
def test_any_text_is_written_as_what_every_database_takes(text: str, data: Any) -> None:
    calls = (ToolCall(id=text, tool_name="t", input_args={text: [data, text]}),)
    written = MESSAGES.write(Message(sender="agent", text=text, tool_calls=calls))
    assert "\0" not in written
    written.encode()
    assert len(MESSAGES.read(written).text) == len(text)


def test_half_a_pair_is_replaced_and_a_whole_one_stays() -> None:
    message = MESSAGES.read(MESSAGES.write(Message(sender="user", text="\ud83d half, \U0001f44b whole")))
    assert message.text == "\ufffd half, \U0001f44b whole"


def test_times_keep_their_zone() -> None:
    codec = Codec(InboxItem)
    item = InboxItem(id="1", tag="t", request="r", created_at=datetime(2026, 3, 3, 12, 0, 0, 123456, tzinfo=UTC))
    assert codec.read(codec.write(item)) == item


def test_what_is_no_json_is_refused() -> None:
    data = ToolResultData(status="success", data={"file": object()})
    result = ToolResult(tool_name="t", call_id="c", result=data)
    with pytest.raises(ValueError, match="this message cannot be stored"):
        MESSAGES.write(Message(sender="user", tool_results=(result,)))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sender": "nobody"}', '{"sender": "user", "content": [{}]}'])
def test_what_was_not_written_so_is_an_error_that_quotes_nothing(text: str) -> None:
    with pytest.raises(StoreError, match="a stored message cannot be read") as caught:
        MESSAGES.read(text)
    assert "nobody" not in str(caught.value)


@given(st.text(min_size=1), st.text(min_size=1))
def test_ids_become_short_printable_keys_of_their_own(one: str, other: str) -> None:
    assert len(as_key(one)) <= KEY_LIMIT and as_key(one).isprintable()
    assert (as_key(one) == as_key(other)) == (one == other)


def test_a_usual_id_is_its_own_key_and_an_unusual_one_its_hash() -> None:
    assert as_key("call_1") == "call_1"
    assert as_key("x" * KEY_LIMIT) == "x" * KEY_LIMIT
    for unusual in ("x" * (KEY_LIMIT + 1), "a\0b", "\ud83d", ""):
        assert as_key(unusual).startswith("sha256:")
