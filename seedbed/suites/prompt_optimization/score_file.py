"""`seedbed score prompt_optimization FILE --benchmark IFBench`: answers made elsewhere, judged by code alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.storage.store import read_jsonl, write_json, write_jsonl
from seedbed.suite import Benchmark, Case, ScoreRow, resolve
from seedbed.suites.prompt_optimization import SUITE
from seedbed.suites.prompt_optimization.benchmarks import hover_claims
from seedbed.suites.prompt_optimization.options import ScoreOptions
from seedbed.suites.prompt_optimization.scorers import aggregate, verdict_row
from seedbed.sweep.registry import nearest

_SPLITS = ("test", "val", "train", "all")


def score_file(path: Path, out: Path, options: ScoreOptions) -> str:
    """Rows {sample_id, answer | response, titles?} against the gold of a benchmark. Cases without a row are skipped and
    counted, and so are rows without a case: of another split, left out for want of a checker, or unknown."""
    loaded = _load(options)
    cases = {case.sample_id: case for case in _cases(loaded, options.split)}
    rows: dict[str, ScoreRow] = {}
    strangers: list[str] = []
    for given in read_jsonl(path):
        case = cases.get(str(given.get("sample_id")))
        if case is None:
            strangers.append(str(given.get("sample_id")))
        else:
            rows[case.sample_id] = verdict_row(case, given)
    if not rows:
        raise UserError(
            f"{path}: no sample_id of it is one of the {len(cases)} cases of {options.benchmark} ({options.split}), "
            f"such as {next(iter(cases))!r}; see --path and --split."
        )
    scored = [rows.get(name) or ScoreRow(name, "skipped", reason="no row in the file") for name in cases]
    metrics = {**aggregate(scored), "n_rows_without_case": len(strangers)}
    left_out = {"rows_without_case": strangers, "left_out_of_the_benchmark": dict(loaded.excluded)}
    write_jsonl(out / "scores.jsonl", (asdict(row) for row in scored))
    write_json(out / "metrics.json", {"metrics": metrics, **left_out})
    return f"{options.benchmark}: {_figures(metrics)}; files in {out}"


def _figures(metrics: Mapping[str, float | int | None]) -> str:
    shown = [f"{name} {100 * value:.2f}" for name in ("score", "strict") if (value := metrics.get(name)) is not None]
    counts = [f"n={metrics['n']}", f"skipped={metrics['n_skipped']}"]
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
