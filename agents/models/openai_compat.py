"""Models behind the chat-completions wire: OpenAI's own, and every server that speaks it (Ollama, LM Studio, …)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from agents.core.errors import ConfigurationError, ModelError
from agents.core.model import ModelEvent, ModelFinished, ModelRequest, UsageTold
from agents.models import failure
from agents.models.first_call import prepare
from agents.models.openai_wire import ChunkReader, Dialect, ThoughtsField, write_messages, write_tools

if TYPE_CHECKING:
    from openai import AsyncStream
    from openai.types.chat import ChatCompletionChunk

__all__ = ["OpenAICompatible"]

CONNECT_TIMEOUT_S = 5.0
"""How long connecting may take: longer than a slow handshake, short enough to apologise in time."""

SILENCE_TIMEOUT_S = 30.0
"""How long the server may send nothing: a local model that must be loaded first needs most of it."""


class OpenAICompatible:
    """A model served over chat completions, streaming, by OpenAI's SDK.

    Args:
        model: what the server calls it.
        provider: whose server, for names and messages.
        base_url: where the server is, up to ``/v1``.
        api_key: the key; servers without keys take anything.
        thoughts: the field in which the server wants a model's thoughts back with its calls; not at all by default.
        options: further fields of every request, such as ``{"reasoning_effort": "low", "temperature": 0.2}``.
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
        thoughts: ThoughtsField | None = None,
        options: Mapping[str, Any] | None = None,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
    ) -> None:
        # Importing the SDK takes over a second: here, at start-up, and not in the middle of a call.
        try:
            from openai import AsyncOpenAI, Timeout
            from openai.types.chat import ChatCompletionChunk, chat_completion_chunk
        except ImportError as exc:
            raise ConfigurationError("the package 'openai' is missing; install it: pip install openai") from exc
        self._dialect = Dialect(provider=provider, model=model, thoughts=thoughts)
        self._options = dict(options or {})
        self._client = AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            timeout=Timeout(silence_timeout_s, connect=connect_timeout_s),
            max_retries=0,  # A caller is waiting: whether to try again is not the wire's decision.
        )
        # The SDK's many overloads want its own types; the body is the wire's shape, and a strict server tests it.
        self._create: Any = self._client.chat.completions.create
        prepare(ChatCompletionChunk, chat_completion_chunk.Choice, chat_completion_chunk.ChoiceDelta)

    @property
    def name(self) -> str:
        """``provider:model``."""
        return f"{self._dialect.provider}:{self._dialect.model}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer; leaving the generator closes the connection, which stops the generation.

        Raises:
            ModelError: the server is unreachable, refuses, breaks off, stays silent or ends without a word.
        """
        from openai import OpenAIError

        body: dict[str, Any] = {"model": self._dialect.model, "messages": write_messages(request, self._dialect)}
        if request.tools:
            body["tools"] = write_tools(request.tools)
        reader = ChunkReader(self._dialect)
        said = False
        try:
            response: AsyncStream[ChatCompletionChunk] = await self._create(
                **body, stream=True, stream_options={"include_usage": True}, extra_body=self._options
            )
            async with response:
                async for chunk in response:
                    for passed in reader.feed(chunk.model_dump(warnings=False)):
                        said = said or not isinstance(passed, UsageTold)
                        yield passed
        except OpenAIError as exc:
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
        from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

        match error:
            case APIStatusError(status_code=status, response=response):
                return failure.refused(self.name, status, response.headers)
            case APITimeoutError():
                return failure.timed_out(self.name)
            case APIConnectionError():
                return failure.not_reached(self.name, self._client.base_url)
            case APIError(body={"code": int(status)}):  # OpenRouter's, in mid-stream.
                return failure.refused(self.name, status)
            case APIError():
                return failure.broken_off(self.name)
            case _:
                return ModelError(self.name, f"the client failed: {type(error).__name__}")
