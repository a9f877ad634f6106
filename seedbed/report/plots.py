"""Drawings that every suite gets without code of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.registry import get_suite
from seedbed.report.canvas import COLOURS, DASHES, HATCHES, MARKERS, Plot, panels, rendered
from seedbed.report.model import Comparison, Row, Summary

MAX_PANELS = 4
_MAX_SYSTEMS = 24
_ROW = 0.28
"""Inches a system takes on a vertical list."""

Points = Mapping[str, Mapping[int, float]]
"""By label and seed, a figure."""


@dataclass(frozen=True)
class Curve:
    """A line of a learning or an option curve."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def seeds_plot(summary: Summary, suite: str, seeds: Mapping[tuple[str, str, str], Points]) -> Plot | None:
    """The first metric of a suite: every seed a point, the mean a bar across, intervals over samples and over seeds."""
    metric = get_suite(suite).metrics[0]
    contests = [key for key in seeds if key[0] == suite][:MAX_PANELS]
    if not contests:
        return None
    most = max(len(seeds[key]) for key in contests)
    drawing, axes = panels([f"{b} · {m}" for _, b, m in contests], 0.9 + _ROW * min(most, _MAX_SYSTEMS))
    for axis, key in zip(axes, contests, strict=True):
        rows = [row for row in summary.rows if row.contest == key][:_MAX_SYSTEMS]
        for place, row in enumerate(rows):
            _seed_line(axis, -place, row, metric.name, seeds[key].get(row.label, {}))
        axis.set_yticks([-i for i in range(len(rows))], [f"{r.label}{' (baseline)' * r.is_baseline}" for r in rows])
        axis.set_xlabel(metric.label)
        axis.grid(axis="y", visible=False)
    note = "Circles: seeds. Bar: mean. Thick line: 95% interval over samples; thin line: 95% interval over seeds (t)."
    return rendered(drawing, f"{suite}-seeds", f"{metric.label} by seed", note)


def _seed_line(draw: Any, y: float, row: Row, metric: str, points: Mapping[int, float]) -> None:
    over, samples = row.metrics[metric], row.samples[metric]
    if over.mean is None:
        draw.text(0.02, y, "undefined", va="center", transform=draw.get_yaxis_transform(), fontsize=7)
        return
    if samples.ci_low is not None:
        draw.plot([samples.ci_low, samples.ci_high], [y, y], color="#9ecae1", lw=6, solid_capstyle="butt", zorder=1)
    inside = over.ci_low is not None and over.ci_high is not None and over.ci_high - over.ci_low < 1.0
    if inside:
        draw.plot([over.ci_low, over.ci_high], [y, y], color="#000000", lw=0.8, zorder=2)
    draw.plot([over.mean, over.mean], [y - 0.25, y + 0.25], color="#D55E00", lw=2, zorder=3)
    values = list(points.values())
    draw.plot(values, [y] * len(values), "o", mfc="white", mec="#0072B2", ms=4, zorder=4)


def differences_plot(comparisons: Sequence[Comparison], suite: str) -> Plot | None:
    """The first metric of a suite: each system's difference to the baseline with its interval."""
    metric = get_suite(suite).metrics[0]
    chosen = [c for c in comparisons if c.suite == suite and c.metric == metric.name and c.difference is not None]
    contests = list(dict.fromkeys((c.benchmark, c.model, c.baseline) for c in chosen))[:MAX_PANELS]
    if not contests:
        return None
    listed = {key: [c for c in chosen if (c.benchmark, c.model, c.baseline) == key][:_MAX_SYSTEMS] for key in contests}
    most = max(len(own) for own in listed.values())
    drawing, axes = panels([f"{b} · {m}, against {base}" for b, m, base in contests], 1.0 + _ROW * most)
    for axis, own in zip(axes, listed.values(), strict=True):
        axis.axvline(0, color="#000000", lw=0.8)
        for place, c in enumerate(own):
            if c.ci_low is not None:
                axis.plot([c.ci_low, c.ci_high], [-place, -place], color="#0072B2", lw=1.5)
            axis.plot([c.difference], [-place], "o", color="#0072B2", mfc="#0072B2" if c.significant else "white", ms=6)
        if (margin := own[0].margin) is not None:
            axis.axvspan(-margin, margin, color="#eeeeee", zorder=0)
        axis.set_yticks([-i for i in range(len(own))], [c.label for c in own])
        axis.set_ylim(-len(own) + 0.4, 0.6)
        axis.set_xlabel(f"difference in {metric.label}")
    note = "Filled: significant after Holm. Line: 95% interval, paired by sample. Grey: differences taken as none."
    return rendered(drawing, f"{suite}-differences", f"{metric.label} against the baseline", note)


