"""What a model with tools says, for the loopback server: it calls the tools that it is offered, one after the other,
then answers; to a schema it answers with an object that fits. The same body gets the same answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def say(body: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """The message for a body with tools or a schema; None for any other, which is answered as ever."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema" and not _tool_to_call(body):
        return {"role": "assistant", "content": json.dumps(_fitting(form["json_schema"]["schema"], name))}
    tool = _tool_to_call(body)
    if tool is not None:
        function = {"name": tool["name"], "arguments": json.dumps(_fitting(tool["parameters"], name))}
        call = {"id": f"call_{name[:12]}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if body.get("tools"):
        results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        return {"role": "assistant", "content": f"{name[:4]}: {' '.join(map(str, results))}"}
    return None


def _tool_to_call(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    tools = [tool["function"] for tool in body.get("tools") or ()]
    done = sum(len(m.get("tool_calls") or ()) for m in body["messages"] if m["role"] == "assistant")
    return tools[done] if done < len(tools) and body.get("tool_choice") != "none" else None


def _fitting(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    values = {"string": f"w{name[:4]}", "integer": int(name[:4], 16), "number": 0.5, "boolean": True, "array": []}
    return {field: values.get(kind.get("type"), name[:4]) for field, kind in schema.get("properties", {}).items()}
