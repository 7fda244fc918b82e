from __future__ import annotations

import pytest

from agents.core.errors import ConfigurationError
from agents.core.glove import Glove
from agents.core.model import close_model
from agents.models.anthropic import AnthropicModel
from agents.models.openai_compat import OpenAICompatible
from agents.models.providers import PROVIDERS, create_model
from tests.agents.core.scenes import echo
from tests.agents.models.completions_server import call, completions_server, text
from tests.agents.models.wire_server import Answer


def test_offline_needs_nothing() -> None:
    assert create_model("offline", {}).name == "offline"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gpt-4.1", r"no model 'gpt-4.1'; the models are offline, openai:MODEL"),
        ("", "no model ''"),
        ("scripted", "no model 'scripted'"),
        ("opnai:gpt-4.1", "no model 'opnai:gpt-4.1'"),
        ("openai", r"does not say which model; write for example 'openai:gpt-4.1-mini'"),
        ("openai:gpt-4.1-mini", "needs a key; set OPENAI_API_KEY"),
        ("openrouter:x/y", "needs a key; set OPENROUTER_API_KEY"),
    ],
)
def test_what_cannot_be_made_is_named_with_the_fix(spec: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        create_model(spec, {})


@pytest.mark.parametrize("name", PROVIDERS)
async def test_every_provider_of_the_table_makes_a_model(name: str) -> None:
    variable = PROVIDERS[name].key_variable
    model = create_model(f"{name}:some/model:8b", {variable: "k"} if variable else {})
    assert isinstance(model, AnthropicModel if name == "anthropic" else OpenAICompatible)
    assert model.name == f"{name}:some/model:8b"
    await close_model(model)


async def test_what_the_table_knows_of_a_service_reaches_its_wire() -> None:
    thought = Answer(chunks=[{"reasoning": "Let me think."}, call(0, id="a", name="echo", arguments="{}")])
    async with completions_server(thought, Answer(chunks=[text("Done.")]), wants="reasoning") as server:
        model = create_model("ollama:m", {"OLLAMA_BASE_URL": server.url})
        await Glove(model=model).fold(echo()).process_request("Hello")
        await close_model(model)
        assert server.complaints == []
    assert server.bodies[1]["messages"][1]["reasoning"] == "Let me think."
