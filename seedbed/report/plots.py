"""Drawings that every suite gets without code of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.analysis.results import Comparison, Row, Summary
from seedbed.report.canvas import COLOURS, DASHES, MARKERS, Plot, inches, panels, rendered
from seedbed.suite import Metric

MAX_PANELS = 4
_MAX_SYSTEMS = 24
_ROW = 0.3
"""Inches a system takes on a vertical list."""
_BARS = 3.2
"""Inches from top to bottom of a drawing of groups side by side."""
_ALONE, _BESIDE = 5.6, 9.0
"""Inches from left to right of a drawing on the first screen, of one panel and of several."""
_PLANE = 2.9
"""Inches from top to bottom of a plane of cost and quality, without its legend."""
_WIDE = 20
"""From dearest to cheapest, so many times, a scale of dollars is logarithmic."""
_NUMBERS = 0.75
"""Inches for numbers and a label on a vertical axis."""

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
    """The first metric of a suite: every seed a point, the mean a bar across, the interval over samples."""
    metric = summary.metrics[suite][0]
    keys = [key for key in seeds if key[0] == suite][:MAX_PANELS]
    if not keys:
        return None
    rows = {key: [row for row in summary.rows if row.key == key][:_MAX_SYSTEMS] for key in keys}
    names = {key: [f"{r.label}{' (baseline)' * r.is_baseline}" for r in own] for key, own in rows.items()}
    height = 0.9 + _ROW * max(len(own) for own in rows.values())
    width = _ALONE if len(keys) == 1 else _BESIDE
    left = inches(name for own in names.values() for name in own)
    drawing, axes = panels([f"{b} · {m}" for _, b, m in keys], height, width, left=left)
    for axis, key in zip(axes, keys, strict=True):
        _seed_lines(axis, rows[key], metric.name, seeds[key])
        _listed(axis, names[key])
        axis.set_xlabel(metric.label)
    note = "Circles: seeds. Upright: mean. Band: 95% interval over samples."
    return rendered(drawing, f"{suite}-seeds", f"{metric.label} of every system", note, lead=True)


def _seed_lines(axis: Any, rows: Sequence[Row], metric: str, points: Points) -> None:
    """All lines of a kind in one stroke: matplotlib takes its time for each thing it draws."""
    figures = [(-place, row.label, row.metrics[metric], row.samples[metric]) for place, row in enumerate(rows)]
    known = [(y, over.mean) for y, _, over, _ in figures if over.mean is not None]
    for y, _, over, _ in figures:
        if over.mean is None:
            axis.text(0.02, y, "undefined", va="center", transform=axis.get_yaxis_transform(), fontsize=7)
    samples = [(y, s.ci_low, s.ci_high) for y, _, over, s in figures if over.mean is not None and s.ci_low is not None]
    if samples:
        axis.hlines(*zip(*samples, strict=True), colors="#9ecae1", lw=6, zorder=2)
    if known:
        places, means = zip(*known, strict=True)
        axis.vlines(means, [y - 0.25 for y in places], [y + 0.25 for y in places], colors="#D55E00", lw=2, zorder=3)
    seen = [
        (value, y) for y, label, over, _ in figures if over.mean is not None for value in points.get(label, {}).values()
    ]
    if seen:
        axis.plot(*zip(*seen, strict=True), "o", mfc="white", mec="#0072B2", ms=4, zorder=4)


def _listed(axis: Any, names: Sequence[str]) -> None:
    """Names down the side, the first one on top, without ticks and lines that would cross the figures."""
    axis.set_yticks([-place for place in range(len(names))], names)
    axis.set_ylim(-len(names) + 0.4, 0.6)
    axis.tick_params(axis="y", left=False)
    axis.grid(axis="y", visible=False)


def differences_plot(comparisons: Sequence[Comparison], suite: str, metric: Metric) -> Plot | None:
    """The first metric of a suite: each system's difference to the baseline with its interval."""
    chosen = [c for c in comparisons if c.suite == suite and c.metric == metric.name and c.difference is not None]
    keys = list(dict.fromkeys((c.benchmark, c.model, c.baseline) for c in chosen))[:MAX_PANELS]
    if not keys:
        return None
    listed = {key: [c for c in chosen if (c.benchmark, c.model, c.baseline) == key][:_MAX_SYSTEMS] for key in keys}
    height = 1.0 + _ROW * max(len(own) for own in listed.values())
    left = inches(c.label for own in listed.values() for c in own)
    drawing, axes = panels([f"{b} · {m}, against {base}" for b, m, base in keys], height, left=left)
    for axis, own in zip(axes, listed.values(), strict=True):
        axis.axvline(0, color="#000000", lw=0.8)
        lines = [(-place, c.ci_low, c.ci_high) for place, c in enumerate(own) if c.ci_low is not None]
        if lines:
            axis.hlines(*zip(*lines, strict=True), colors="#0072B2", lw=1.5, zorder=2)
        for filled in (True, False):
            at = [(c.difference, -place) for place, c in enumerate(own) if c.significant == filled]
            if at:
                face = "#0072B2" if filled else "white"
                axis.plot(*zip(*at, strict=True), "o", color="#0072B2", mfc=face, ms=6, zorder=3)
        if (margin := own[0].margin) is not None:
            axis.axvspan(-margin, margin, color="#eeeeee", zorder=0)
        _listed(axis, [c.label for c in own])
        axis.set_xlabel(f"difference in {metric.label}")
    note = "Filled: significant after Holm. Line: 95% interval, paired by sample. Grey: differences taken as none."
    return rendered(drawing, f"{suite}-differences", f"{metric.label} against the baseline", note)


