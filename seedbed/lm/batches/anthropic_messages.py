"""Chat bodies as Anthropic's messages and back, exactly as calls through litellm have them: litellm itself is asked,
with a client in its hands that sends nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson

from seedbed.errors import ProviderError
from seedbed.lm.providers.litellm import as_body, import_litellm
from seedbed.lm.types import JsonDict

_NO_KEY = "not-sent"


_A_REPLY: JsonDict = {
    "id": "msg",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "-"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


class _Client:
    """Takes litellm's request and gives it a reply; nothing leaves."""

    def __init__(self, reply: JsonDict) -> None:
        self._reply = reply
        self.body: JsonDict | None = None
        self.features = ""

    async def post(self, url: str, *, headers: Mapping[str, str], json: JsonDict, **_: Any) -> Any:
        import httpx

        self.body = json
        self.features = next((value for name, value in headers.items() if name.lower() == "anthropic-beta"), "")
        return httpx.Response(200, content=orjson.dumps(self._reply), request=httpx.Request("POST", url))


class MessagesCodec:
    """For one model, by its litellm name."""

    def __init__(self, model: str) -> None:
        self._model = model

    async def encode(self, body: JsonDict) -> tuple[JsonDict, str]:
        """The parameters of a message, and the beta features that they need, as the header names them."""
        client = _Client(_A_REPLY)
        try:
            await self._complete(body, client)
        except Exception as error:
            if client.body is None:
                raise ProviderError("invalid_request", f"litellm cannot put the request: {error}") from None
        assert client.body is not None
        return {name: value for name, value in client.body.items() if name != "stream"}, client.features

    async def decode(self, message: JsonDict, body: JsonDict) -> JsonDict:
        """A message as the chat completion that a call would have brought."""
        try:
            return as_body(await self._complete(body, _Client(message)))
        except Exception as error:
            raise ProviderError("malformed", f"the message cannot be read ({error})") from None

    async def _complete(self, body: JsonDict, client: _Client) -> Any:
        litellm = await asyncio.to_thread(import_litellm)
        return await litellm.acompletion(
            **{**body, "model": self._model},
            api_key=_NO_KEY,
            num_retries=0,
            max_retries=0,
            caching=False,
            client=client,
        )
