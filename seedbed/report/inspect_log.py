"""A sweep as logs of inspect_ai, a file a cell, which `inspect view` and its Python reader open.

Written as that format's JSON, without the package: what an export needs is plain data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seedbed.analysis.means import mean, sample_std
from seedbed.lm.ledger.sample_usage import sample_usage
from seedbed.storage.hashing import hash_json
from seedbed.storage.store import Store, read_json, read_jsonl, write_text
from seedbed.suite import Case, SampleUsage
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import Plan

_VERSION = 2


def write_inspect_logs(store: Store, plan: Plan, cells: Sequence[Cell], folder: Path, engine: Any) -> list[Path]:
    """A log a cell in the folder; returns their paths."""
    written: list[Path] = []
    for cell in cells:
        log = _log(store, plan, cell, engine)
        path = folder / _file_name(cell, log["eval"]["created"])
        write_text(path, json.dumps(log, ensure_ascii=False, indent=1))
        written.append(path)
    return written


def _file_name(cell: Cell, created: str) -> str:
    """TIME_TASK_ID.json: inspect_ai takes files of other names for no logs."""
    names = (cell.benchmark, cell.system, cell.optimizer, cell.model, f"seed-{cell.seed}")
    stamp = created.replace(":", "-").replace("+", "-")
    return f"{stamp}_{'-'.join(names).replace('_', '-')}_{cell.id[:22]}.json"


def _log(store: Store, plan: Plan, cell: Cell, engine: Any) -> dict[str, Any]:
    folder = store.cell_dir(cell)
    done = {phase: folder / "done" / f"{phase}.json" for phase in ("generate", "score")}
    times = {phase: _time(path) for phase, path in done.items()}
    execution = read_json(done["generate"])["result"]["execution"]
    used = sample_usage(engine, cell.id, "generate", execution)
    cases = {case.sample_id: case for case in plan.benchmark(cell).test}
    answers = {row["sample_id"]: row for row in read_jsonl(folder / "predictions.jsonl")}
    rows = list(read_jsonl(folder / "scores.jsonl"))
    model = plan.resolve(cell).model()[1].model
    samples = [
        _sample(cases[r["sample_id"]], answers[r["sample_id"]], r, model, used.get(r["sample_id"])) for r in rows
    ]
    names = [metric.name for metric in plan.resolve(cell).metrics if metric.kind != "pooled"]
    return {
        "version": _VERSION,
        "status": "success",
        "eval": _spec(plan, cell, model, times["generate"], [case.sample_id for case in cases.values()]),
        "plan": {"name": cell.system, "steps": [], "config": {}},
        "results": {
            "total_samples": len(rows),
            "completed_samples": sum(row["status"] == "ok" for row in rows),
            "scores": [_score(name, rows) for name in names],
        },
        "stats": {
            "started_at": times["generate"],
            "completed_at": times["score"],
            "model_usage": {model: _usage(list(used.values()))} if used else {},
        },
        "samples": samples,
    }


def _spec(plan: Plan, cell: Cell, model: str, created: str, ids: Sequence[str]) -> dict[str, Any]:
    return {
        "eval_id": hash_json([cell.id, "eval"])[:22],
        "run_id": hash_json([plan.config.name, "run"])[:22],
        "created": created,
        "task": f"{cell.suite}/{cell.benchmark}",
        "task_id": hash_json([cell.suite, cell.benchmark])[:22],
        "task_version": 0,
        "task_attribs": {},
        "task_args": {},
        "solver": cell.label,
        "model": model,
        "model_args": {},
        "dataset": {"name": cell.benchmark, "samples": len(ids), "sample_ids": list(ids), "shuffled": False},
        "config": {"epochs": 1},
        "packages": {},
        "metadata": {
            "sweep": plan.config.name,
            "system": cell.label,
            "seed": cell.seed,
            "cell_id": cell.id,
            "simulated": plan.simulated,
        },
    }


def _sample(
    case: Case, answer: Mapping[str, Any], row: Mapping[str, Any], model: str, usage: SampleUsage | None
) -> dict[str, Any]:
    asked, said = _text(dict(case.inputs)), _text(answer.get("output"))
    made: dict[str, Any] = {
        "id": case.sample_id,
        "epoch": 1,
        "input": asked,
        "target": _target(case.gold),
        "messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": said}],
        "output": {
            "model": model,
            "choices": [{"message": {"role": "assistant", "content": said}, "stop_reason": "stop"}],
        },
        "scores": {
            name: {"value": value, "answer": said, "metadata": {}}
            for name, value in row["scores"].items()
            if value is not None
        },
        "metadata": {"cluster": row["cluster"], "status": row["status"], "details": row["details"], **dict(case.meta)},
        "store": {},
        "events": [],
        "model_usage": {model: _usage([usage])} if usage else {},
    }
    if row["status"] == "error":
        told = row["reason"] or "error"
        made["error"] = {"message": told, "traceback": told, "traceback_ansi": told}
    return made


def _score(name: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values = [v for row in rows if row["status"] == "ok" and (v := row["scores"].get(name)) is not None]
    spread, centre = sample_std(values), mean(values)
    figures = {"mean": centre, "stderr": None if spread is None else spread / len(values) ** 0.5}
    shown = {key: {"name": key, "value": value, "params": {}} for key, value in figures.items() if value is not None}
    return {"name": name, "scorer": name, "params": {}, "scored_samples": len(values), "metrics": shown}


def _usage(used: Sequence[SampleUsage]) -> dict[str, int]:
    given, made = sum(u.tokens_in for u in used), sum(u.tokens_out for u in used)
    return {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}


def _time(marker: Path) -> str:
    return datetime.fromtimestamp(marker.stat().st_mtime, UTC).isoformat(timespec="seconds")


def _target(gold: Any) -> str | list[str]:
    if isinstance(gold, list):
        return [_text(each) for each in gold]
    return "" if gold is None else _text(gold)


def _text(value: Any) -> str:
    """A text as it is, the only value of an object as itself, all else as JSON."""
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