def pareto_plot(summary: Summary, suite: str) -> Plot | None:
    """Quality with its interval against list cost a sample, of every system whose price is known, free ones too; the
    line joins systems that no other beats in both."""
    metric = summary.metrics[suite][0]
    rows = [r for r in summary.rows if r.suite == suite and r.metrics[metric.name].mean is not None and r.n]
    priced = [row for row in rows if row.list_usd is not None]
    keys = list(dict.fromkeys(row.key for row in priced if row.list_usd))[:MAX_PANELS]
    if not keys:
        return None
    own = {key: [row for row in priced if row.key == key][:_MAX_SYSTEMS] for key in keys}
    legend = 0.1 + 0.18 * -(-max(map(len, own.values())) // 2)
    width = _ALONE if len(keys) == 1 else _BESIDE
    drawing, axes = panels([f"{b} · {m}" for _, b, m in keys], _PLANE + legend, width, left=_NUMBERS)
    for axis, listed in zip(axes, own.values(), strict=True):
        box = axis.get_position()
        share = legend / drawing.get_figheight()
        axis.set_position((box.x0, box.y0 + share, box.width, box.height - share))
        _plane(axis, listed, metric)
        below = -0.42 / (_PLANE - 0.8)
        axis.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.45, below), ncols=2, borderaxespad=0)
    unpriced = sorted({row.label for row in rows if row.list_usd is None and row.key in own})
    unknown = f" Not drawn, since the price is unknown: {', '.join(unpriced)}." if unpriced else ""
    note = f"Cost as if nothing had been reused; 95% intervals. Dashed: systems that no other beats in both.{unknown}"
    return rendered(drawing, f"{suite}-pareto", f"Cost and {metric.label}", note, lead=True)


