"""Cases as zeval writes them, read as ours: results of its EvalDataset, columns of its CSV, fields of one's own."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from seedbed.suites.kit.rows import Row
from seedbed.suites.rag_quality.evalcase import EvalCase

_NESTED = ("ground_truth_contexts", "retrieved_contexts", "generation_params")
"""Fields that zeval writes as JSON into its CSV."""
_OTHER_NAMES = {"contexts": "retrieved_contexts", "ground_truth": "ground_truth_answer"}
"""What others call our fields: kept apart, they would leave metrics undefined without a word."""


def as_ours(row: Row) -> Row:
    """The row with the fields of an EvalCase. Those it does not know are kept in generation_params, unless one looks
    like a slip of the pen."""
    data = _of_csv(row.data)
    if isinstance(results := data.get("results"), Mapping):
        data["results"] = {name: _result(one) for name, one in cast("Mapping[str, Any]", results).items()}
    unknown = [name for name in data if name not in EvalCase.model_fields]
    for name in unknown:
        if meant := _OTHER_NAMES.get(name) or _slip(name):
            raise row.error(f"field {name}: unknown; did you mean {meant!r}?")
    params = data.get("generation_params") or {}
    if unknown and isinstance(params, Mapping):
        data["generation_params"] = {**{name: data[name] for name in unknown}, **cast("Mapping[str, Any]", params)}
    return replace(row, data={name: value for name, value in data.items() if name not in unknown})


def _slip(name: str) -> str | None:
    """The field that a name of about its length was meant to be; question_id is a name of its own."""
    alike = [field for field in EvalCase.model_fields if abs(len(field) - len(name)) <= 2]
    return next(iter(difflib.get_close_matches(name, alike, n=1, cutoff=0.75)), None)


def _of_csv(row: Mapping[str, Any]) -> dict[str, Any]:
    """zeval's CSV has lists as JSON, ids of units in one text, and an empty list of contexts for a case that no system
    has answered."""
    data = dict(row)
    for name in _NESTED:
        if isinstance(text := data.get(name), str) and text[:1] in ("[", "{"):
            data[name] = _parsed(text)
    if "source_unit_ids" in data:
        ids = str(data.pop("source_unit_ids") or "").split(",")
        data.setdefault("source_units", [{"unit_id": name} for name in ids if name])
        if data.get("answer") is None and data.get("retrieved_contexts") == []:
            data["retrieved_contexts"] = None
    if "persona_name" in data and (name := data.pop("persona_name")):
        data.setdefault("persona", {"name": name})
    return data


def _parsed(text: str) -> Any:
    """The value of a JSON text; one that is none stays as it is and is refused for its type."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _result(one: Any) -> Any:
    """zeval knows no failures: each of its results has a score."""
    if not isinstance(one, Mapping) or "metric_name" not in one:
        return one
    given = cast("Mapping[str, Any]", one)
    return {
        "metric": given["metric_name"],
        "score": given.get("score"),
        "status": "ok",
        "reason": given.get("reason") or "",
        "details": given.get("details") or {},
        "elapsed_s": given.get("elapsed_time"),
    }
