"""A dispatch: what a job's metadata asks of the agent, as whoever dispatches it writes it.

Above: ``worker`` reads it. Below: pydantic.
"""

from __future__ import annotations

import uuid
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError

from pipelines.turns.settings import TurnTaking
from voice_server.livekit.invitation import Invitation
from voice_server.livekit.ticket import NAME
from voice_server.loading import Wanted
from voice_server.settings import PipelineKind

__all__ = ["LARGEST_METADATA", "Dispatch", "DispatchError"]

LARGEST_METADATA = 16_000
"""Bytes; as a request that asks the agent into a room may have."""


class DispatchError(Exception):
    """Nobody can make anything of a job's metadata; the sentence says why, without what was in it."""


class Dispatch(BaseModel):
    """A job's metadata: a JSON object; all of it may be left out, and the metadata may be empty."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agent: str | None = Field(
        default=None, max_length=100, description="who answers, by a name of `VOICE_AGENTS`; none: the server's own"
    )
    inputs: dict[str, JsonValue] = Field(default_factory=dict, description="what that agent is told beforehand")
    conversation: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,128}$")] | None = Field(
        default=None, description="what to go on with; none: a new one"
    )
    listen_to: Annotated[str, StringConstraints(pattern=NAME)] | None = Field(
        default=None, description="the identity of who is talked to; none: the first caller who comes"
    )
    mode: TurnTaking | None = Field(default=None, description="who says where a turn ends; none: as the worker is set")
    pipeline: PipelineKind | None = Field(
        default=None, description="how speech becomes answers; none: as the worker is set"
    )

    @classmethod
    def read(cls, metadata: str) -> Dispatch:
        """Read a job's metadata.

        Raises:
            DispatchError: it is no such object.
        """
        if len(metadata.encode()) > LARGEST_METADATA:
            raise DispatchError(f"the job's metadata is longer than {LARGEST_METADATA:,} bytes")
        if not metadata.strip():
            return cls()
        try:
            return cls.model_validate_json(metadata)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg']}" for each in error.errors())
            raise DispatchError(f"the job's metadata is not what a dispatch says: {wrong[:500]}") from None

    def invitation(self, room: str, identity: str) -> Invitation:
        """Make an invitation of it.

        Args:
            room: the job's.
            identity: the agent's, in the room.
        """
        return Invitation(
            room=room,
            conversation=self.conversation or uuid.uuid4().hex,
            listen_to=self.listen_to,
            mode=self.mode,
            pipeline=self.pipeline,
            wanted=Wanted(agent=self.agent, inputs=self.inputs),
            identity=identity,
        )
