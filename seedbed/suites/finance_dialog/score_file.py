"""`seedbed score finance_dialog dialog_trace.jsonl`: traces made elsewhere, scored without a call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.storage.store import write_json, write_jsonl
from seedbed.suites.finance_dialog.lexicon import load_lexicon
from seedbed.suites.finance_dialog.options import ScoreFileOptions
from seedbed.suites.finance_dialog.scorers import M1_IGNORED, run_manifest, summary
from seedbed.suites.finance_dialog.tallies import METRICS, QUOTIENTS
from seedbed.suites.finance_dialog.traces import read_traces
from seedbed.suites.finance_dialog.turns import build_turn_eval_rows


def score_file(path: Path, out: Path, options: ScoreFileOptions) -> str:
    """Writes turn_eval.jsonl and metrics_summary.json; the manifest is part of the summary."""
    lexicon = load_lexicon(options.lexicon)
    traces = read_traces(path)
    if not any(turn.get("gt_turn_tags") for trace in traces for turn in trace["turns"]):
        raise UserError(f"{path}: no turn has gt_turn_tags; traces are scored with the gold they carry.")
    ignore = options.ignore_memory_keys or all(trace.get("m1_handling") == M1_IGNORED for trace in traces)
    rows = build_turn_eval_rows(traces, lexicon, options.profile, ignore)
    found = summary(traces, rows, lexicon, options.profile, ignore)
    manifest = run_manifest(str(traces[0].get("run_id") or path.stem), lexicon, options.profile, ignore)
    write_jsonl(out / "turn_eval.jsonl", rows)
    write_json(
        out / "metrics_summary.json",
        {"run_id": manifest["run_id"], "trace_version": "v1", "traces": path.name, "manifest": manifest, **found},
    )
    return _printed(found, manifest, out)


def _printed(found: dict[str, Any], manifest: dict[str, Any], out: Path) -> str:
    counters = found["counters"]
    lines = [
        f"dialogues {counters['total_dialogs']}, turns {counters['total_turn_pairs']}, profile {manifest['profile']}",
        f"{'figure':<28}{'micro':>8}{'macro':>8}{'penal.':>8}   eligible/skipped/failed",
    ]
    for metric in METRICS:
        result = found["metrics"][metric]
        counts = result["counts"]
        told = f"{counts['eligible_count']}/{counts['skipped_count']}/{counts['failed_count']}"
        available = _number(result["availability"])
        lines.append(f"{metric} · availability {available} · {told}")
        for quotient in QUOTIENTS[metric]:
            values = (result[kind].get(quotient.name) for kind in ("micro", "macro", "penalised"))
            lines.append(f"  {quotient.name:<26}" + "".join(f"{_number(value):>8}" for value in values))
    if "appendix" in found:
        with_keys = found["appendix"]["m1_with_memory_keys"]["micro"]
        lines.append(f"M1 leaves the memory keys out; with them: key_coverage {_number(with_keys['key_coverage'])}")
    lines.append(f"written: {out / 'turn_eval.jsonl'}, {out / 'metrics_summary.json'}")
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
