"""A call answered by a language model over its real wire, to a local server."""

from __future__ import annotations

import pytest

from pipelines.trace import Trace
from tests.agents.models.completions_server import CompletionsServer
from tests.agents.models.messages_server import MessagesServer
from tests.agents.models.wire_server import WireServer, listening_aside
from tests.agents.models.wires import WIRES, Ask, Say
from tests.fixtures.catalogue import fixture
from voice_server.house import House
from voice_server.options import OutputKind, RecordedTurn, TurnOptions
from voice_server.settings import Settings
from voice_server.turn import run

pytestmark = [pytest.mark.engine, pytest.mark.e2e, pytest.mark.wire]


@pytest.mark.parametrize(
    ("provider", "wire", "server", "path"),
    [("anthropic", "anthropic", MessagesServer, ""), ("ollama", "openai", CompletionsServer, "/v1")],
)
def test_a_call_is_answered_over_the_wire_and_leaves_no_connection_behind(
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    wire: str,
    server: type[WireServer],
    path: str,
) -> None:
    answers = [
        WIRES[wire].answer(Say(pieces=("One ", "moment. ")), Ask(id="a", name="tell_time"), end="tool_calls"),
        WIRES[wire].answer(Say(pieces=("It is late.",))),
    ]
    with listening_aside(server(answers=answers)) as service:
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", service.url + path)
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sk-secret")
        options = TurnOptions(
            recordings=(RecordedTurn(path=fixture("what-time-is-it").path, after_s=None),),
            settings=Settings(agent="agents.desk:create", model=f"{provider}:m"),
            output=OutputKind.PAUSING,
            expects=None,
        )
        (turn,) = run(options, Trace(), house).turns
        assert service.complaints == []
        assert service.left.wait(5)
    assert turn.heard == "One moment. It is late."
    assert [(tool.name, tool.status) for tool in turn.tools] == [("tell_time", "success")]
    assert "what time is it" in WIRES[wire].outline(service.bodies[0])[-1].lower()
