"""What a sweep prints and reports of this suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.analysis.means import mean
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import CellResult, Figure, Shown, Table

_COLUMNS = (
    ("EM", "em", 3),
    ("F1", "f1", 3),
    ("RLC", "rlc", 3),
    ("Cost", "cost", 1),
    ("CNBE", "cnbe", 5),
    ("Sem", "semantic_score", 3),
)
_RULE = "=" * 80
_BY_LANGUAGE = {
    "f1": "F1",
    "em": "EM",
    "rlc_ok": "RLC_OK",
    "cost": "Cost",
    "answer_in_context": "in context",
    "char_3gram_recall": "3-gram recall",
    "f1_mkqa": "F1 (MKQA)",
    "semantic_score": "Sem",
}
"""Labels by metric, as in the suite's table."""


def console(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """`lbrag    | EM=0.000±0.000 | F1=0.289±0.341 | ...` under a banner, a line a system; what is undefined is shown as
    "-", never as 0."""
    width = max(8, *(len(label) for label in metrics)) if metrics else 8
    lines = [
        " | ".join([f"{label:<{width}}", *(_cell(name, own, key, digits) for name, key, digits in _COLUMNS)])
        for label, own in metrics.items()
    ]
    return "\n".join([_RULE, "Experiment Results Summary", _RULE, *lines, _RULE])


def _cell(name: str, metrics: Mapping[str, Any], key: str, digits: int) -> str:
    mean, std = metrics.get(key), metrics.get(f"{key}_std")
    if mean is None:
        return f"{name}=-"
    return f"{name}={mean:.{digits}f}±{std:.{digits}f}"


def report(cells: Sequence[CellResult]) -> Sequence[Table | Figure]:
    """For each benchmark and model: the gain over direct, all metrics by language, and the budget curve where lbrag ran
    under several budgets. The first metric by language is drawn as every suite's is."""
    from seedbed.suites.crosslingual.plots import budget_curve

    parts: list[Table | Figure] = []
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for cell in cells:
        groups.setdefault((cell.benchmark, cell.model), []).append(cell)
    for (benchmark, model), own in groups.items():
        name = f"{benchmark} · {model}"
        scores = language_scores(own)
        parts += [_gains(name, own), _language_table(name, scores)]
        if curve := budget_curve(name, budget_points(own)):
            parts.append(curve)
    return parts


def language_scores(cells: Sequence[CellResult]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """(label, language) -> the values of each metric over the samples of all seeds."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell in cells:
        for row in read_jsonl(cell.folder / "scores.jsonl"):
            own = found.setdefault((cell.label, str(row["details"].get("lang"))), {name: [] for name in _BY_LANGUAGE})
            for name in _BY_LANGUAGE:
                value = row["scores"].get(name)
                if value is not None:
                    own[name].append(value)
    return found


@dataclass(frozen=True, slots=True)
class Point:
    """A system on the curve of quality against cost, each of its seeds counted once."""

    system: str
    cost: float
    f1: float
    low: float
    """The ends of the 95% interval of F1 over samples; F1 itself where there is none."""
    high: float


def budget_points(cells: Sequence[CellResult]) -> dict[str, Point]:
    """Points by label; a system without a figure has none."""
    points: dict[str, Point] = {}
    for label in dict.fromkeys(cell.label for cell in cells):
        own = [cell for cell in cells if cell.label == label]
        cost = mean([c.metrics["cost"] for c in own if c.metrics.get("cost") is not None])
        f1 = mean([c.metrics["f1"] for c in own if c.metrics.get("f1") is not None])
        if cost is not None and f1 is not None:
            shown = own[0].shown.get("f1", Shown(f1))
            ends = (f1 if end is None else end for end in (shown.low, shown.high))
            points[label] = Point(_system_of(own[0]), cost, f1, *ends)
    return points


def _system_of(cell: CellResult) -> str:
    """The kind of system behind a label, which only its options tell."""
    config = cell.folder / "config.json"
    options: Mapping[str, Any] = read_json(config)["system_options"] if config.exists() else {}
    if "budget" in options:
        return "lbrag"
    return cell.label.partition("+")[0]


def _gains(name: str, cells: Sequence[CellResult]) -> Table:
    rows = [
        [
            cell.label,
            cell.seed,
            _shown(cell.metrics.get("f1_gain"), 3),
            _interval(cell.metrics.get("f1_gain_low"), cell.metrics.get("f1_gain_high")),
            _shown(cell.metrics.get("cnbe_ratio"), 5),
            cell.metrics.get("n_paired"),
            cell.metrics.get("n_errors"),
        ]
        for cell in cells
    ]
    columns = ["system", "seed", "F1 gain over direct", "95% CI", "CNBE ratio", "n paired", "errors"]
    note = "Paired by sample; whole questions, in all their languages, are resampled (percentile bootstrap)."
    return Table(f"Gain over direct answers: {name}", columns, rows, note)


def _language_table(name: str, scores: Mapping[tuple[str, str], Mapping[str, Sequence[float]]]) -> Table:
    rows = [
        [
            label,
            lang,
            *(_shown(mean(own[metric]), 1 if metric == "cost" else 3) for metric in _BY_LANGUAGE),
            len(own["f1"]),
        ]
        for (label, lang), own in scores.items()
    ]
    return Table(f"By language of the question: {name}", ["system", "language", *_BY_LANGUAGE.values(), "n"], rows)


def _interval(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:+.3f} to {high:+.3f}"


def _shown(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"