def _plane(axis: Any, rows: Sequence[Row], metric: Metric) -> None:
    points = [(_usd_per_1000(row), row.metrics[metric.name].mean or 0.0, row.label) for row in rows]
    front = _front(points, higher=metric.higher_is_better is not False)
    axis.plot([x for x, _, _ in front], [y for _, y, _ in front], color="#7F7F7F", lw=1, ls="--", zorder=1)
    lines = [
        (x, row.samples[metric.name].ci_low, row.samples[metric.name].ci_high)
        for (x, _, _), row in zip(points, rows, strict=True)
        if row.samples[metric.name].ci_low is not None
    ]
    if lines:
        axis.vlines(*zip(*lines, strict=True), colors="#9ecae1", lw=2.5, zorder=1)
    for place, (x, y, label) in enumerate(points):
        # One that costs nothing lies on the edge; it is drawn whole.
        axis.plot([x], [y], MARKERS[place % 8], color=COLOURS[place % 8], ms=7, label=label, zorder=3, clip_on=False)
    paid = [x for x, _, _ in points if x > 0]
    if max(paid) / min(paid) > _WIDE:
        axis.set_xscale("symlog", linthresh=min(paid), linscale=0.5)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlim(0 if len(paid) < len(points) else min(paid) / 2, max(paid) * 2)
    else:
        axis.set_xlim(0, max(paid) * 1.1)
    axis.set_xlabel("list $ per 1,000 samples")
    axis.set_ylabel(metric.label)
    axis.margins(y=0.12)


def _usd_per_1000(row: Row) -> float:
    return 1000 * (row.list_usd or 0.0) / (row.n + row.n_errors + row.n_skipped)


def _front(points: Sequence[tuple[float, float, str]], *, higher: bool) -> list[tuple[float, float, str]]:
    front: list[tuple[float, float, str]] = []
    for point in sorted(points, key=lambda p: (p[0], -p[1] if higher else p[1])):
        if not front or (point[1] > front[-1][1] if higher else point[1] < front[-1][1]):
            front.append(point)
    return front


@dataclass(frozen=True, slots=True)
class Centre:
    """A mean with its interval, as drawn; None where there is none."""

    mean: float | None
    low: float | None = None
    high: float | None = None


def dots_plot(
    name: str, title: str, groups: Sequence[str], dots: Mapping[str, Sequence[Centre]], label: str = "", note: str = ""
) -> Plot:
    """Means with their intervals side by side, told apart by colour and marker; an undefined one has a dash."""
    drawing, (axis,) = panels([""], _BARS, columns=1, left=_NUMBERS)
    turned, in_a_line = len(groups) > 8, min(4, len(dots))
    below = 0.3 + (0.6 * inches(groups) if turned else 0.0)
    above = 0.1 + 0.2 * -(-len(dots) // in_a_line)
    box = axis.get_position()
    axis.set_position((box.x0, below / _BARS, box.width, 1 - (above + below) / _BARS))
    step = 0.7 / len(dots)
    for place, (system, values) in enumerate(dots.items()):
        at = [group + (place - (len(dots) - 1) / 2) * step for group in range(len(groups))]
        colour, marker = COLOURS[place % 8], MARKERS[place % 8]
        lines = [(x, v.low, v.high) for x, v in zip(at, values, strict=True) if v.low is not None]
        if lines:
            axis.vlines(*zip(*lines, strict=True), colors=colour, lw=1.5, alpha=0.6)
        known = [(x, v.mean) for x, v in zip(at, values, strict=True) if v.mean is not None]
        axis.plot(*(zip(*known, strict=True) if known else ([], [])), marker, color=colour, ms=5, label=system)
        for x, value in zip(at, values, strict=True):
            if value.mean is None:
                axis.text(x, 0, "-", ha="center", va="bottom", fontsize=7)
    axis.set_xticks(range(len(groups)), groups, rotation=30 if turned else 0)
    axis.set_xlim(-0.6, len(groups) - 0.4)
    axis.set_ylabel(label)
    axis.legend(ncols=in_a_line, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    axis.grid(axis="x", visible=False)
    return rendered(drawing, name, title, note)


def curves_plot(name: str, title: str, x: str, y: str, listed: Mapping[str, Sequence[Curve]], note: str) -> Plot:
    """Lines by panel: learning curves, curves over an option."""
    chosen = dict(list(listed.items())[:MAX_PANELS])
    drawing, axes = panels(list(chosen), 2.8, left=_NUMBERS)
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
