"""Gating: who decides what of the caller's line is the caller's.

Above: ``cascade`` hears and takes turns by it. Below: the settings of the detector and of turn-taking, of which it is
made.
"""

from __future__ import annotations

import math
from dataclasses import replace
from enum import StrEnum

from pipelines.turns.guards import PhantomRule
from pipelines.turns.settings import TurnSettings
from pipelines.vad.detector import DetectorSettings

__all__ = ["Gating"]


class Gating(StrEnum):
    """What the recogniser gets of the sounds on a line, and who decides whose words they are.

    Our recognisers read segments, which begin and end where the detector says. So what it takes for silence reaches
    them in none of the three: whoever is too quiet for it is heard with a lower ``DetectorSettings.entry``.

    ================================  =======================  ======================  ======================
    a sound                           hard                     soft                    off
    ================================  =======================  ======================  ======================
    is given to the recogniser        when 0.25 s of it were   with its first window,  with its first window,
                                      speech, 0.15 s while a   however short it is     however short it is
                                      question is open
    is dropped unread                 when it is shorter       never                   never
    read as what recognisers invent,  no turn                  no turn                 a turn
    with little voice in it
    much softer than the caller       no turn                  no turn                 a turn
    the agent's own words             no turn                  no turn                 no turn
    a word over the agent             by the words             by the words            by the words
    ================================  =======================  ======================  ======================
    """

    HARD = "hard"
    """The detector decides what is read, and the guards whose words it is."""
    SOFT = "soft"
    """Everything is read, a click as well, and the guards decide alone. No "no" is too short, and an engine that writes
    from the first sound on writes up to 0.25 s earlier; each click costs a decode."""
    OFF = "off"
    """Everything is read and believed: for a line on which there is nothing but the caller, a headset say."""

    def detector(self, settings: DetectorSettings) -> DetectorSettings:
        """How long a sound has to last before it is read."""
        return settings if self is Gating.HARD else replace(settings, confirm_s=0.0, confirm_asked_s=0.0)

    def turns(self, settings: TurnSettings) -> TurnSettings:
        """By which rules words are a turn."""
        return settings if self is not Gating.OFF else replace(settings, phantom=_BELIEVING, far_field_ratio=0.0)


_BELIEVING = PhantomRule(canned=frozenset(), credits=frozenset(), words_per_s=math.inf)
"""Takes everything that has a word in it."""
