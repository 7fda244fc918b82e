"""The model of an agent whose turns a speech-to-speech model takes: it holds the place, and cannot be asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from agents.core.errors import ModelError
from agents.core.model import ModelEvent, ModelRequest

__all__ = ["DrivenModel", "Driver", "s2s_driven_model"]


class Driver(Protocol):
    """What says which speech-to-speech model takes the turns: a configuration of it."""

    @property
    def label(self) -> str:
        """What it is called in messages and reports."""
        ...


class DrivenModel:
    """Holds the place of a model in an agent that is talked to over a speech-to-speech model.

    Args:
        label: whose turns they are, for messages and reports.
        driver: the configuration, where the agent brings its own.
    """

    def __init__(self, label: str, driver: Driver | None = None) -> None:
        self.driver = driver
        self._label = label

    @property
    def name(self) -> str:
        """The label."""
        return self._label

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Refuse.

        Raises:
            ModelError: always.
        """
        nothing: tuple[ModelEvent, ...] = ()
        for event in nothing:  # This is a stream like every model's; it only never gives anything.
            yield event
        raise ModelError(
            self._label,
            "it drives this agent in calls on the realtime pipeline and cannot be asked by itself; call the agent, or "
            "give it a chat model",
        )


def s2s_driven_model(driver: str | Driver) -> DrivenModel:
    """Make the model of an agent that a speech-to-speech model drives, for ``Glove(model=…)``.

    Args:
        driver: a configuration as ``pipelines.realtime.providers.S2SConfig``, with which calls are then held; or only
            a label, where calls are held as the environment says.
    """
    if isinstance(driver, str):
        return DrivenModel(driver)
    return DrivenModel(driver.label, driver)
