"""Checks the files of a cell: what its markers say, its account in the ledger, its figures from its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from seedbed.analysis.means import mean
from seedbed.lm.ledger.answerers import answerers
from seedbed.lm.ledger.reads import history, phase_usage
from seedbed.phases import generate, optimise, score
from seedbed.phases.context import CellContext, SweepRun
from seedbed.phases.predict import read_prediction
from seedbed.phases.result import program_scores, result_data, result_text
from seedbed.phases.scorers import cell_metrics
from seedbed.phases.uncounted import counted
from seedbed.phases.verification.checker import Checker
from seedbed.storage.objects import sizes
from seedbed.storage.redact import redact
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import GENERATE_TIMES, SCORE_TIMES, Failure, ScoreRow
from seedbed.sweep.cell import Cell, Phase, cell_id, model_identity
from seedbed.sweep.identity import answers_of, case_hash
from seedbed.sweep.manifest import MADE_WITH
from seedbed.sweep.model_config import ModelConfig

LEDGER = "the ledger gives"
_PLAN = "the plan gives"
_FILES: Mapping[Phase, tuple[str, ...]] = {
    "optimise": tuple(optimise.FILES),
    "generate": ("config.json", "predictions.jsonl", GENERATE_TIMES),
    "score": ("scores.jsonl", *score.FILES, SCORE_TIMES),
}
_MAYBE = (GENERATE_TIMES, SCORE_TIMES)
"""Written only where a clock gave something to write."""


def check_identity(check: Checker, run: SweepRun, cell: Cell, *, with_cases: bool) -> None:
    """A cell's id is the hash of its parts, and its parts are those of the plan's config, this code and this data."""
    path = run.folder / "plan.json"
    check.compare(path, cell.id, cell_id(cell.answers), f"the id of {cell.title!r}", "its parts give")
    computed: Mapping[str, str] = {}
    if with_cases:
        resolved = run.plan.resolve(cell)
        cases = case_hash(run.plan.benchmark(cell)) if resolved.benchmark_spec.known_by_cases else None
        computed = answers_of(resolved, cell.seed, cases)
    for name, expected in computed.items():
        if cell.answers.get(name) != expected:
            told = f"the part {name!r} of {cell.title!r} is not what the config, the code and the data here give"
            check.differ(path, told)


def check_cell(check: Checker, run: SweepRun, cell: Cell, engine: Engine | None, *, with_cases: bool) -> None:
    """Everything in a cell's folder that follows from rows or from the ledger without running anything."""
    folder, context = run.store.cell_dir(cell), CellContext(run, cell, "score")
    done: dict[Phase, dict[str, Any]] = {}
    for phase in cell.phases:
        with check.reading(folder / "done" / f"{phase}.json"):
            done[phase] = read_json(folder / "done" / f"{phase}.json")
            _check_marker(check, run, cell, phase, done[phase])
    owner = {"cell_id": cell.id, "title": cell.title, "answers": dict(cell.answers)}
    with check.reading(folder / "cell.json"):
        check.compare(folder / "cell.json", _body(folder / "cell.json"), owner, told=_PLAN)
    with check.reading(folder / "config.json"):
        _check_config(check, context, folder / "config.json")
    with check.reading(folder / "manifest.json"):
        _check_manifest(check, context, folder / "manifest.json", engine, with_cases=with_cases)
    if engine is not None:
        with check.reading(folder / "lm_history.jsonl"):
            executions = [marker["result"]["execution"] for marker in done.values()]
            told = [_as_written(row) for row in history(engine, cell.id, executions)]
            check.rows(folder / "lm_history.jsonl", list(read_jsonl(folder / "lm_history.jsonl")), told, LEDGER)
    with check.reading(folder / "metrics.json"):
        _check_figures(check, context, folder, done, engine)
    if cell.optimised:
        with check.reading(folder / "candidates.jsonl"):
            _check_search(check, folder, done["optimise"]["result"])


