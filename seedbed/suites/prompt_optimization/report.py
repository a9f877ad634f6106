"""The suite's lines on the console and its part of the report: scores beside published ones, what the searches cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.analysis.means import over_seeds
from seedbed.storage.store import read_json
from seedbed.suite import CellResult, Figure, Shown, Table
from seedbed.suites.prompt_optimization.published import SOURCE, published_score


def console(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """`CoT+GEPA-5 | score= 75.00 | gain=+36.67 | n=60`; what is undefined is shown as "-"."""
    width = max((len(label) for label in metrics), default=0)
    lines: list[str] = []
    for label, own in metrics.items():
        score, gain = _percent(own.get("score")), _percent(own.get("gain"), sign=True)
        lines.append(f"{label:<{width}} | score={score} | gain={gain} | n={own['n']}")
    return "\n".join(lines)


def report(cells: Sequence[CellResult]) -> Sequence[Table | Figure]:
    """Scores beside published ones and the account of the searches; learning curves are drawn as every suite's are."""
    searched = [cell for cell in cells if (cell.folder / "candidates.jsonl").exists()]
    parts: list[Table | Figure] = [_scores(cells)]
    if searched:
        parts.append(_searches(searched))
    return parts


def _scores(cells: Sequence[CellResult]) -> Table:
    families: dict[tuple[str, str, str], list[CellResult]] = defaultdict(list)
    for cell in cells:
        families[(cell.benchmark, cell.label, cell.model)].append(cell)
    rows: list[list[str | float | int | None]] = []
    for (benchmark, label, model), own in families.items():
        figure = over_seeds([cell.metrics.get("score") for cell in own])
        shown = own[0].shown.get("score", Shown(figure.mean))
        rows.append(
            [
                benchmark,
                label,
                model,
                _share(figure.mean),
                _share(figure.std),
                f"{_share(shown.low)} to {_share(shown.high)}" if shown.low is not None else None,
                _share(over_seeds([cell.metrics.get("strict") for cell in own]).mean),
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
    return None if value is None else _share(value / 100)


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
                _share(done["val_score_before"]),
                _share(done["val_score_after"]),
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


def _share(value: float | None) -> str:
    """On the scale of the suite's table."""
    return "-" if value is None else f"{value:.4f}"


def _percent(value: float | None, *, sign: bool = False) -> str:
    if value is None:
        return "-"
    return f"{100 * value:+6.2f}" if sign else f"{100 * value:6.2f}"


def _dollars(value: float | None) -> str:
    return "?" if value is None else f"{value:.4f}"
