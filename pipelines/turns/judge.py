"""The judge: whether a sound over the agent is a reason to stop, and whether the words in a sound are a turn.

Above: the turn machine asks, whenever more is known of a sound. Below: ``interruption`` and ``guards``; the loudness of
the caller is remembered here.
"""

from __future__ import annotations

from pipelines.turns.events import Cause, NoteKind
from pipelines.turns.guards import NearField, VoiceEvidence
from pipelines.turns.segment import Fate, Over, Segment
from pipelines.turns.settings import TurnSettings
from pipelines.turns.words import words

__all__ = ["Judge"]


class Judge:
    """Judges one caller's sounds.

    Args:
        settings: by which rules.
    """

    def __init__(self, settings: TurnSettings) -> None:
        self._settings = settings
        self._near = NearField(settings.far_field_ratio)

    def cause(self, segment: Segment, *, asked: bool) -> Cause | None:
        """Why a sound stops the line it was made over; ``None`` while it is no reason to.

        Args:
            segment: the sound; one made over nothing stops nothing.
            asked: whether a question is open.
        """
        if (line := segment.line) is None:
            return None
        return self._settings.interruption.cause(
            segment.text,
            segment.voiced_s,
            audible=line.audible and not line.caught_up,
            asked=asked,
            spoken=line.text,
            heard_end=line.heard_end,
        )

    def sounds_far(self, segment: Segment) -> bool:
        """Whether a sound that goes on is far, as far as it can be told already."""
        return segment.voiced_s >= self._settings.far_after_s and self._is_far(segment)

    def no_turn(self, segment: Segment, now: float) -> NoteKind | None:
        """Why a segment's final text is no turn; ``None`` when it is one. To be asked once of each."""
        if segment.fate is Fate.FAR or (segment.fate is Fate.UNDECIDED and self._is_far(segment)):
            self._near.judge(segment.level, now)
            return NoteKind.FAR_FIELD
        if not words(segment.text):
            if segment.pressed:
                return NoteKind.NOTHING_SAID
            long = segment.voiced_s >= self._settings.interruption.wordless_s
            return NoteKind.UNRECOGNISED if long else NoteKind.NOISE
        # A button is better evidence of a voice than a detector: all that is asked is whether so much can be said so
        # fast.
        sureness = 1.0 if segment.pressed else segment.sureness
        evidence = VoiceEvidence(voiced_s=segment.voiced_s, peak_probability=sureness)
        if self._settings.phantom.judge(segment.text, evidence) is not None:
            return NoteKind.PHANTOM
        if segment.line is not None and not self._settings.interruption.without_echo(
            segment.text, segment.line.text, segment.line.heard_end
        ):
            return NoteKind.ECHO
        if segment.over is Over.SPEECH and segment.fate is Fate.UNDECIDED:
            said = self._settings.interruption.acknowledges(segment.text)
            return NoteKind.BACKCHANNEL if said else NoteKind.ASIDE
        return None

    def accept(self, segment: Segment, now: float) -> None:
        """Take the sound for the caller's: others are compared with it from now on."""
        self._near.observe(segment.level, now)

    def _is_far(self, segment: Segment) -> bool:
        # By the caller's level when it began: people who talk on for long do not come nearer by that.
        return self._near.is_far(segment.level, segment.started_at)
