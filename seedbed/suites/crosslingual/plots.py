"""Drawings of the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from seedbed.suite import Figure
from seedbed.suites.kit.drawing import rendered

if TYPE_CHECKING:
    from seedbed.suites.crosslingual.report import Point

_LINEAR_UP_TO = 10
"""Translation tokens from which on the scale of the curve is logarithmic."""


def budget_curve(name: str, points: Mapping[str, Point]) -> Figure | None:
    """F1 against translation tokens: lbrag by its budgets, with multi and cross as the ends. None without a curve."""
    curve = sorted(
        (p.cost, p.f1, max(0.0, p.f1 - p.low), max(0.0, p.high - p.f1), label)
        for label, p in points.items()
        if p.system == "lbrag"
    )
    if len(curve) < 2:
        return None
    figure, axes = _sheet(6.4, 4.0)
    costs, heights, below, above, labels = zip(*curve, strict=True)
    axes.errorbar(costs, heights, (below, above), marker="o", color="C0", ecolor="#b9cde0", capsize=3, zorder=3)
    for cost, f1, label in zip(costs, heights, labels, strict=True):
        axes.annotate(_budget(label), (cost, f1), (5, 6), textcoords="offset points", fontsize=8)
    for system, marker, colour in (("multi", "s", "C1"), ("cross", "D", "C2")):
        for end in (point for point in points.values() if point.system == system):
            at = (end.cost, end.f1)
            axes.scatter(*at, marker=marker, facecolors="none", edgecolors=colour, linewidths=2, s=110, zorder=4)
            axes.annotate(system, at, (9, -14), textcoords="offset points", color=colour, fontsize=9)
    axes.set_xscale("symlog", linthresh=_LINEAR_UP_TO)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("translation tokens a question")
    axes.set_ylabel("F1")
    axes.margins(0.12, 0.1)
    axes.grid(color="#dddddd")
    axes.spines[["top", "right"]].set_visible(False)
    note = (
        "Beside each point its budget; multi translates nothing, cross everything. The scale of tokens is logarithmic."
    )
    svg, png = rendered(figure)
    return Figure(f"F1 against translation tokens: {name}", svg, note, png)


def _budget(label: str) -> str:
    """The variant's part of a label: B=70 of lbrag-b70, and what else stands there of labels of one's own."""
    own = label.partition("+")[0].rpartition("-")[2]
    return f"B={'∞' if own == 'binf' else own[1:]}" if own[:1] == "b" and len(own) > 1 else own


def _sheet(width: float, height: float) -> tuple[Any, Any]:
    """A drawing with one panel. Made without pyplot, which keeps drawings in a global list."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(width, height), layout="constrained")
    return drawing, drawing.add_subplot()
