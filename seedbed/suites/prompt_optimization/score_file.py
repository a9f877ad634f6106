"""`seedbed score prompt_optimization FILE --benchmark IFBench`: answers made elsewhere, judged by code alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case, ScoreRow, resolve
from seedbed.suites.kit.outcomes import failed_row, skipped_row
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows
from seedbed.suites.kit.score_file import as_data, write_results
from seedbed.suites.prompt_optimization import SUITE
from seedbed.suites.prompt_optimization.benchmarks import hover_claims
from seedbed.suites.prompt_optimization.options import ScoreOptions
from seedbed.suites.prompt_optimization.scorers import aggregate, verdict_row
from seedbed.sweep.registry import nearest

_SPLITS = ("test", "val", "train", "all")
_FIELDS = {"ifbench": "response", "hover": "titles"}
"""Where the answer to a kind of case stands; elsewhere it is `answer`."""


def score_file(path: Path, out: Path, options: ScoreOptions) -> str:
    """Rows {sample_id, answer | response | titles} against the gold of a benchmark; a row with an error is one, not a
    wrong answer. Cases without a row are skipped and counted, and so are rows without a case: of another split, left
    out for want of a checker, or unknown."""
    loaded = _load(options)
    cases = {case.sample_id: case for case in _cases(loaded, options.split)}
    rows: dict[str, ScoreRow] = {}
    strangers: list[str] = []
    ids = UniqueIds("sample_id")
    for row in read_rows(path, shape="{sample_id, answer}"):
        sample_id = ids.add(row, row.identity("sample_id"))
        if sample_id in cases:
            rows[sample_id] = _scored(row, cases[sample_id])
        else:
            strangers.append(sample_id)
    if not rows:
        raise UserError(
            f"{path}: no sample_id of it is one of the {len(cases)} cases of {options.benchmark} ({options.split}), "
            f"such as {next(iter(cases))!r}; see --path and --split."
        )
    scored = [rows.get(name) or skipped_row(case, "no row in the file") for name, case in cases.items()]
    metrics = {**aggregate(scored), "n_rows_without_case": len(strangers)}
    left_out = {"rows_without_case": strangers, "left_out_of_the_benchmark": dict(loaded.excluded)}
    write_results(out, map(as_data, scored), metrics, **left_out)
    return f"{options.benchmark}: {_figures(metrics)}; files in {out}"


def _scored(row: Row, case: Case) -> ScoreRow:
    if row.data.get("error"):
        return failed_row(case, str(row.data["error"]))
    field = _FIELDS.get(case.meta["kind"], "answer")
    if row.data.get(field) is None:
        raise row.error(f"field {field} is missing; where there is no answer, say why in the field error.")
    return verdict_row(case, row.data)


def _figures(metrics: Mapping[str, float | int | None]) -> str:
    shown = [f"{name} {100 * value:.2f}" for name in ("score", "strict") if (value := metrics.get(name)) is not None]
    counts = [f"n={metrics['n']}", f"errors={metrics['n_errors']}", f"skipped={metrics['n_skipped']}"]
    if metrics["n_rows_without_case"]:
        counts.append(f"rows without a case={metrics['n_rows_without_case']}")
    return ", ".join([*shown, *counts])


def _load(options: ScoreOptions) -> Benchmark:
    if options.benchmark not in SUITE.benchmarks:
        raise UserError(f"--benchmark: unknown {options.benchmark!r}; {nearest(options.benchmark, SUITE.benchmarks)}")
    if options.benchmark == "Papillon":
        raise UserError("--benchmark: Papillon needs a judge model; run it in a sweep.")
    if options.split not in _SPLITS:
        raise UserError(f"--split: {options.split!r} is none of {', '.join(_SPLITS)}.")
    spec = SUITE.benchmarks[options.benchmark]
    chosen: Any = resolve(spec.options).model_validate({"path": options.path, "whole": options.split == "all"})
    # Titles are compared here, not searched for: no corpus is needed.
    return (hover_claims if options.benchmark == "hoverBench" else resolve(spec.load))(chosen)


def _cases(loaded: Benchmark, split: str) -> list[Case]:
    splits = {"test": loaded.test, "val": loaded.val, "train": loaded.train}
    return [case for name, own in splits.items() if split in (name, "all") for case in own]
