"""Anthropic's models, and whoever else serves the Messages wire, by Anthropic's SDK."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from agents.core.errors import ConfigurationError, ModelError
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, UsageTold
from agents.models import failure
from agents.models.anthropic_wire import EventReader, write_body
from agents.models.first_call import prepare

if TYPE_CHECKING:
    from anthropic import AsyncStream
    from anthropic.types import RawMessageStreamEvent

__all__ = ["AnthropicModel"]

CONNECT_TIMEOUT_S = 5.0
"""How long connecting may take: longer than a slow handshake, short enough to apologise in time."""

SILENCE_TIMEOUT_S = 30.0
"""How long the server may send nothing; it pings while a model thinks."""

MAX_TOKENS = 4096
"""Tokens a response may have, which the wire wants to be told: far beyond anything that is spoken, and allowed by every
model. Thinking counts too."""

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The statuses that errors stand for when they come in mid-stream, under a 200."""


class AnthropicModel:
    """A model served over the Messages wire, streaming.

    Args:
        model: what the server calls it.
        provider: whose server, for names and messages.
        base_url: where the server is, without ``/v1``.
        api_key: the key.
        options: further fields of every request, such as ``{"max_tokens": 1024, "thinking": {"type": "adaptive"}}``.
        connect_timeout_s: bounds connecting, in seconds.
        silence_timeout_s: bounds every wait for more of the response, in seconds.
    """

    def __init__(
        self,
        model: str,
        *,
        provider: str,
        base_url: str,
        api_key: str,
        options: Mapping[str, Any] | None = None,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
    ) -> None:
        # Importing the SDK takes over a second: here, at start-up, and not in the middle of a call.
        try:
            from anthropic import AsyncAnthropic, Timeout, types
        except ImportError as exc:
            raise ConfigurationError("the package 'anthropic' is missing; install it: pip install anthropic") from exc
        self._model = model
        self._provider = provider
        self._options = {"max_tokens": MAX_TOKENS, **(options or {})}
        self._client = AsyncAnthropic(
            api_key=api_key,
            base_url=base_url,
            timeout=Timeout(silence_timeout_s, connect=connect_timeout_s),
            max_retries=0,  # A caller is waiting: whether to try again is not the wire's decision.
        )
        # The SDK's many overloads want its own types; the body is the wire's shape, and a strict server tests it.
        self._create: Any = self._client.messages.create
        prepare(
            types.RawMessageStartEvent,
            types.RawContentBlockStartEvent,
            types.RawContentBlockDeltaEvent,
            types.RawContentBlockStopEvent,
            types.RawMessageDeltaEvent,
            types.RawMessageStopEvent,
        )

    @property
    def name(self) -> str:
        """``provider:model``."""
        return f"{self._provider}:{self._model}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer; leaving the generator closes the connection, which stops the generation.

        Raises:
            ModelError: the server is unreachable, refuses, breaks off, stays silent or ends without a word.
        """
        from anthropic import AnthropicError
        from httpx2 import TransportError

        reader = EventReader(model=self._model)
        said = False
        body = write_body(request, model=self._model)
        try:
            response: AsyncStream[RawMessageStreamEvent] = await self._create(
                **body, model=self._model, stream=True, max_tokens=MAX_TOKENS, extra_body=self._options
            )
            async with response:
                async for event in response:
                    for passed in reader.feed(event.to_dict(warnings=False)):
                        said = said or not isinstance(passed, UsageTold)
                        yield passed
        except (AnthropicError, TransportError) as exc:  # The SDK passes on what breaks a stream that has begun.
            raise self._error(exc) from exc
        except failure.UNREADABLE as exc:
            raise failure.unreadable(self.name) from exc
        if reader.stop_reason is None:
            raise failure.broken_off(self.name)
        for passed in reader.finish():
            if isinstance(passed, ModelFinished):
                failure.check_said(self.name, passed, said=said)
            said = True
            yield passed

    async def aclose(self) -> None:
        """Close the connections. The model cannot be used afterwards."""
        await self._client.close()

    def _error(self, error: Exception) -> ModelError:
        from anthropic import APIConnectionError, APIStatusError, APITimeoutError
        from httpx2 import TimeoutException, TransportError

        match error:
            case APIStatusError(status_code=status, response=response):
                known = _STATUSES.get(error.type or "", 500) if status < 400 else status
                return failure.refused(self.name, known, response.headers)
            case APITimeoutError() | TimeoutException():
                return failure.timed_out(self.name)
            case APIConnectionError():
                return failure.not_reached(self.name, self._client.base_url)
            case TransportError():
                return failure.broken_off(self.name)
            case _:
                return ModelError(self.name, f"the client failed: {type(error).__name__}")
