"""A call as it is read: what was sent and what came back, part by part, with tools, thoughts and pictures in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Part = tuple[str, Any]
"""What it is, and what stands in it."""

_THOUGHTS = ("reasoning_content", "reasoning")
_SEEN = frozenset({"role", "content", "tool_calls", "tool_call_id", "refusal", "thinking_blocks", "name", *_THOUGHTS})


def sent(call: Mapping[str, Any]) -> list[Part]:
    """The messages of a request."""
    messages = (call["request"] or {}).get("messages") or []
    return [part for message in messages for part in _parts(str(message.get("role")), message)]


def received(call: Mapping[str, Any]) -> list[Part]:
    """The answers of a response."""
    choices = (call["response"] or {}).get("choices") or []
    return [part for choice in choices for part in _parts("received", choice.get("message") or {})]


def _parts(role: str, message: Mapping[str, Any]) -> Iterator[Part]:
    thought = next((message[name] for name in _THOUGHTS if message.get(name)), None)
    if thought:
        yield f"{role} · reasoning", thought
    if role == "tool":
        role = f"tool result of {message.get('tool_call_id')}"
    content = message.get("content")
    for item in content if isinstance(content, list) else [content]:
        if item:
            yield _content(role, item)
    if message.get("refusal"):
        yield f"{role} · refusal", message["refusal"]
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        yield f"{role} · calls {function.get('name')} ({call.get('id')})", _read(function.get("arguments"))
    more = {name: value for name, value in message.items() if value and name not in _SEEN}
    if more:
        yield f"{role} · more", more


def _content(role: str, item: Any) -> Part:
    if not isinstance(item, dict):
        return role, item
    if item.get("type") == "text":
        return role, item.get("text")
    image = item.get("image_url")
    if image:
        return f"{role} · image", image.get("url") if isinstance(image, dict) else image
    return f"{role} · {item.get('type')}", item


def _read(arguments: Any) -> Any:
    """Arguments are JSON in a text, as a model writes them; what is none is shown as it is."""
    try:
        return json.loads(arguments)
    except (TypeError, ValueError):
        return arguments
