"""The suite's lines on the console and its part of the report: scores beside published ones, costs, learning curves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.analysis.means import over_seeds
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import CellResult, Figure, Shown, Table
from seedbed.suites.kit.drawing import rendered
from seedbed.suites.prompt_optimization.published import SOURCE, published_score

Curve = list[tuple[float, float]]
_COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#7b4b94", "#b08900", "#555555")


def console(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """`CoT+GEPA-5 | score= 75.00 | gain=+36.67 | n=60`; what is undefined is shown as "-"."""
    width = max((len(label) for label in metrics), default=0)
    lines: list[str] = []
    for label, own in metrics.items():
        score, gain = _percent(own.get("score")), _percent(own.get("gain"), sign=True)
        lines.append(f"{label:<{width}} | score={score} | gain={gain} | n={own['n']}")
    return "\n".join(lines)


def report(cells: Sequence[CellResult]) -> Sequence[Table | Figure]:
    """Scores, the account of the searches, and a learning curve a benchmark."""
    searched = [cell for cell in cells if (cell.folder / "candidates.jsonl").exists()]
    parts: list[Table | Figure] = [_scores(cells)]
    if searched:
        parts.append(_searches(searched))
        parts.extend(_curves(name, own) for name, own in _by_benchmark(searched).items())
    return parts


def _scores(cells: Sequence[CellResult]) -> Table:
    families: dict[tuple[str, str, str], list[CellResult]] = defaultdict(list)
    for cell in cells:
        families[(cell.benchmark, cell.label, cell.model)].append(cell)
    rows: list[list[str | float | int | None]] = []
    for (benchmark, label, model), own in families.items():
        figure = over_seeds([cell.metrics.get("score") for cell in own])
        shown = own[0].shown.get("score", Shown(figure.mean))
        low, high = _percent(shown.low), _percent(shown.high)
        rows.append(
            [
                benchmark,
                label,
                model,
                _percent(figure.mean).strip(),
                _percent(figure.std).strip(),
                f"{low.strip()} to {high.strip()}" if shown.low is not None else None,
                _percent(over_seeds([cell.metrics.get("strict") for cell in own]).mean).strip(),
                figure.n_seeds,
                sum(cell.metrics["n"] for cell in own),
                sum(cell.metrics["n_errors"] for cell in own),
                _published(own),
            ]
        )
    columns = ["benchmark", "program", "model", "score", "std", "95% CI", "strict", "seeds", "n", "errors", "published"]
    note = (
        f"Published: {SOURCE}; not measured here, and shown only beside the same optimizer, model and benchmark. "
        "IFBench's score is loose; strict stands beside it. 95% CI: over samples."
    )
    return Table("Scores on test", columns, rows, note)


def _published(cells: Sequence[CellResult]) -> str | None:
    values = {published_score(cell) for cell in cells}
    value = values.pop() if len(values) == 1 else None
    return None if value is None else f"{value:.2f}"


def _searches(cells: Sequence[CellResult]) -> Table:
    rows: list[list[str | float | int | None]] = []
    for cell in cells:
        done = read_json(cell.folder / "done" / "optimise.json")["result"]
        usage = done["usage"]
        rows.append(
            [
                cell.benchmark,
                cell.label,
                cell.seed,
                done["n_candidates"],
                done["metric_calls"],
                _percent(done["val_score_before"]).strip(),
                _percent(done["val_score_after"]).strip(),
                usage["calls"],
                usage["tokens_in"] + usage["tokens_out"],
                _dollars(usage["list_usd"]),
                _dollars(usage["spent_usd"]),
                done["unreadable_answers"] + done["too_long_prompts"],
            ]
        )
    columns = ["benchmark", "program", "seed", "candidates", "metric calls", "val before", "val after"]
    columns += ["LM calls", "tokens", "list $", "paid $", "scored 0 as unreadable"]
    return Table(
        "What the searches did", columns, rows, "List $ is what a fresh run would pay; paid $ what this one paid."
    )


def _by_benchmark(cells: Sequence[CellResult]) -> dict[str, list[CellResult]]:
    grouped: dict[str, list[CellResult]] = defaultdict(list)
    for cell in cells:
        grouped[cell.benchmark].append(cell)
    return grouped


def learning_curve(cell: CellResult) -> Curve:
    """(metric calls, best val score so far) at every candidate that was scored on the whole val split."""
    rows = [row for row in read_jsonl(cell.folder / "candidates.jsonl") if row["whole_val"]]
    curve: Curve = []
    best = float("-inf")
    for row in sorted(rows, key=lambda row: row["metric_calls"]):
        best = max(best, row["val_score"])
        curve.append((row["metric_calls"], 100 * best))
    return curve


def _curves(benchmark: str, cells: Sequence[CellResult]) -> Figure:
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(6.4, 3.6), layout="constrained")
    axes = canvas.add_subplot()
    labels = list(dict.fromkeys(cell.label for cell in cells))
    for cell in cells:
        curve = learning_curve(cell)
        if not curve:
            continue
        colour = _COLOURS[labels.index(cell.label) % len(_COLOURS)]
        name = cell.label.partition("+")[2] if cell.seed == min(c.seed for c in cells) else None
        axes.step(
            *zip(*curve, strict=True), where="post", marker="o", markersize=3, color=colour, alpha=0.8, label=name
        )
    axes.set_xlabel("metric calls")
    axes.set_ylabel("best val score so far")
    axes.set_ylim(0, 100)
    axes.grid(alpha=0.25)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    svg, png = rendered(canvas)
    return Figure(f"Learning curves: {benchmark}", svg, "A line a seed, a dot a candidate scored on all of val.", png)


def _percent(value: float | None, *, sign: bool = False) -> str:
    if value is None:
        return "-"
    return f"{100 * value:+6.2f}" if sign else f"{100 * value:6.2f}"


def _dollars(value: float | None) -> str:
    return "?" if value is None else f"{value:.4f}"
