"""Environments for the peers: made once by uv, from exact versions, in the user's cache."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LIVEKIT_AGENTS", "PIPECAT", "EnvironmentMissingError", "Peer"]

_LIMIT_S = 600
"""Seconds uv may take: half a gigabyte over a slow line."""


class EnvironmentMissingError(Exception):
    """A peer's packages cannot be had. The message is one sentence with the fix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Somebody we measure ourselves against."""

    name: str
    module: str
    """Of this package: what its interpreter runs."""
    requirements: tuple[str, ...]
    imports: tuple[str, ...]
    """What a server built on it imports at least."""

    @property
    def interpreter(self) -> Path:
        """Its Python; whether or not it is there yet."""
        return self._folder / "bin" / "python"

    @property
    def ready(self) -> bool:
        """Whether its environment is whole."""
        return (self._folder / "ready").exists()

    def prepare(self) -> None:
        """Make its environment, unless that was done: some ten seconds, 250 to 400 MB.

        Raises:
            EnvironmentMissingError: uv or the packages cannot be had.
        """
        if self.ready:
            return
        self._uv("venv", "--quiet", "--clear", "--python", sys.executable, str(self._folder))
        self._uv("pip", "install", "--quiet", "--python", str(self.interpreter), *self.requirements)
        (self._folder / "ready").touch()

    @property
    def _folder(self) -> Path:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        version = self.requirements[0].partition("==")[2]
        python = f"py{sys.version_info.major}.{sys.version_info.minor}"
        return cache / "glove-voice" / "bench" / f"{self.module}-{version}-{python}"

    def _uv(self, *arguments: str) -> None:
        command: Sequence[str] = (str(Path(sys.executable).with_name("uv")), *arguments)
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_LIMIT_S)
        except FileNotFoundError as error:
            raise EnvironmentMissingError(
                f"{self.name} needs an environment of its own and {command[0]} is missing; run `make setup`"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise EnvironmentMissingError(
                f"{self.name} could not be installed within {_LIMIT_S} s; try again on a faster line"
            ) from error
        except subprocess.CalledProcessError as error:
            said = (error.stderr.strip().splitlines() or ["no reason given"])[-1].strip()
            raise EnvironmentMissingError(
                f"{self.name} ({', '.join(self.requirements)}) cannot be installed: {said}; "
                "it takes a package index that serves it"
            ) from error


LIVEKIT_AGENTS = Peer(
    name="LiveKit Agents",
    module="livekit_agents",
    requirements=("livekit-agents==1.8.9", "livekit-plugins-silero==1.8.9"),
    imports=("livekit.agents",),
)

PIPECAT = Peer(
    name="Pipecat",
    module="pipecat",
    requirements=("pipecat-ai[silero]==1.14.0",),
    imports=(
        "pipecat.pipeline.worker",
        "pipecat.workers.runner",
        "pipecat.processors.aggregators.llm_response_universal",
        "pipecat.transports.base_output",
    ),
)
