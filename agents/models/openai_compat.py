"""Models behind the chat-completions wire: OpenAI's own, and every server that speaks it (Ollama, LM Studio, …)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from agents.core.errors import ConfigurationError, ModelError
from agents.core.model import ModelEvent, ModelRequest
from agents.models.openai_wire import ChunkReader, write_messages, write_tools

if TYPE_CHECKING:
    from openai import AsyncStream
    from openai.types.chat import ChatCompletionChunk

__all__ = ["OpenAICompatible"]

CONNECT_TIMEOUT_S = 5.0
"""How long connecting may take: longer than a slow handshake, short enough to apologise in time."""

SILENCE_TIMEOUT_S = 30.0
"""How long the server may send nothing: a local model that must be loaded first needs most of it."""

_REASONS = {
    400: "the request was not understood (400); the model may lack tool calls or streaming",
    401: "the key was refused (401); check it",
    403: "the key may not use this model (403)",
    404: "there is no such model at this server (404); check its name",
    408: "the server gave up waiting (408)",
    413: "the conversation is too long for this model (413)",
    429: "too many requests, or no credit left (429)",
}


class OpenAICompatible:
    """A model served over chat completions, streaming, by OpenAI's SDK.

    Args:
        model: what the server calls it.
        provider: whose server, for names and messages.
        base_url: where the server is, up to ``/v1``.
        api_key: the key; servers without keys take anything.
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
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
    ) -> None:
        # Importing the SDK takes over a second: here, at start-up, and not in the middle of a call.
        try:
            from openai import AsyncOpenAI, Timeout
        except ImportError as exc:
            raise ConfigurationError("the package 'openai' is missing; install it: pip install openai") from exc
        self._model = model
        self._provider = provider
        self._client = AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            timeout=Timeout(silence_timeout_s, connect=connect_timeout_s),
            max_retries=0,  # A caller is waiting: whether to try again is not the wire's decision.
        )

    @property
    def name(self) -> str:
        """``provider:model``."""
        return f"{self._provider}:{self._model}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer; leaving the generator closes the connection, which stops the generation.

        Raises:
            ModelError: the server is unreachable, refuses, breaks off or stays silent.
        """
        from openai import OpenAIError

        body: dict[str, Any] = {"model": self._model, "messages": write_messages(request)}
        if request.tools:
            body["tools"] = write_tools(request.tools)
        # The SDK's many overloads want its own types; the body is the wire's shape, and a strict server tests it.
        create: Any = self._client.chat.completions.create
        reader = ChunkReader()
        try:
            response: AsyncStream[ChatCompletionChunk] = await create(
                **body, stream=True, stream_options={"include_usage": True}
            )
            async with response:
                async for chunk in response:
                    for event in reader.feed(chunk.model_dump()):
                        yield event
        except OpenAIError as exc:
            raise self._error(exc) from exc
        except ValueError as exc:
            raise ModelError(self.name, "the server sent something that is no JSON", retryable=True) from exc
        if reader.stop_reason is None:
            raise ModelError(self.name, "the server broke off in the middle of a response", retryable=True)
        for event in reader.finish():
            yield event

    async def aclose(self) -> None:
        """Close the connections. The model cannot be used afterwards."""
        await self._client.close()

    def _error(self, error: Exception) -> ModelError:
        """Say what was wrong, without the server's own text: it may quote the key or the conversation."""
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        match error:
            case APIStatusError(status_code=status):
                broken = f"the server failed ({status})" if status >= 500 else f"the server refused ({status})"
                retryable = status >= 500 or status in (408, 429)
                return ModelError(self.name, _REASONS.get(status, broken), status=status, retryable=retryable)
            case APITimeoutError():
                return ModelError(self.name, "the server did not answer in time", retryable=True)
            case APIConnectionError():
                where = self._client.base_url
                reason = f"the connection to {where} failed; is the server running, and is the address right?"
                return ModelError(self.name, reason, retryable=True)
            case _:
                return ModelError(self.name, f"the client failed: {type(error).__name__}")
