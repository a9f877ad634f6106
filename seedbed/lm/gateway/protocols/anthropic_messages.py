"""Anthropic's messages: blocks for parts, tools without a wrapper, a system prompt beside the messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from seedbed.lm.gateway.asking import complete
from seedbed.lm.gateway.protocols import Refusal, items, stream, text, unsupported
from seedbed.lm.gateway.protocols.openai_chat import check
from seedbed.lm.types import JsonDict
from seedbed.lm.usage import told_usage

if TYPE_CHECKING:
    from seedbed.lm.gateway.grants import Gone, Grant
    from seedbed.lm.runtime import LMRuntime

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_SAME = ("max_tokens", "temperature", "top_p", "top_k", "thinking", "service_tier", "speed")
"""Fields that mean the same in a chat body, or that a model of Anthropic's takes there too."""

_REFUSED = ("container", "mcp_servers", "context_management")
_MARKS = ("cache_control", "thinking_blocks")
"""What only a model of Anthropic's understands of a message."""


class AnthropicMessages:
    async def answer(self, runtime: LMRuntime, grant: Grant, body: JsonDict, gone: Gone) -> JsonDict | bytes:
        asked = chat_body(body)
        if "claude" not in grant.bind(grant.role).model.model:
            asked["messages"] = [unmarked(message) for message in asked["messages"]]
        check(asked)
        message = _message(await complete(runtime, grant, asked, gone))
        return stream(_events(message), named=True) if body.get("stream") else message

    def error(self, refusal: Refusal) -> JsonDict:
        kind = _TYPES.get(refusal.status, "api_error" if refusal.status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": refusal.message}}


def chat_body(body: JsonDict) -> JsonDict:
    """The request as a chat body."""
    for name in _REFUSED:
        if body.get(name):
            raise unsupported(name)
    messages = [{"role": "system", "content": _plain(body["system"], "system")}] if body.get("system") else []
    for message in items(body, "messages"):
        messages.extend(_messages(text(message.get("role"), "role"), message.get("content")))
    asked: JsonDict = {"messages": messages, **{name: body[name] for name in _SAME if body.get(name) is not None}}
    if body.get("stop_sequences"):
        asked["stop"] = body["stop_sequences"]
    if tools := items(body, "tools"):
        asked["tools"] = [_tool(tool) for tool in tools]
    if choice := body.get("tool_choice"):
        asked |= _tool_choice(choice)
    form = body.get("output_format") or (body.get("output_config") or {}).get("format")
    if form:
        schema = {"name": "answer", "schema": form.get("schema"), "strict": True}
        asked["response_format"] = {"type": "json_schema", "json_schema": schema}
    return asked


def _tool(tool: JsonDict) -> JsonDict:
    if tool.get("type") not in (None, "custom"):
        raise unsupported(f"the tool {tool.get('type')}")
    function = {"name": tool.get("name"), "parameters": tool.get("input_schema") or {"type": "object"}}
    if tool.get("description"):
        function["description"] = tool["description"]
    return {"type": "function", "function": function}


def _tool_choice(choice: JsonDict) -> JsonDict:
    kind = choice.get("type")
    asked: JsonDict = {"parallel_tool_calls": False} if choice.get("disable_parallel_tool_use") else {}
    if kind == "tool":
        return asked | {"tool_choice": {"type": "function", "function": {"name": choice.get("name")}}}
    return asked | {"tool_choice": _CHOICES.get(str(kind), "auto")}


def _messages(role: str, content: Any) -> Iterator[JsonDict]:
    """The messages that one of Anthropic's stands for: results of tools are messages of their own."""
    if isinstance(content, str):
        yield {"role": role, "content": content}
        return
    blocks = items({"content": content}, "content")
    for block in blocks:
        if block.get("type") == "tool_result":
            result = _plain(block.get("content") or "", "tool_result")
            yield {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": result}
    parts = [part for block in blocks if (part := _part(block)) is not None]
    calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
    thoughts = [block for block in blocks if block.get("type") in ("thinking", "redacted_thinking")]
    if not parts and not calls:
        return
    message: JsonDict = {"role": role, "content": _simplest(parts)}
    if calls:
        message["tool_calls"] = calls
    if thoughts:
        message["thinking_blocks"] = thoughts
    yield message


def _simplest(parts: list[JsonDict]) -> Any:
    if not parts:
        return None
    return parts[0]["text"] if len(parts) == 1 and parts[0].keys() == {"type", "text"} else parts


def unmarked(message: JsonDict) -> JsonDict:
    """A message for a model of another maker's."""
    plain = {name: value for name, value in message.items() if name not in _MARKS}
    if isinstance(plain.get("content"), list):
        parts = [{name: value for name, value in part.items() if name not in _MARKS} for part in plain["content"]]
        texts = all(part["type"] == "text" for part in parts) and message["role"] in ("system", "tool")
        plain["content"] = "\n".join(part["text"] for part in parts) if texts else _simplest(parts)
    return plain


def _part(block: JsonDict) -> JsonDict | None:
    match block.get("type"):
        case "text":
            mark = {"cache_control": block["cache_control"]} if block.get("cache_control") else {}
            return {"type": "text", "text": text(block.get("text"), "text"), **mark}
        case "image":
            source = block.get("source") or {}
            data = f"data:{source.get('media_type')};base64,{source.get('data')}"
            return {"type": "image_url", "image_url": {"url": source["url"] if source.get("url") else data}}
        case "tool_use" | "tool_result" | "thinking" | "redacted_thinking":
            return None
        case other:
            raise unsupported(f"a block of type {other}")


def _plain(content: Any, name: str) -> Any:
    """A text, or parts where there is more than text in it."""
    if isinstance(content, str):
        return content
    parts = [part for block in items({name: content}, name) if (part := _part(block)) is not None]
    if all(part.keys() == {"type", "text"} for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _call(block: JsonDict) -> JsonDict:
    arguments = orjson.dumps(block.get("input") or {}).decode()
    return {"id": block.get("id"), "type": "function", "function": {"name": block.get("name"), "arguments": arguments}}


def _message(completion: JsonDict) -> JsonDict:
    choice = completion["choices"][0]
    message = choice["message"]
    content: list[JsonDict] = list(message.get("thinking_blocks") or [])
    if not content and message.get("reasoning_content"):
        content.append({"type": "thinking", "thinking": message["reasoning_content"], "signature": ""})
    if message.get("content") or message.get("refusal"):
        content.append({"type": "text", "text": message.get("content") or message.get("refusal"), "citations": None})
    calls = message.get("tool_calls") or []
    content.extend(_tool_use(call) for call in calls)
    usage = told_usage(completion)
    return {
        "id": completion.get("id") or "",
        "type": "message",
        "role": "assistant",
        "model": completion.get("model") or "",
        "content": content,
        "stop_reason": "tool_use" if calls else _STOPS.get(choice.get("finish_reason"), "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input - usage.cached - usage.written if usage else 0,
            "output_tokens": usage.output if usage else 0,
            "cache_read_input_tokens": usage.cached if usage else 0,
            "cache_creation_input_tokens": usage.written if usage else 0,
        },
    }


def _tool_use(call: JsonDict) -> JsonDict:
    function = call.get("function") or {}
    arguments = function.get("arguments") or "{}"
    try:
        given = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        given = None
    # What a model wrote wrong is for the program to see, not for us to drop.
    given = given if isinstance(given, dict) else {"arguments": arguments}
    return {"type": "tool_use", "id": call.get("id"), "name": function.get("name"), "input": given}


def _events(message: JsonDict) -> Iterator[JsonDict]:
    usage = message["usage"]
    began = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 0}}
    yield {"type": "message_start", "message": began}
    for at, block in enumerate(message["content"]):
        empty, deltas = _spread(block)
        yield {"type": "content_block_start", "index": at, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def _spread(block: JsonDict) -> tuple[JsonDict, list[JsonDict]]:
    """A block as it begins, and what is added to it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "tool_use":
            whole = orjson.dumps(block["input"]).decode()
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": whole}]
        case "thinking":
            said = {"type": "thinking_delta", "thinking": block["thinking"]}
            signed = {"type": "signature_delta", "signature": block.get("signature") or ""}
            return {**block, "thinking": "", "signature": ""}, [said, signed]
        case _:
            return block, []
