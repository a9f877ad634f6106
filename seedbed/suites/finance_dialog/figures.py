"""A drawing of the headline figures with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seedbed.suite import Figure
from seedbed.suites.finance_dialog.pooled import Pooled, quotient
from seedbed.suites.kit.drawing import rendered

_COLOUR = "#0072B2"


def draw(systems: Sequence[Pooled], headlines: Mapping[str, str]) -> Figure:
    """A panel a metric, a line a system, points with 95% intervals."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing

    labels = _labels(systems)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "seedbed", "font.size": 9}):
        drawing = Drawing(figsize=(12, 1.1 + 0.32 * len(systems)), layout="constrained")
        panels = drawing.subplots(1, len(headlines), sharey=True, squeeze=False)[0]
        for panel, (metric, name) in zip(panels, headlines.items(), strict=True):
            figure = quotient(metric, name)
            for place, system in enumerate(systems):
                shown = system.figure(metric, figure)
                if shown.mean is None:
                    panel.text(0.5, place, "not defined", ha="center", va="center", color="#888888")
                    continue
                if shown.low is not None and shown.high is not None:
                    panel.plot([shown.low, shown.high], [place, place], color=_COLOUR, linewidth=1.5)
                hollow = (system.availability(metric) or 1.0) < 1
                panel.plot(shown.mean, place, "o", color=_COLOUR, markerfacecolor="white" if hollow else _COLOUR)
            panel.set_title(f"{metric.partition('_')[0].upper()} {name.replace('_', ' ')}", fontsize=9)
            panel.set_xlim(-0.02, 1.02)
            panel.grid(axis="x", color="#dddddd")
            panel.spines[["top", "right"]].set_visible(False)
        panels[0].set_yticks(range(len(systems)), labels)
        panels[0].set_ylim(len(systems) - 0.5, -0.5)
        svg, png = rendered(drawing)
    note = "Micro figures, means over seeds, 95% intervals over dialogues. Hollow points leave failed turns out."
    return Figure("Headline figures", svg, note, png)


def _labels(systems: Sequence[Pooled]) -> list[str]:
    """The system alone where benchmark and model are the same for all."""
    same = len({(system.benchmark, system.model) for system in systems}) == 1
    return [system.label if same else " · ".join(system.name) for system in systems]
