"""OpenAI's chat completions: nearly what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from seedbed.lm.gateway.asking import complete
from seedbed.lm.gateway.protocols import Refusal, items, stream
from seedbed.lm.types import JsonDict

if TYPE_CHECKING:
    from seedbed.lm.gateway.grants import Gone, Grant
    from seedbed.lm.runtime import LMRuntime

_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_MOST_ANSWERS = 128


class OpenAIChat:
    async def answer(self, runtime: LMRuntime, grant: Grant, body: JsonDict, gone: Gone) -> JsonDict | bytes:
        check(body)
        completion = with_defaults(await complete(runtime, grant, body, gone))
        if not body.get("stream"):
            return completion
        options = body.get("stream_options")
        wants_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        return stream(_chunks(completion, usage=wants_usage), named=False) + b"data: [DONE]\n\n"

    def error(self, refusal: Refusal) -> JsonDict:
        return openai_error(refusal)


def openai_error(refusal: Refusal) -> JsonDict:
    kind = _TYPES.get(refusal.status, "server_error" if refusal.status >= 500 else "invalid_request_error")
    return {"error": {"message": refusal.message, "type": kind, "param": None, "code": refusal.code}}


def check(body: JsonDict) -> None:
    """Refuse what no server of the dialect could read, and what could not be counted."""
    messages = items(body, "messages")
    if not messages:
        raise Refusal(400, "messages must be a list of at least one message")
    for message in messages:
        content = message.get("content")
        parts: list[Any] = content if isinstance(content, list) else []
        if not isinstance(message.get("role"), str) or not isinstance(content, str | list | None):
            raise Refusal(400, "a message must have a role, and for content a text or a list of parts")
        if not all(isinstance(part, dict) for part in parts):
            raise Refusal(400, "the parts of a message's content must be objects")
    temperature, count = body.get("temperature"), body.get("n")
    if not isinstance(temperature, int | float | None):
        raise Refusal(400, "temperature must be a number")
    if count is not None and not (isinstance(count, int) and 1 <= count <= _MOST_ANSWERS):
        raise Refusal(400, f"n must be a number from 1 to {_MOST_ANSWERS}")
    items(body, "tools")


def with_defaults(completion: JsonDict) -> JsonDict:
    """What clients count on and not every server gives."""
    choices = [
        {"index": at, "finish_reason": "stop", "logprobs": None, **choice, "message": _message(choice["message"])}
        for at, choice in enumerate(completion["choices"])
    ]
    return {"id": "", "object": "chat.completion", "created": 0, "model": "", **completion, "choices": choices}


def _message(message: JsonDict) -> JsonDict:
    calls = message.get("tool_calls")
    rest = {name: value for name, value in message.items() if name != "tool_calls"}
    return {"role": "assistant", "content": None, **rest, **({"tool_calls": calls} if calls else {})}


def _chunks(completion: JsonDict, *, usage: bool) -> Iterator[JsonDict]:
    shared = {name: value for name, value in completion.items() if name not in ("choices", "usage", "object")}
    shared["object"] = "chat.completion.chunk"
    ends = {"usage": None} if usage else {}
    for choice in completion["choices"]:
        for delta in _deltas(choice["message"]):
            one = {"index": choice["index"], "delta": delta, "finish_reason": None, "logprobs": None}
            if "content" in delta:
                one["logprobs"] = choice["logprobs"]
            yield {**shared, **ends, "choices": [one]}
        last = {"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"], "logprobs": None}
        yield {**shared, **ends, "choices": [last]}
    if usage:
        yield {**shared, "choices": [], "usage": completion.get("usage")}


def _deltas(message: JsonDict) -> Iterator[JsonDict]:
    """The role first, then what is said, then the calls of tools."""
    yield {"role": message.get("role", "assistant")}
    for name, value in message.items():
        if value and name not in ("role", "tool_calls"):
            yield {name: value}
    for at, call in enumerate(message.get("tool_calls") or []):
        yield {"tool_calls": [{"index": at, **call}]}
