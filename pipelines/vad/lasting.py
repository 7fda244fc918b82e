"""A voice activity that lasts: where its engine fails, loudness has to do.

Above: ``listener`` hears a call through it. Below: any engine, whatever it raises.
"""

from __future__ import annotations

from collections.abc import Callable

from pipelines.audio.frame import Samples
from pipelines.vad.base import VoiceActivity
from pipelines.vad.energy import EnergyStream

__all__ = ["LastingActivity"]


class LastingActivity:
    """One call's voice activity.

    Args:
        activity: the engine's; given up for the rest of the call when it fails.
        failed: told then, with what it raised. Its words may be anybody's.
    """

    def __init__(self, activity: VoiceActivity, failed: Callable[[Exception], None]) -> None:
        self._activity = activity
        self._failed = failed

    def feed(self, samples: Samples) -> tuple[list[float], int]:
        """Take the next samples: int16 mono at 16 kHz, any length.

        Returns:
            The probability of speech in each window that became complete, oldest first; and how many samples do not
            fill a window yet.
        """
        try:
            return _checked(self._activity.feed(samples)), self._activity.pending
        except Exception as error:  # noqa: BLE001 - an engine's boundary: whatever it raises, the call goes on
            self._give_up(error)
        return self._activity.feed(samples), self._activity.pending

    def reset(self) -> None:
        """Forget what was heard: a gap follows."""
        try:
            self._activity.reset()
        except Exception as error:  # noqa: BLE001 - an engine's boundary
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        # Somebody may be speaking just now, who is not to be taken for the noise around.
        self._activity = EnergyStream(floor=0.0)
        self._failed(error)


def _checked(probabilities: list[float]) -> list[float]:
    for probability in probabilities:
        if not 0.0 <= probability <= 1.0:
            raise ValueError(f"a probability of speech is between 0 and 1, not {probability!r}")
    return probabilities
