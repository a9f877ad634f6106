"""Tools, as the offline model uses them: each that it is offered once, in their order; then it answers from what they
said. The texts that a tool wants are the last tool's words where those are few, else the question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seedbed.lm.types import JsonDict

_FEW = 5
_VALUES: Mapping[str, Any] = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}


def tool_call(body: JsonDict, key: str) -> JsonDict | None:
    """The message that calls the next tool, or None where all that are offered have been called."""
    tools = [tool["function"] for tool in body.get("tools") or () if isinstance(tool.get("function"), dict)]
    messages: list[JsonDict] = body.get("messages") or []
    called = {call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()}
    chosen = body.get("tool_choice")
    if chosen == "none":
        return None
    if isinstance(chosen, dict):
        tools = [tool for tool in tools if tool["name"] == (chosen.get("function") or {}).get("name")]
    tool = next((tool for tool in tools if tool["name"] not in called), None)
    if tool is None:
        return None
    function = {"name": tool["name"], "arguments": json.dumps(_arguments(tool, messages), ensure_ascii=False)}
    calls = [{"id": f"call_{key[:16]}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _arguments(tool: JsonDict, messages: list[JsonDict]) -> JsonDict:
    said = [str(message.get("content") or "") for message in messages if message.get("role") == "tool"]
    asked = [str(message.get("content") or "") for message in messages if message.get("role") == "user"]
    few = said and 0 < len(said[-1].split()) <= _FEW
    words = said[-1].strip() if few else (asked[-1] if asked else "")
    fields: Mapping[str, Any] = (tool.get("parameters") or {}).get("properties") or {}
    return {name: _value(field, words) for name, field in fields.items() if isinstance(field, dict)}


def _value(field: Mapping[str, Any], words: str) -> Any:
    if field.get("enum"):
        return field["enum"][0]
    return _VALUES.get(str(field.get("type")), words)
