"""OpenAI's responses: items for messages, calls of tools as items of their own."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import orjson

from seedbed.lm.gateway.asking import complete
from seedbed.lm.gateway.protocols import Refusal, items, stream, text, unsupported
from seedbed.lm.gateway.protocols.openai_chat import check, openai_error
from seedbed.lm.gateway.protocols.response_items import events, response
from seedbed.lm.types import JsonDict

if TYPE_CHECKING:
    from seedbed.lm.gateway.grants import Gone, Grant
    from seedbed.lm.runtime import LMRuntime

_SAME = ("temperature", "top_p", "parallel_tool_calls", "top_logprobs", "service_tier", "user")
_REFUSED = ("background", "conversation", "prompt")
"""What stands for state of the provider's that a call of a chat model does not have."""


class OpenAIResponses:
    async def answer(self, runtime: LMRuntime, grant: Grant, body: JsonDict, gone: Gone) -> JsonDict | bytes:
        before = _conversation(grant, body.get("previous_response_id"))
        asked = chat_body(body, before)
        check(asked)
        completion = await complete(runtime, grant, asked, gone)
        name = _id(asked, completion)
        # Instructions are of one request: who goes on with a conversation gives them again.
        message = completion["choices"][0]["message"]
        grant.said[name] = [*(m for m in asked["messages"] if m["role"] != "system"), message]
        made = response(completion, body, name)
        return stream(events(made), named=True) if body.get("stream") else made

    def error(self, refusal: Refusal) -> JsonDict:
        return openai_error(refusal)


def chat_body(body: JsonDict, before: list[JsonDict]) -> JsonDict:
    """The request as a chat body, behind the messages of the conversation that it goes on with."""
    for name in _REFUSED:
        if body.get(name):
            raise unsupported(name)
    messages = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    asked: JsonDict = {"messages": _joined([*messages, *before, *_input(body.get("input"))])}
    asked |= {name: body[name] for name in _SAME if body.get(name) is not None}
    if body.get("max_output_tokens"):
        asked["max_completion_tokens"] = body["max_output_tokens"]
    if "top_logprobs" in asked or "message.output_text.logprobs" in (body.get("include") or ()):
        asked["logprobs"] = True
    reasoning, wanted = body.get("reasoning") or {}, body.get("text") or {}
    if reasoning.get("effort"):
        asked["reasoning_effort"] = reasoning["effort"]
    if wanted.get("verbosity"):
        asked["verbosity"] = wanted["verbosity"]
    if form := _format(wanted.get("format") or {}):
        asked["response_format"] = form
    if tools := items(body, "tools"):
        asked["tools"] = [_tool(tool) for tool in tools]
    if choice := body.get("tool_choice"):
        asked["tool_choice"] = _tool_choice(choice)
    return asked


def _conversation(grant: Grant, name: Any) -> list[JsonDict]:
    if not name:
        return []
    if name not in grant.said:
        raise Refusal(404, f"no response {name!r} was given under this key", "previous_response_not_found")
    return grant.said[name]


def _id(asked: JsonDict, completion: JsonDict) -> str:
    """The same for the same answer to the same request: a replay must meet the requests that follow it."""
    told = orjson.dumps([asked, completion.get("id")], option=orjson.OPT_SORT_KEYS)
    return f"resp_{hashlib.sha256(told).hexdigest()[:32]}"


def _format(form: JsonDict) -> JsonDict | None:
    if form.get("type") == "json_schema":
        schema = {name: value for name, value in form.items() if name != "type" and value is not None}
        return {"type": "json_schema", "json_schema": schema}
    return {"type": "json_object"} if form.get("type") == "json_object" else None


def _tool(tool: JsonDict) -> JsonDict:
    if tool.get("type") != "function":
        raise unsupported(f"the tool {tool.get('type')}")
    function = {name: value for name, value in tool.items() if name != "type" and value is not None}
    return {"type": "function", "function": function}


def _tool_choice(choice: Any) -> Any:
    if isinstance(choice, dict):
        return {"type": "function", "function": {"name": choice.get("name")}}
    return choice


def _input(given: Any) -> list[JsonDict]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [message for item in items({"input": given}, "input") if (message := _message(item)) is not None]


def _message(item: JsonDict) -> JsonDict | None:
    match item.get("type") or "message":
        case "message":
            return {"role": text(item.get("role"), "role"), "content": _content(item.get("content"))}
        case "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments") or "{}"}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        case "function_call_output":
            return {"role": "tool", "tool_call_id": item.get("call_id"), "content": _content(item.get("output"))}
        case "reasoning":
            return None  # a summary for the reader; the provider alone could go on with it
        case other:
            raise unsupported(f"an input of type {other}")


def _content(content: Any) -> Any:
    if content is None or isinstance(content, str):
        return content or ""
    parts = [_part(part) for part in items({"content": content}, "content")]
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _part(part: JsonDict) -> JsonDict:
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return {"type": "text", "text": text(part.get("text"), "text")}
        case "refusal":
            return {"type": "text", "text": text(part.get("refusal"), "refusal")}
        case "input_image" if part.get("image_url"):
            detail = {"detail": part["detail"]} if part.get("detail") else {}
            return {"type": "image_url", "image_url": {"url": part["image_url"], **detail}}
        case other:
            raise unsupported(f"a part of type {other}")


def _joined(messages: list[JsonDict]) -> list[JsonDict]:
    """Calls of tools that stand one after the other, or behind what was said with them, are one message."""
    found: list[JsonDict] = []
    for message in messages:
        last = found[-1] if found else None
        if last is not None and last["role"] == message["role"] == "assistant" and message.get("tool_calls"):
            calls = [*(last.get("tool_calls") or []), *message["tool_calls"]]
            found[-1] = {**last, "tool_calls": calls}
        else:
            found.append(message)
    return found
