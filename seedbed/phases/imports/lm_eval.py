"""Sample files of lm-evaluation-harness (`--log_samples`): a line a document and filter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.phases.imports.declared import declare
from seedbed.phases.imports.imported import ImportedRow, ImportedTable

_OWN = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash"}
    | {"prompt_hash", "target_hash", "repeats", "prompt", "logit_0", "truth", "acc_token", "schema_version"}
)
_NAME = re.compile(r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?")


def is_lm_eval(first: Any) -> bool:
    return isinstance(first, dict) and "doc_id" in first and ("resps" in first or "filtered_resps" in first)


def read_lm_eval(path: Path, lines: Sequence[tuple[int, Any]]) -> ImportedTable:
    """The task is told by the file's name, the model by its folder's, as the harness names them."""
    match = _NAME.fullmatch(path.stem)
    rows: dict[str, dict[str, float | None]] = {}
    left_out: set[str] = set()
    values: dict[str, set[float]] = {}
    for line, sample in lines:
        if not is_lm_eval(sample):
            raise UserError(f"{path}:{line}: has no doc_id and resps; it is no sample of lm-evaluation-harness.")
        # The hash belongs to the name: documents of the same number from other versions are no pair.
        own = rows.setdefault(f"{sample['doc_id']}:{str(sample.get('doc_hash', ''))[:12]}", {})
        for name, value in _values(sample):
            if name in own:
                raise UserError(f"{path}:{line}: document {sample['doc_id']} has {name!r} twice; give one run a file.")
            if isinstance(value, bool | int | float) and not math.isnan(value):
                own[name] = float(value)
                values.setdefault(name, set()).add(float(value))
            else:
                left_out.add(name)
    metrics = [declare(name, own) for name, own in values.items()]
    task = match["task"] if match else path.stem
    made = [ImportedRow(sample, 1, scores) for sample, scores in rows.items()]
    return ImportedTable(task, path.resolve().parent.name or "unknown", metrics, made, sorted(left_out - set(values)))


def _values(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """By metric, with the filter behind a comma where it is not the plain one, as the harness itself writes them."""
    named = sample.get("metrics")
    names = named if isinstance(named, list) else [name for name in sample if name not in _OWN]
    of = sample.get("filter")
    for name in names:
        if name in sample:
            yield (str(name) if of in (None, "none") else f"{name},{of}"), sample[name]