def pareto_plot(summary: Summary, suite: str) -> Plot | None:
    """Quality against list cost a sample; the line joins systems that no other beats in both."""
    metric = get_suite(suite).metrics[0]
    rows = [
        r for r in summary.rows if r.suite == suite and r.list_usd and r.metrics[metric.name].mean is not None and r.n
    ]
    contests = list(dict.fromkeys(row.contest for row in rows))[:MAX_PANELS]
    if not contests:
        return None
    drawing, axes = panels([f"{b} · {m}" for _, b, m in contests], 2.8)
    for axis, key in zip(axes, contests, strict=True):
        own = [row for row in rows if row.contest == key][:_MAX_SYSTEMS]
        points = [(_usd_per_1000(row), row.metrics[metric.name].mean or 0.0, row.label) for row in own]
        front = _front(points, higher=metric.higher_is_better is not False)
        axis.plot([x for x, _, _ in front], [y for _, y, _ in front], color="#7F7F7F", lw=1, ls="--", zorder=1)
        for place, (x, y, label) in enumerate(points):
            axis.plot([x], [y], MARKERS[place % 8], color=COLOURS[place % 8], ms=7, label=label, zorder=2)
        axis.set_xlabel("list $ per 1,000 samples")
        axis.set_ylabel(metric.label)
        axis.margins(0.12)
        axis.legend(fontsize=7, loc="best")
    note = "Cost as if nothing had been reused. Dashed: systems that no other beats in both."
    return rendered(drawing, f"{suite}-pareto", f"Cost and {metric.label}", note)


def _usd_per_1000(row: Row) -> float:
    return 1000 * (row.list_usd or 0.0) / (row.n + row.n_errors + row.n_skipped)


def _front(points: Sequence[tuple[float, float, str]], *, higher: bool) -> list[tuple[float, float, str]]:
    front: list[tuple[float, float, str]] = []
    for point in sorted(points, key=lambda p: (p[0], -p[1] if higher else p[1])):
        if not front or (point[1] > front[-1][1] if higher else point[1] < front[-1][1]):
            front.append(point)
    return front


def bars_plot(name: str, title: str, groups: Sequence[str], bars: Mapping[str, Sequence[float | None]]) -> Plot:
    """Bars side by side, told apart by colour and hatch; an undefined value has a dash instead of a bar of height 0."""
    drawing, (axis,) = panels([""], 3.2, columns=1)
    width = 0.8 / len(bars)
    for place, (label, values) in enumerate(bars.items()):
        at = [group + (place - (len(bars) - 1) / 2) * width for group in range(len(groups))]
        heights = [float("nan") if value is None else value for value in values]
        face, hatch = COLOURS[place % 8], HATCHES[place % 8]
        axis.bar(at, heights, width * 0.9, color=face, hatch=hatch, edgecolor="white", lw=0.4, label=label)
        for x, value in zip(at, values, strict=True):
            if value is None:
                axis.text(x, 0, "-", ha="center", va="bottom", fontsize=7)
    axis.set_xticks(range(len(groups)), groups, rotation=30 if len(groups) > 8 else 0)
    axis.legend(ncols=min(4, len(bars)), fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    axis.grid(axis="x", visible=False)
    return rendered(drawing, name, title)


def curves_plot(name: str, title: str, x: str, y: str, listed: Mapping[str, Sequence[Curve]], note: str) -> Plot:
    """Lines by panel: learning curves, curves over an option."""
    chosen = dict(list(listed.items())[:MAX_PANELS])
    drawing, axes = panels(list(chosen), 2.8)
    for axis, curves in zip(axes, chosen.values(), strict=True):
        for place, curve in enumerate(curves[:_MAX_SYSTEMS]):
            colour, mark, dash = COLOURS[place % 8], MARKERS[place % 8], DASHES[place % 4]
            axis.plot(curve.x, curve.y, color=colour, marker=mark, ls=dash, ms=4, lw=1.2, label=curve.label)
            if curve.low is not None and curve.high is not None:
                axis.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.15, lw=0)
        axis.set_xlabel(x)
        axis.set_ylabel(y)
        axis.legend(fontsize=7)
    return rendered(drawing, name, title, note)
