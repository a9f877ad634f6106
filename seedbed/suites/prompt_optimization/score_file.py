"""`seedbed score prompt_optimization FILE --benchmark IFBench`: answers made elsewhere, judged by code alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from seedbed.errors import UserError
from seedbed.registry import nearest
from seedbed.store import read_jsonl, write_json, write_jsonl
from seedbed.suite import Benchmark, Case, ScoreRow, resolve
from seedbed.suites.prompt_optimization import SUITE
from seedbed.suites.prompt_optimization.options import ScoreOptions
from seedbed.suites.prompt_optimization.scorers import aggregate
from seedbed.suites.prompt_optimization.verdicts import verdict

_SPLITS = ("test", "val", "train", "all")


def score_file(path: Path, out: Path, options: ScoreOptions) -> str:
    """Rows {sample_id, answer | response, titles?} against the gold of a benchmark; cases without a row are skipped."""
    cases = {case.sample_id: case for case in _cases(options)}
    rows: dict[str, ScoreRow] = {}
    for number, given in enumerate(read_jsonl(path), start=1):
        case = cases.get(str(given.get("sample_id")))
        if case is None:
            raise UserError(f"{path}:{number}: sample_id {given.get('sample_id')!r} is none of {options.benchmark}.")
        told = verdict(case, given)
        rows[case.sample_id] = ScoreRow(
            case.sample_id, "ok", {"score": told.score}, {"told": told.text}, cluster=case.cluster
        )
    scored = [rows.get(name) or ScoreRow(name, "skipped", reason="no row in the file") for name in cases]
    metrics = aggregate(scored)
    write_jsonl(out / "scores.jsonl", (asdict(row) for row in scored))
    write_json(out / "metrics.json", {"metrics": metrics})
    shown = "-" if metrics["score"] is None else f"{100 * metrics['score']:.2f}"
    return f"{options.benchmark}: score {shown}, n={metrics['n']}, skipped={metrics['n_skipped']}; files in {out}"


def _cases(options: ScoreOptions) -> list[Case]:
    if options.benchmark not in SUITE.benchmarks:
        raise UserError(f"--benchmark: unknown {options.benchmark!r}; {nearest(options.benchmark, SUITE.benchmarks)}")
    if options.benchmark == "Papillon":
        raise UserError("--benchmark: Papillon needs a judge model; run it in a sweep.")
    if options.split not in _SPLITS:
        raise UserError(f"--split: {options.split!r} is none of {', '.join(_SPLITS)}.")
    spec = SUITE.benchmarks[options.benchmark]
    path = Path(options.path) if options.path else None
    loaded: Benchmark = resolve(spec.load)(resolve(spec.options)(path=path))
    splits: Mapping[str, list[Case]] = {"test": [*loaded.test], "val": [*loaded.val], "train": [*loaded.train]}
    return [case for split in splits.values() for case in split] if options.split == "all" else splits[options.split]
