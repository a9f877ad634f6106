"""Compares the fields of an object with those of the right one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import Field

from seedbed.suite import Case, Metric, PhaseContext, Scored, ScorerSpec
from seedbed.suites.kit.scorers.values import VERSION, AnswerOptions, same


class FieldsOptions(AnswerOptions):
    json_fields: list[str] | None = Field(default=None, min_length=1)
    """Fields that are compared; null takes all of the gold answer."""


def json_fields(context: PhaseContext, case: Case, output: Mapping[str, Any], options: FieldsOptions) -> Scored | None:
    """The share of fields that are right, and whether all are. Numbers are compared as numbers, texts without case and
    punctuation, lists and objects as a whole. The gold answer is an object, or the text of one."""
    if case.gold is None:
        return None
    gold = _object(case.gold)
    if gold is None:
        raise ValueError(f"the gold answer {case.gold!r} is no JSON object")
    given = _given(output, options.field)
    names = options.json_fields or list(gold)
    unknown = [name for name in names if name not in gold]
    if unknown:
        raise ValueError(f"the gold answer has no field {unknown[0]!r}, only {', '.join(gold)}")
    wrong = [name for name in names if name not in given or not _equal(given[name], gold[name])]
    share = 1.0 - len(wrong) / len(names)
    told = " ".join(f"The field {name!r} is {given.get(name)!r}; expected was {gold[name]!r}." for name in wrong)
    return Scored({"fields": share, "all_fields": float(not wrong)}, {"wrong_fields": wrong}, told or "All are right.")


def _given(output: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """The answer where it is an object, or else the outputs themselves."""
    return _object(output.get(field)) or output


def _object(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return _canonical(left) == _canonical(right)
    first, second = _shown(left), _shown(right)
    try:
        return float(first) == float(second)
    except ValueError:
        return same(first, second)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


JSON_FIELDS = ScorerSpec(
    json_fields,
    (Metric("fields", "Fields"), Metric("all_fields", "All fields", kind="rate")),
    FieldsOptions,
    version=VERSION,
)
