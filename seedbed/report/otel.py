"""All calls of a sweep as traces of OpenTelemetry, in the words of its conventions for generative AI. The file has a
line of OTLP JSON a cell, which a collector's `otlp_json_file` receiver reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.storage.objects import staged
from seedbed.storage.redact import redact
from seedbed.storage.store import Store, read_jsonl
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import Plan

_INTERNAL, _CLIENT = 1, 3
_OK, _ERROR = 1, 2
_ASKED = ("temperature", "top_p", "max_tokens", "seed", "frequency_penalty", "presence_penalty")


def export_otel(store: Store, plan: Plan, target: Path) -> int:
    """Write a trace a sample, with a span a call; returns the number of calls."""
    cells = [cell for cell in plan.cells if (store.cell_dir(cell) / "lm_history.jsonl").exists()]
    if not cells:
        raise UserError(f"{plan.config.name}: no cell has been scored yet; there is nothing to export.")
    count = 0
    with staged(target) as partial, partial.open("w", encoding="utf-8") as handle:
        for cell in cells:
            calls = list(read_jsonl(store.cell_dir(cell) / "lm_history.jsonl"))
            count += len(calls)
            handle.write(redact(json.dumps(_traces(plan, cell, calls), ensure_ascii=False)) + "\n")
    return count


def _traces(plan: Plan, cell: Cell, calls: list[dict[str, Any]]) -> dict[str, Any]:
    by_sample: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for call in calls:
        by_sample.setdefault((call["phase"], call["sample"]), []).append(call)
    spans = [span for (phase, sample), own in by_sample.items() for span in _spans(cell, phase, sample, own)]
    resource = {
        "service.name": "seedbed",
        "seedbed.sweep": plan.config.name,
        "seedbed.cell": cell.id,
        **{f"seedbed.{name}": getattr(cell, name) for name in ("suite", "benchmark", "system", "model", "seed")},
    }
    scope = {"scope": {"name": "seedbed"}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}]}


def _spans(cell: Cell, phase: str, sample: str | None, calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    trace, root = _id(32, cell.id, phase, sample), _id(16, cell.id, phase, sample, "root")
    shared = {"traceId": trace, "status": {"code": _OK}}
    yield {
        **shared,
        "spanId": root,
        "name": f"{phase} {sample or cell.label}",
        "kind": _INTERNAL,
        "startTimeUnixNano": _nano(min(call["started_at"] for call in calls)),
        "endTimeUnixNano": _nano(max(call["started_at"] + (call["latency_s"] or 0.0) for call in calls)),
        "attributes": _attributes({"seedbed.phase": phase, "seedbed.sample": sample}),
    }
    for call in calls:
        failed = call["outcome"] in ("failed", "lost")
        status = {"code": _ERROR, "message": call["error"] or call["error_class"] or ""} if failed else {"code": _OK}
        yield {
            **shared,
            "spanId": _id(16, call["id"]),
            "parentSpanId": root,
            "name": f"{_operation(call)} {call['model']}",
            "kind": _CLIENT,
            "startTimeUnixNano": _nano(call["started_at"]),
            "endTimeUnixNano": _nano(call["started_at"] + (call["latency_s"] or 0.0)),
            "attributes": _attributes(_of_call(call)),
            "status": status,
        }


def _of_call(call: Mapping[str, Any]) -> dict[str, Any]:
    request, response = call["request"] or {}, call["response"] or {}
    choices = response.get("choices") or []
    length = request.get("max_completion_tokens") or request.get("max_tokens")
    asked = {**request, "max_tokens": length}
    return {
        "gen_ai.operation.name": _operation(call),
        "gen_ai.provider.name": call["provider"],
        "gen_ai.request.model": request.get("model") or call["model"],
        "gen_ai.response.model": call["answered_by"],
        "gen_ai.response.id": response.get("id"),
        "gen_ai.response.finish_reasons": [str(choice.get("finish_reason")) for choice in choices] or None,
        **{f"gen_ai.request.{name}": asked.get(name) for name in _ASKED},
        "gen_ai.usage.input_tokens": call["tokens_in"],
        "gen_ai.usage.output_tokens": call["tokens_out"],
        "gen_ai.input.messages": _json(request.get("messages")),
        "gen_ai.output.messages": _json([choice.get("message") for choice in choices] or None),
        "gen_ai.tool.definitions": _json(request.get("tools")),
        "error.type": call["error_class"],
        **{f"seedbed.{name}": call[name] for name in ("role", "outcome", "number", "spent_usd", "list_usd")},
    }


def _operation(call: Mapping[str, Any]) -> str:
    return "embeddings" if "input" in (call["request"] or {}) else "chat"


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in values.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _id(digits: int, *parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:digits]


def _nano(seconds: float) -> str:
    return str(int(seconds * 1e9))
