"""What a sweep prints and reports of this suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.analysis.means import mean
from seedbed.storage.store import read_jsonl
from seedbed.suite import CellResult, Figure, Table
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
    return [_counts(cells), _by_kind(cells), _failures(cells), _bars(cells)]


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


def _bars(cells: Sequence[CellResult]) -> Figure:
    from matplotlib.figure import Figure as Drawing

    labels = list(dict.fromkeys(cell.label for cell in cells))
    figure = Drawing(figsize=(8, 3.6), layout="constrained")
    axes: Any = figure.add_subplot()
    width = 0.8 / len(labels)
    for place, label in enumerate(labels):
        own = [cell.metrics for cell in cells if cell.label == label]
        for at, name in enumerate(METRICS):
            centre = mean([value for metrics in own if (value := metrics.get(name)) is not None])
            x = at + (place - (len(labels) - 1) / 2) * width
            # An undefined mean has no bar: a bar of height 0 would say 0.
            axes.bar(x, centre if centre is not None else float("nan"), width * 0.9, color=f"C{place}")
            if not centre:
                axes.text(x, 0.01, "-" if centre is None else "0", ha="center", fontsize=8, color=f"C{place}")
        axes.bar(0, float("nan"), color=f"C{place}", label=label)
    axes.set_xticks(range(len(METRICS)), [_SHORT[name] for name in METRICS])
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("mean over cases that are ok")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=len(labels), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=8)
    svg, png = rendered(figure)
    return Figure("RAG metrics by system", svg, "A dash is a mean that is not defined.", png)
