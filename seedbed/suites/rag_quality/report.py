"""What a sweep prints and reports of this suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.analysis.means import mean
from seedbed.storage.store import read_jsonl
from seedbed.suite import CellResult, Figure, Shown, Table
from seedbed.suites.kit.drawing import rendered
from seedbed.suites.rag_quality.evalcase import METRICS

_SHORT = {
    "faithfulness": "Faithful",
    "context_relevance": "CtxRelev",
    "context_recall": "CtxRecall",
    "context_precision": "CtxPrec",
    "answer_relevancy": "AnsRelev",
    "answer_correctness": "AnsCorrect",
}


def console(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """A line a system; behind each mean n_ok/n_skipped/n_error. What is undefined is "-", never 0."""
    width = max(11, *(len(label) for label in metrics)) if metrics else 11
    lines = [
        " | ".join([f"{label:<{width}}", *(f"{_SHORT[name]}={_mean(own, name)}" for name in METRICS)])
        for label, own in metrics.items()
    ]
    return "\n".join([*lines, f"{'':<{width}}   (n_ok/n_skipped/n_error)"])


def _mean(metrics: Mapping[str, Any], name: str) -> str:
    value = metrics.get(name)
    counts = "/".join(str(metrics.get(f"{name}_{count}", 0)) for count in ("n_ok", "n_skipped", "n_error"))
    return f"{'-' if value is None else f'{value:.3f}'} ({counts})"


def report(cells: Sequence[CellResult]) -> Sequence[Table | Figure]:
    """The counts behind the means, means by kind of case, and a drawing of the systems side by side."""
    if not cells:
        return []
    return [_counts(cells), _by_kind(cells), _failures(cells), *_dots(cells)]


def _counts(cells: Sequence[CellResult]) -> Table:
    rows = [
        [f"{c.label} · {c.benchmark} · seed {c.seed}", *(_mean(c.metrics, name) for name in METRICS)] for c in cells
    ]
    return Table(
        "RAG metrics by cell",
        ["cell", *(_SHORT[name] for name in METRICS)],
        rows,
        "In brackets n_ok/n_skipped/n_error: a mean is over the cases that are ok.",
    )


def _by_kind(cells: Sequence[CellResult]) -> Table:
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell in cells:
        for row in read_jsonl(cell.folder / "scores.jsonl"):
            key = (cell.label, row["details"].get("kind") or "-")
            scores = found.setdefault(key, {name: [] for name in METRICS})
            for name, value in row["scores"].items():
                if value is not None:
                    scores[name].append(value)
    rows = [
        [label, kind, *(_with_n(scores[name]) for name in METRICS)] for (label, kind), scores in sorted(found.items())
    ]
    return Table("RAG metrics by kind of case", ["system", "kind", *(_SHORT[name] for name in METRICS)], rows)


def _with_n(values: Sequence[float]) -> str | None:
    centre = mean(values)
    return None if centre is None else f"{centre:.2f} (n={len(values)})"


def _failures(cells: Sequence[CellResult]) -> Table:
    rows = [
        [cell.label, cell.seed, row["sample_id"], row["reason"]]
        for cell in cells
        for row in read_jsonl(cell.folder / "scores.jsonl")
        if row.get("reason")
    ]
    return Table("Metrics that could not be judged", ["system", "seed", "case", "reason"], rows[:50])


def _dots(cells: Sequence[CellResult]) -> Sequence[Figure]:
    """A drawing a benchmark and model: every metric of every system with its interval."""
    groups: dict[tuple[str, str], dict[str, CellResult]] = {}
    for cell in cells:
        groups.setdefault((cell.benchmark, cell.model), {}).setdefault(cell.label, cell)
    return [_drawn(" · ".join(name), own) for name, own in groups.items()]


def _drawn(name: str, systems: Mapping[str, CellResult]) -> Figure:
    from matplotlib.figure import Figure as Drawing

    figure = Drawing(figsize=(8, 3.4), layout="constrained")
    axes: Any = figure.add_subplot()
    step = 0.7 / len(systems)
    for place, (label, cell) in enumerate(systems.items()):
        colour = f"C{place}"
        for at, metric in enumerate(METRICS):
            x = at + (place - (len(systems) - 1) / 2) * step
            shown = cell.shown.get(metric, Shown(None))
            if shown.low is not None and shown.high is not None:
                axes.vlines(x, shown.low, shown.high, colors=colour, lw=1.5, alpha=0.6)
            # An undefined mean has no dot: one at 0 would say 0.
            if shown.mean is None:
                axes.text(x, 0.01, "-", ha="center", fontsize=8)
            else:
                axes.plot([x], [shown.mean], "osD^v"[place % 5], color=colour, ms=5)
        axes.plot([], [], "osD^v"[place % 5], color=colour, label=label)
    axes.set_xticks(range(len(METRICS)), [_SHORT[name] for name in METRICS])
    axes.set_ylim(0, 1.05)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=len(systems), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=8)
    svg, png = rendered(figure)
    note = "Means over seeds with 95% intervals over cases. A dash is a mean that is not defined."
    return Figure(f"RAG metrics by system: {name}", svg, note, png)