def _check_marker(check: Checker, run: SweepRun, cell: Cell, phase: Phase, marker: Mapping[str, Any]) -> None:
    folder = run.store.cell_dir(cell)
    path = folder / "done" / f"{phase}.json"
    for name, expected in marker["sha256"].items():
        check.hashed(folder / name, expected)
    names = [name for name in _FILES[phase] if name not in _MAYBE or (folder / name).exists()]
    told = {
        "cell_id": cell.id,
        "phase": phase,
        "key": cell.key(phase),
        "parts": dict(cell.parts(phase)),
        "files": sizes(folder, names),
    }
    check.compare(path, {name: marker[name] for name in told}, told, told=_PLAN)
    check.compare(path, sorted(marker["sha256"]), sorted(names), "the names under sha256", "the phase writes")
    if marker["generation"] < run.generation:
        check.differ(path, f"generation is {marker['generation']}, the run's is {run.generation}")


def _check_config(check: Checker, context: CellContext, path: Path) -> None:
    """What a cell says it is. Settings that change no answer may have been others when it was run."""
    told, expected = _body(path), generate.cell_config(context)
    scoring = ("scoring", "experiment", "in_looks")
    for side in (told, expected):
        side["cell"] = {name: value for name, value in side["cell"].items() if name not in scoring}
        _without_names(side)
    settings = told["model"], expected["model"]
    for side in (told, expected):
        side["model"] = model_identity(ModelConfig.model_validate(side["model"]))
    check.compare(path, told, expected, told=_PLAN)
    changed = [
        name for name in settings[1] if name not in expected["model"] and settings[0].get(name) != settings[1][name]
    ]
    if changed:
        names = ", ".join(f"model.{name}" for name in changed)
        check.left_out(f"{check.name(path)}: {names} (changes no answer, and differs from the sweep's config of today)")


def _check_manifest(
    check: Checker, context: CellContext, path: Path, engine: Engine | None, *, with_cases: bool
) -> None:
    told, run = _body(path), context.run
    who: list[dict[str, Any]] = told["answerers"]
    if engine is not None:
        who = answerers(engine, run.plan.config.name, run.generation, cell=context.cell.id)
    expected = dict(score.cell_manifest(context, who, with_cases=with_cases))
    for name in (*MADE_WITH, "config_hash"):
        told.pop(name, None)
        expected.pop(name, None)
    if not with_cases:
        told = {name: value for name, value in told.items() if name not in score.OF_CASES}
    for side in (told, expected):
        _without_names(side)
    check.compare(path, told, expected, told=_PLAN)


def _without_names(side: dict[str, Any]) -> None:
    """Drop what the config may call otherwise by now: where the data lies, and the models behind roles."""
    side["benchmark_options"] = {k: v for k, v in side["benchmark_options"].items() if k != "path"}
    side["roles"] = sorted(side["roles"])


def _check_figures(
    check: Checker, context: CellContext, folder: Path, done: Mapping[Phase, dict[str, Any]], engine: Engine | None
) -> None:
    cell, primary = context.cell, context.resolved.metrics[0]
    published = read_json(folder / "metrics.json")
    rows = [ScoreRow(**row) for row in read_jsonl(folder / "scores.jsonl")]
    metrics = cell_metrics(context.resolved, rows)
    usage: dict[str, Any] = published["usage"]
    if engine is not None:
        usage = {
            phase: phase_usage(
                engine, cell.id, phase, (made := marker["result"])["execution"], made["generation"]
            ).to_json()
            for phase, marker in done.items()
        }
        made = done["generate"]["result"]
        usage["generate"] = counted(usage["generate"], context.resolved.calls_per_case, made["n"] - made["n_errors"])
    told = {"metrics": {cell.label: metrics}, "usage": usage}
    check.compare(folder / "metrics.json", _body(folder / "metrics.json"), told)
    check.compare(folder / "done/score.json", done["score"]["result"]["metrics"], metrics, "result.metrics")
    for phase, marker in done.items():
        own = usage if phase == "score" else usage[phase]
        check.compare(folder / f"done/{phase}.json", marker["result"]["usage"], own, "result.usage", LEDGER)
    _check_counts(check, folder, rows, done["generate"]["result"])
    percent, data = result_data(primary, cell, metrics, usage, program_scores(folder))
    result = folder / "evaluation_results/result.json"
    with check.reading(result):
        check.compare(result, _body(result), data)
    text = folder / "evaluation_results/evaluation_result.txt"
    with check.reading(text):
        check.text(text, text.read_text(encoding="utf-8"), result_text(percent, usage, data["optimizer"]))
    with check.reading(folder / "metric_logs/test.jsonl"):
        logged = score.metric_log(primary, rows)
        check.rows(folder / "metric_logs/test.jsonl", list(read_jsonl(folder / "metric_logs/test.jsonl")), logged)


