"""labels.jsonl of a sweep: what people said of its answers. It lies beside the runs and outlives them.

Two kinds of lines: a `draw` says, once for a benchmark, model and metric, with which salt and sizes samples are drawn;
a `label` is what a rater gave an answer, known by the sample's id and the hash of what was shown. Nothing is changed:
a rater's later mark of an answer takes the place of the earlier one.
"""

from __future__ import annotations

import csv
import hashlib
import io
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.storage.appended import append_row, read_rows, whole_lines
from seedbed.storage.hashing import hash_json
from seedbed.storage.paths import is_local
from seedbed.storage.store import Store

LABELS = "labels.jsonl"
DrawKey = tuple[str, str, str, str]
"""Suite, benchmark, model, metric."""


@dataclass(frozen=True, slots=True)
class Draw:
    salt: str
    sizes: Mapping[str, float]
    """By sample id, of those that there were; a sample that came later has the size 1."""


@dataclass
class Labels:
    """All that a file says."""

    draws: dict[DrawKey, Draw] = field(default_factory=dict[DrawKey, Draw])
    marks: dict[DrawKey, dict[str, dict[tuple[str, str], float | None]]] = field(default_factory=dict[DrawKey, Any])
    """By rater: sample id and hash of the answer -> the mark; None where the rater could not tell."""
    facts: dict[DrawKey, dict[str, Mapping[str, str]]] = field(default_factory=dict[DrawKey, Any])
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def mark(self, key: DrawKey, sample: str, answer: str) -> tuple[float | None, bool]:
        """The mean of what raters gave an answer, and whether anybody has looked at it at all."""
        found = [own[sample, answer] for own in self.marks.get(key, {}).values() if (sample, answer) in own]
        given = [mark for mark in found if mark is not None]
        return (sum(given) / len(given) if given else None), bool(found)


def labels_path(store: Store, sweep: str) -> Path:
    return store.root / "sweeps" / sweep / LABELS


def read_labels(path: Path, n_bytes: int | None = None) -> Labels:
    """What a file says, or its first `n_bytes`; nothing where there is none."""
    labels = Labels()
    for number, row in enumerate(read_rows(path, n_bytes), start=1):
        try:
            _take(labels, row)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise UserError(f"{path}:{number}: is no draw and no label; mend or remove the line.") from None
    return labels


def _take(labels: Labels, row: Mapping[str, Any]) -> None:
    key = (row["suite"], row["benchmark"], row["model"], row["metric"])
    if row["kind"] == "draw":
        sizes = {str(sample): float(size) for sample, size in row["sizes"].items()}
        if any(not 0 < size < 1e6 for size in sizes.values()):
            raise ValueError("a size must be above 0")
        labels.draws.setdefault(key, Draw(str(row["salt"]), sizes))
        return
    if row["kind"] != "label":
        raise ValueError(row["kind"])
    value = None if row["value"] is None else float(row["value"])
    labels.marks.setdefault(key, {}).setdefault(row["rater"], {})[row["sample_id"], row["answer"]] = value
    labels.facts.setdefault(key, {})[row["sample_id"]] = {str(k): str(v) for k, v in row["facts"].items()}
    labels.rows.append(dict(row))


_COLUMNS = ("suite", "benchmark", "model", "metric", "sample_id", "rater", "value", "systems", "seed", "answer", "at")


def labels_table(labels: Labels) -> str:
    """All labels as CSV, a line each in the order they were given."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in labels.rows:
        cells = {**row, "systems": " ".join(row["systems"])}
        writer.writerow(["" if cells[name] is None else cells[name] for name in _COLUMNS])
    return text.getvalue()


def used_labels(path: Path) -> dict[str, Any] | None:
    """Which part of a file figures are made with: it may grow, what is there does not change."""
    data = whole_lines(path)
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} if data else None


def begin_draw(path: Path, key: DrawKey, sizes: Mapping[str, float]) -> Draw:
    """Write down a draw, before anybody is asked: its salt is fresh, so no sample can have been chosen."""
    if not is_local(path):
        raise UserError(f"{path}: labels are kept in a folder; copy the results to a disk first.")
    draw = Draw(secrets.token_hex(16), {sample: float(f"{size:.6g}") for sample, size in sizes.items()})
    names = dict(zip(("suite", "benchmark", "model", "metric"), key, strict=True))
    append_row(path, {"kind": "draw", **names, "salt": draw.salt, "sizes": draw.sizes, "at": _now()})
    return draw


def append_label(
    path: Path,
    key: DrawKey,
    *,
    rater: str,
    sample_id: str,
    systems: list[str],
    seed: int,
    answer: str,
    value: float | None,
    facts: Mapping[str, str],
) -> None:
    names = dict(zip(("suite", "benchmark", "model", "metric"), key, strict=True))
    given = {"rater": rater, "sample_id": sample_id, "systems": systems, "seed": seed, "answer": answer}
    append_row(path, {"kind": "label", **names, **given, "value": value, "facts": dict(facts), "at": _now()})


def answer_hash(shown: Any) -> str:
    """What an answer is known by."""
    return hash_json(shown)[:16]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
