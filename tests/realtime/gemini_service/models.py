"""The models that the service has, and in what they differ."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MODELS", "Model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What a model takes, and how it says things."""

    versions: tuple[str, ...]
    """Of the API."""
    bidi: bool = True
    """Whether it is a model of the Live API."""
    takes_content: bool = True
    """Whether ``clientContent`` is taken at any time, and not as history only."""
    takes_behavior: bool = True
    """Whether tools may say whether they block."""
    waits_for_end: bool = False
    """Whether content without an end makes it wait for one, whatever the caller says then."""
    joins_parts: bool = True
    """Whether sound and its words come in one message."""


MODELS = {
    "models/gemini-3.8-live": Model(versions=("v1beta", "v1alpha")),
    "models/gemini-3.1-flash-live-preview": Model(
        versions=("v1beta", "v1alpha"), takes_content=False, takes_behavior=False
    ),
    "models/gemini-2.5-flash-native-audio-preview-12-2025": Model(
        versions=("v1alpha", "v1beta"), joins_parts=False, waits_for_end=True
    ),
    "models/gemini-live-of-alpha": Model(versions=("v1alpha",)),
    "models/gemini-3.8-flash": Model(versions=("v1beta", "v1alpha"), bidi=False),
}