def _check_counts(check: Checker, folder: Path, rows: list[ScoreRow], result: Mapping[str, Any]) -> None:
    """Answers and scores are of the same samples, as many as were asked."""
    path = folder / "predictions.jsonl"
    with check.reading(path):
        given = list(read_jsonl(path))
        names = [row["sample_id"] for row in given]
        check.compare(path, names, [row.sample_id for row in rows], "sample_id of rows", "scores.jsonl gives")
        ended = [read_prediction(row) for row in given]
        failed = sum(isinstance(one, Failure) and not one.unreadable for one in ended)
        marker = folder / "done/generate.json"
        check.compare(marker, [result["n"], result["n_errors"]], [len(given), failed], "result.n and n_errors")


def _check_search(check: Checker, folder: Path, result: Mapping[str, Any]) -> None:
    """The scores of candidates follow from the judgements on train and val; the program is the chosen candidate's."""
    path = folder / "candidates.jsonl"
    rows = list(read_jsonl(path))
    logged: dict[str, list[dict[str, Any]]] = {}
    for split in ("train", "val"):
        log = folder / f"metric_logs/{split}.jsonl"
        with check.reading(log):
            logged[split] = list(read_jsonl(log))
            _check_log(check, log, logged[split], rows, split)
    chosen = [row for row in rows if row["chosen"]]
    if len(chosen) != 1:
        check.differ(path, f"{len(chosen)} candidates are chosen; it is always one")
        return
    marker = folder / "done/optimise.json"
    told = {
        "n_candidates": len(rows),
        "chosen": chosen[0]["candidate"],
        "val_score_before": rows[0]["val_score"],
        "val_score_after": chosen[0]["val_score"],
        "metric_calls": sum(map(len, logged.values())),
    }
    check.compare(marker, {name: result[name] for name in told}, told, "result", "the search's files give")
    program = folder / "program.json"
    with check.reading(program):
        own = read_json(program)
        parts = {name: chosen[0][name] for name in ("instructions", "n_demos")}
        check.compare(program, {name: own[name] for name in parts}, parts, told="candidates.jsonl gives")


def _check_log(check: Checker, log: Path, judged: list[dict[str, Any]], rows: list[dict[str, Any]], split: str) -> None:
    if judged != sorted(judged, key=lambda row: (row["candidate"], row["sample_id"])):
        check.differ(log, "its rows are not in the order of candidates and samples")
    scores: dict[int, dict[str, list[float]]] = {}
    for row in judged:
        scores.setdefault(row["candidate"], {}).setdefault(row["sample_id"], []).append(row["score"])
    for row in rows:
        own = scores.pop(row["candidate"], {})
        named = f"candidate {row['candidate']}"
        if len(own) != row[f"n_{split}"]:
            check.differ(log, f"{named} is judged on {len(own)} samples, candidates.jsonl says {row[f'n_{split}']}")
        # Of a sample judged more than once the last counts, and the file does not keep that order.
        if all(len(set(values)) == 1 for values in own.values()):
            centre = mean([values[0] for values in own.values()])
            check.compare(
                log, row[f"{split}_score"], centre, f"{split}_score of {named} in candidates.jsonl", "its rows give"
            )
    for candidate in scores:
        check.differ(log, f"judges candidate {candidate}, which candidates.jsonl does not have")


def _as_written(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as a file has it: without the secrets that a request may hold."""
    return json.loads(redact(json.dumps(row, ensure_ascii=False)))


def _body(path: Path) -> dict[str, Any]:
    return {key: value for key, value in read_json(path).items() if key != "schema_version"}
