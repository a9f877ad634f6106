"""A chat completion as an answer of OpenAI's responses API, whole and as the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seedbed.lm.types import JsonDict
from seedbed.lm.usage import told_usage

_ECHOED = ("instructions", "max_output_tokens", "previous_response_id", "temperature", "top_p", "reasoning", "user")


def response(completion: JsonDict, body: JsonDict, name: str) -> JsonDict:
    choice = completion["choices"][0]
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(choice.get("finish_reason"))
    return {
        "id": name,
        "object": "response",
        "created_at": completion.get("created") or 0,
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": cut} if cut else None,
        "model": completion.get("model") or "",
        "output": list(_output(choice, name)),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "text": body.get("text") or {"format": {"type": "text"}},
        "metadata": body.get("metadata") or {},
        "usage": _usage(completion),
        **{field: body.get(field) for field in _ECHOED},
    }


def _output(choice: JsonDict, name: str) -> Iterator[JsonDict]:
    message = choice["message"]
    mark = name.removeprefix("resp_")
    if thought := message.get("reasoning_content"):
        yield {"type": "reasoning", "id": f"rs_{mark}", "summary": [{"type": "summary_text", "text": thought}]}
    if message.get("content") or message.get("refusal"):
        logprobs = (choice.get("logprobs") or {}).get("content") or []
        said = {"type": "output_text", "text": message.get("content"), "annotations": [], "logprobs": logprobs}
        part = said if message.get("content") else {"type": "refusal", "refusal": message["refusal"]}
        yield {"type": "message", "id": f"msg_{mark}", "role": "assistant", "status": "completed", "content": [part]}
    for at, call in enumerate(message.get("tool_calls") or []):
        function = call.get("function") or {}
        yield {
            "type": "function_call",
            "id": f"fc_{mark}_{at}",
            "call_id": call.get("id"),
            "name": function.get("name"),
            "arguments": function.get("arguments") or "{}",
            "status": "completed",
        }


def _usage(completion: JsonDict) -> JsonDict | None:
    usage = told_usage(completion)
    if usage is None:
        return None
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def events(made: JsonDict) -> Iterator[JsonDict]:
    """The events of a stream that ends in this response, numbered."""
    for number, event in enumerate(_events(made)):
        yield {**event, "sequence_number": number}


def _events(made: JsonDict) -> Iterator[JsonDict]:
    begun = {**made, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for at, item in enumerate(made["output"]):
        place = {"item_id": item["id"], "output_index": at}
        yield {"type": "response.output_item.added", "output_index": at, "item": _empty(item)}
        if item["type"] == "message":
            yield from _spoken(item["content"][0], {**place, "content_index": 0})
        elif item["type"] == "function_call":
            whole = item["arguments"]
            yield {"type": "response.function_call_arguments.delta", **place, "delta": whole}
            ended = {"name": item["name"], "arguments": whole}
            yield {"type": "response.function_call_arguments.done", **place, **ended}
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    yield {"type": f"response.{made['status']}", "response": made}


def _spoken(part: JsonDict, place: JsonDict) -> Iterator[JsonDict]:
    name = "text" if part["type"] == "output_text" else "refusal"
    kind = f"response.{part['type']}"
    shared: dict[str, Any] = {**place, "logprobs": part["logprobs"]} if name == "text" else place
    yield {"type": "response.content_part.added", **place, "part": {**part, name: ""}}
    yield {"type": f"{kind}.delta", **shared, "delta": part[name]}
    yield {"type": f"{kind}.done", **shared, name: part[name]}
    yield {"type": "response.content_part.done", **place, "part": part}


def _empty(item: JsonDict) -> JsonDict:
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        case _:
            return item
