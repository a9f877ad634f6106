"""From the files of another tool to one import."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.phases.imports.imported import Imported, ImportedTable
from seedbed.phases.imports.inspect_log import is_inspect_log, read_inspect
from seedbed.phases.imports.lm_eval import is_lm_eval, read_lm_eval

_KNOWN = "a log of inspect_ai (.eval, .json) or a sample file of lm-evaluation-harness (samples_*.jsonl)"


def read_files(paths: Sequence[Path], name: str) -> Imported:
    """Files of the same task and model are repeats of one run, in the order given."""
    found: dict[tuple[str, str], ImportedTable] = {}
    tools: list[str] = []
    for path in paths:
        tool, table = _read(path)
        tools.append(tool)
        before = found.get((table.benchmark, table.model))
        found[(table.benchmark, table.model)] = table if before is None else _joined(before, table)
    if len(set(tools)) > 1:
        raise UserError(f"{paths[0]} and others: come from {' and '.join(sorted(set(tools)))}; import them apart.")
    return Imported(name, tools[0], list(found.values()))


def _read(path: Path) -> tuple[str, ImportedTable]:
    if path.suffix == ".eval":
        return "inspect_ai", read_inspect(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path}: is no text; give {_KNOWN}.") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}).") from None
    if path.suffix == ".json":
        whole = _parsed(path, text, 1)
        if is_inspect_log(path, whole):
            return "inspect_ai", read_inspect(path, whole)
        raise UserError(f"{path}: is not known; give {_KNOWN}.")
    lines = [(n, _parsed(path, line, n)) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines or not is_lm_eval(lines[0][1]):
        raise UserError(f"{path}: is not known; give {_KNOWN}.")
    return "lm-evaluation-harness", read_lm_eval(path, lines)


def _parsed(path: Path, text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{line + error.lineno - 1}: not valid JSON ({error.msg}).") from None
    except RecursionError:
        raise UserError(f"{path}:{line}: JSON nested too deep to be read.") from None


def _joined(first: ImportedTable, more: ImportedTable) -> ImportedTable:
    """The second as further repeats of the first."""
    shift = max(row.seed for row in first.rows)
    metrics = {metric.name: metric for metric in (*more.metrics, *first.metrics)}
    return replace(
        first,
        metrics=list(metrics.values()),
        rows=[*first.rows, *(replace(row, seed=row.seed + shift) for row in more.rows)],
        left_out=sorted({*first.left_out, *more.left_out} - set(metrics)),
    )
