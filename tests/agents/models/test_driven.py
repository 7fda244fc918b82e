"""Tests of ``driven``: the place of a model in an agent that something else drives."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from agents.core.errors import ModelError
from agents.core.glove import Glove
from agents.models.driven import s2s_driven_model


@dataclass(frozen=True)
class Configured:
    label: str = "openai:gpt-realtime"


async def test_asking_it_fails_with_its_label_and_what_to_do() -> None:
    glove = Glove(model=s2s_driven_model("gemini:live"))
    with pytest.raises(ModelError, match=r"gemini:live.*realtime pipeline.*chat model"):
        await glove.process_request("Hello.")


def test_it_carries_the_configuration_it_was_made_with() -> None:
    configuration = Configured()
    model = s2s_driven_model(configuration)
    assert (model.name, model.driver) == ("openai:gpt-realtime", configuration)
    assert s2s_driven_model("gemini:live").driver is None
