"""What a sweep shows of this suite: console lines, the ablation table, a heat map a system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.storage.store import read_jsonl
from seedbed.suite import CellResult, Figure, ScoreRow, Shown, Table
from seedbed.suites.contract_risk.figures import confusion
from seedbed.suites.contract_risk.groups import adjust, baseline_of, compare, is_trivial, trivial_rows
from seedbed.suites.contract_risk.heatmap import heat_map
from seedbed.suites.contract_risk.pooled import COLUMNS, majority, pooled_figures
from seedbed.suites.contract_risk.verify import one_verifier

_CONSOLE = (
    ("Acc", "accuracy"),
    ("WAcc", "weighted_accuracy"),
    ("LWK", "kappa_linear"),
    ("F2", "high_risk_f2"),
    ("F1", "macro_f1"),
    ("Halluc", "hallucination_rate"),
    ("Success", "task_success_rate"),
    ("Parse", "parse_rate"),
    ("p_holm", "mcnemar_p_holm"),
)

Labelled = dict[str, list[list[ScoreRow]]]
"""The rows of each system, a list a seed."""


def console(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """A line a system, intervals on the accuracy, the trivial systems among them; undefined is "-", never 0."""
    width = max((len(label) for label in metrics), default=0)
    return "\n".join(
        " | ".join([f"{label:<{width}}", *(_shown(name, key, own) for name, key in _CONSOLE), _counts(own)])
        for label, own in metrics.items()
    )


def report(cells: Sequence[CellResult]) -> Sequence[Table | Figure]:
    """For each benchmark and model: the ablation table over all its seeds, then a confusion matrix a system."""
    parts: list[Table | Figure] = []
    for (benchmark, model), own in _together(cells).items():
        labelled = _rows(own)
        parts.append(_table(f"{benchmark} · {model}", labelled, {cell.label: cell.shown for cell in own}))
        for label, seeds in labelled.items():
            matrix = confusion([row for rows in seeds for row in rows if row.status != "skipped"])
            note = f"{sum(map(sum, matrix))} verdicts over {len(seeds)} seed{'s' if len(seeds) > 1 else ''}."
            parts.append(heat_map(f"{label} · {benchmark} · {model}", label, matrix, note))
    return parts


def _table(title: str, labelled: Labelled, shown: Mapping[str, Mapping[str, Shown]]) -> Table:
    stamp = one_verifier(
        row.details["verifier"]
        for seeds in labelled.values()
        for rows in seeds
        for row in rows
        if row.status != "skipped"
    )
    verdicts = {label: majority(seeds) for label, seeds in labelled.items()}
    paired = {label: compare(rows, baseline_of(label, verdicts)) for label, rows in verdicts.items()}
    adjust(paired, [label for label, rows in verdicts.items() if not is_trivial(rows)])
    rows = [
        [label, *pooled_figures(seeds, shown.get(label)), *_paired(paired[label]), *_numbers(seeds)]
        for label, seeds in labelled.items()
    ]
    n_seeds = max((len(seeds) for seeds in labelled.values()), default=0)
    return Table(
        title=f"Ablations: {title}",
        columns=["system", *COLUMNS, "full / this only", "McNemar p", "Holm p", "n", "errors"],
        rows=rows,
        note=f"Evidence checked by {stamp}. {_how(n_seeds)} McNemar (exact) against full on common cases; Holm over "
        "the ablations, without the trivial systems. A dash is undefined, not 0.",
    )


def _how(n_seeds: int) -> str:
    intervals = "Figures and 95% intervals are those of the suite's table; Wilson's for what is only here."
    if n_seeds < 2:
        return intervals
    return (
        f"{n_seeds} seeds, averaged before an interval is taken. {intervals} A case counts as right for McNemar when "
        "it is right under more than half of the seeds."
    )


def _paired(own: Mapping[str, Any]) -> list[str | float | None]:
    if own["mcnemar_p"] is None:
        return [None, None, None]
    holm = own["mcnemar_p_holm"]
    return [
        f"{own['only_full_right']} / {own['only_this_right']}",
        f"{own['mcnemar_p']:.3g}",
        None if holm is None else f"{holm:.3g}",
    ]


def _numbers(seeds: Sequence[Sequence[ScoreRow]]) -> list[int]:
    rows = [row for own in seeds for row in own]
    return [sum(row.status == "ok" for row in rows), sum(row.status == "error" for row in rows)]


def _together(cells: Sequence[CellResult]) -> dict[tuple[str, str], list[CellResult]]:
    groups: dict[tuple[str, str], list[CellResult]] = defaultdict(list)
    for cell in cells:
        groups[(cell.benchmark, cell.model)].append(cell)
    return groups


def _rows(cells: Sequence[CellResult]) -> Labelled:
    """By system, a list a seed, with the trivial systems that were not run added to each seed."""
    by_seed: dict[int, dict[str, list[ScoreRow]]] = defaultdict(dict)
    for cell in cells:
        by_seed[cell.seed][cell.label] = [ScoreRow(**row) for row in read_jsonl(cell.folder / "scores.jsonl")]
    labelled: Labelled = defaultdict(list)
    for _, rows in sorted(by_seed.items()):
        added = {label: own for label, own in trivial_rows(rows).items() if label not in rows}
        for label, own in {**rows, **added}.items():
            labelled[label].append(own)
    return dict(labelled)


def _shown(name: str, key: str, own: Mapping[str, Any]) -> str:
    value = own.get(key)
    if value is None:
        return f"{name}=-"
    low, high = own.get(f"{key}_low"), own.get(f"{key}_high")
    interval = f" [{low:.2f}, {high:.2f}]" if key == "accuracy" and low is not None and high is not None else ""
    return f"{name}={value:.3f}{interval}"


def _counts(own: Mapping[str, Any]) -> str:
    return f"n={own['n']} err={own['n_errors']}"
