"""Drawings of the report, as SVG."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.stats import mean
from seedbed.suite import Figure


def language_bars(name: str, scores: Mapping[tuple[str, str], Mapping[str, Sequence[float]]]) -> Figure:
    """Mean F1 of each system, side by side for each language."""
    plt = _pyplot()
    labels = list(dict.fromkeys(label for label, _ in scores))
    languages = sorted({lang for _, lang in scores})
    figure, axes = plt.subplots(figsize=(max(6.0, 1.1 * len(languages) + 1), 3.4), layout="constrained")
    width = 0.8 / len(labels)
    for place, label in enumerate(labels):
        heights = [mean(scores.get((label, lang), {}).get("f1", ())) for lang in languages]
        at = [i + (place - (len(labels) - 1) / 2) * width for i in range(len(languages))]
        # An undefined mean has no bar: a bar of height 0 would say 0.
        drawn = [float("nan") if height is None else height for height in heights]
        axes.bar(at, drawn, width * 0.92, color=f"C{place % 10}", label=label)
    axes.set_xticks(range(len(languages)), languages)
    axes.set_ylim(0, 1)
    axes.set_ylabel("F1")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=min(5, len(labels)), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=8)
    return Figure(f"F1 by language of the question: {name}", _svg(plt, figure))


def budget_curve(name: str, points: Mapping[str, tuple[str, float, float]]) -> Figure | None:
    """F1 against translation tokens: lbrag by its budgets, with multi and cross as the ends. None without a curve."""
    curve = sorted((cost, f1, label) for label, (system, cost, f1) in points.items() if system == "lbrag")
    if len(curve) < 2:
        return None
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    axes.plot([c for c, _, _ in curve], [f for _, f, _ in curve], marker="o", color="C0", label="lbrag", zorder=3)
    for cost, f1, label in curve:
        above = (0, 7)
        axes.annotate(_budget(label), (cost, f1), above, textcoords="offset points", ha="center", fontsize=8)
    for system, marker, colour in (("multi", "s", "C1"), ("cross", "D", "C2"), ("direct", "x", "C7")):
        ends = [(cost, f1) for own, cost, f1 in points.values() if own == system]
        for cost, f1 in ends:
            axes.scatter([cost], [f1], marker=marker, color=colour, s=64, zorder=2, label=system)
            axes.annotate(system, (cost, f1), (6, -12), textcoords="offset points", color=colour, fontsize=8)
    axes.set_xlabel("translation tokens a question")
    axes.set_ylabel("F1")
    axes.margins(0.1, 0.18)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    note = "Beside each point of the curve its budget; multi translates nothing, cross everything."
    return Figure(f"F1 against translation tokens: {name}", _svg(plt, figure), note)


def _budget(label: str) -> str:
    """The variant's part of a label: b70 of lbrag-b70."""
    return label.partition("+")[0].rpartition("-")[2]


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    return pyplot


def _svg(plt: Any, figure: Any) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    svg = buffer.getvalue()
    return svg[svg.index("<svg") :]
