"""The result of a cell as a row for a results table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.phases.context import CellContext
from seedbed.storage.store import read_jsonl, write_json, write_text
from seedbed.suite import Metric
from seedbed.sweep.cell import Cell

FOLDER = "evaluation_results"
_USD_DIGITS = 12


def write_result(
    context: CellContext, folder: Path, metrics: Mapping[str, Any], usage: Mapping[str, Mapping[str, Any]]
) -> None:
    """evaluation_result.txt, whose bytes other tools rely on, and the same as JSON with what they leave out."""
    percent, data = result_data(context.resolved.metrics[0], context.cell, metrics, usage, program_scores(folder))
    write_text(folder / FOLDER / "evaluation_result.txt", result_text(percent, usage, data["optimizer"]))
    write_json(folder / FOLDER / "result.json", data)


def program_scores(folder: Path) -> list[float] | None:
    """Val scores, from 0 to 100, of the candidates that an optimizer scored on all of val, in the order of its search;
    None where there was none."""
    path = folder / "candidates.jsonl"
    if not path.exists():
        return None
    return [100.0 * row["val_score"] for row in read_jsonl(path) if row["whole_val"]]


def result_data(
    primary: Metric,
    cell: Cell,
    metrics: Mapping[str, Any],
    usage: Mapping[str, Mapping[str, Any]],
    optimizer_program_scores: list[float] | None,
) -> tuple[float | None, dict[str, Any]]:
    """The score from 0 to 100, and what result.json holds."""
    value = metrics.get(primary.name)
    percent = None if value is None else 100.0 * primary.share(value)
    return percent, {
        "benchmark": cell.benchmark,
        "program": cell.system,
        "metric": primary.name,
        "score": percent,
        "n": metrics["n"],
        "n_errors": metrics["n_errors"],
        "n_skipped": metrics["n_skipped"],
        "n_unreadable": metrics.get("n_unreadable", 0),
        "n_truncated": metrics.get("n_truncated", 0),
        **_account(usage["generate"], ""),
        "optimizer": cell.optimizer if "optimise" in usage else None,
        **_account(usage.get("optimise"), "optimizer_"),
        "optimizer_program_scores": optimizer_program_scores,
        **_account(usage.get("score"), "judge_"),
    }


def result_text(percent: float | None, usage: Mapping[str, Mapping[str, Any]], optimizer: str | None) -> str:
    """Header and row. Without an optimizer both end after the evaluation's columns; the row of a cell with one has a
    comma more than its header. Costs are as if nothing had been reused; an unknown price leaves the field empty."""
    header, row = "score,cost,input_tokens,output_tokens,", f"{_text(percent)},{_columns(usage['generate'])}"
    if optimizer is not None:
        header += "optimizer,optimizer_cost,optimizer_input_tokens,optimizer_output_tokens"
        row += f"{optimizer},{_columns(usage['optimise'])}"
    return f"{header}\n{row}\n"


def _columns(usage: Mapping[str, Any]) -> str:
    return "".join(
        f"{_text(value)}," for value in (exact_usd(usage["list_usd"]), usage["tokens_in"], usage["tokens_out"])
    )


def exact_usd(value: float | None) -> float | None:
    """Without the last digits, which depend on the order in which a database adds up."""
    return None if value is None else round(value, _USD_DIGITS)


def _text(value: float | None) -> str:
    return "" if value is None else str(value)


def _account(usage: Mapping[str, Any] | None, prefix: str) -> dict[str, Any]:
    """Cost as if fresh, what was paid, calls and tokens of a phase; all null where there was no such phase."""
    names = {
        "cost": "list_usd",
        "paid": "spent_usd",
        "calls": "calls",
        "input_tokens": "tokens_in",
        "output_tokens": "tokens_out",
        "outcomes": "outcomes",
    }
    account = {f"{prefix}{shown}": usage[name] if usage else None for shown, name in names.items()}
    return account | {f"{prefix}{name}": exact_usd(account[f"{prefix}{name}"]) for name in ("cost", "paid")}
