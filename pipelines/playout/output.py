"""Where a call's voice goes: a transport or an avatar, as the player's driver sees it."""

from __future__ import annotations

from typing import Protocol

from pipelines.audio.frame import Samples

__all__ = ["AudioOutput", "Report"]


class Report(Protocol):
    """Takes an output's word for what it played. Called on the call's loop."""

    def __call__(self, epoch: int, played_s: float, *, final: bool = False) -> None:
        """Report.

        Args:
            epoch: of which epoch.
            played_s: seconds of that epoch's audio that were really played.
            final: whether nothing more of that epoch will be played.
        """
        ...


class AudioOutput(Protocol):
    """Something that plays what it is given, in order, as soon as it can. Its methods return at once.

    One that raises cuts what is being said, which is told as trouble; the next utterance tries it again. Reports may
    come late or never, or make no sense: they prove what they can, and an end that is never proven is believed.
    """

    rate: int
    """Hertz of the samples it takes."""
    can_pause: bool
    """Whether ``pause`` stops at a sample and ``unpause`` goes on there; if not, neither is ever called."""

    def attach(self, report: Report) -> None:
        """Say where reports go; before anything is played."""
        ...

    def play(self, epoch: int, samples: Samples) -> None:
        """Queue samples (int16 mono) of an epoch; samples of an epoch older than the last clear are dropped."""
        ...

    def pause(self) -> None:
        """Fall silent now and keep the rest."""
        ...

    def unpause(self) -> None:
        """Go on."""
        ...

    def clear(self, epoch: int) -> None:
        """Drop everything older than ``epoch`` that was not played yet, and report what was; a pause goes on."""
        ...

    async def aclose(self) -> None:
        """Stop for good. Idempotent."""
        ...
