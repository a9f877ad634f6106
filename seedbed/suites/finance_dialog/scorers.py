"""Scores a cell: traces, turn rows and the five metrics, written beside its predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.analysis.means import mean
from seedbed.storage.store import read_jsonl, write_json, write_jsonl
from seedbed.suite import GENERATE_TIMES, TIMES, Case, Failure, PhaseContext, Prediction, ScoreRow
from seedbed.suites.finance_dialog.judge import judge_turns
from seedbed.suites.finance_dialog.lexicon import Lexicon
from seedbed.suites.finance_dialog.metrics import METRICS, Tallies, evaluate, results, tallies_by_dialog
from seedbed.suites.finance_dialog.tallies import M4, QUOTIENTS
from seedbed.suites.finance_dialog.traces import complete
from seedbed.suites.finance_dialog.turns import Profile, Row, build_turn_eval_rows
from seedbed.suites.kit.outcomes import counts, failed_row, reason_of

M1_IGNORED = "ignored_memory_required_keys"


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    """A row a dialogue; also dialog_trace.jsonl, turn_eval.jsonl, metrics_summary.json and run_manifest.json."""
    lexicon: Lexicon = context.benchmark.resources["lexicon"]
    profile: Profile = context.benchmark.resources["profile"]
    run_id = context.folder.name
    times = _times(context.folder / GENERATE_TIMES)
    traces = [
        complete(case.gold, None, lexicon, run_id=run_id, error=reason_of(given))
        if isinstance(given := predictions[case.sample_id], Failure)
        else complete(case.gold, timed(given.output, times.get(case.sample_id)), lexicon, run_id=run_id, error=None)
        for case in cases
    ]
    ignore = any(trace["m1_handling"] == M1_IGNORED for trace in traces)
    rows = build_turn_eval_rows(traces, lexicon, profile, ignore)
    if context.benchmark.resources["judge"]:
        await judge_turns(context, cases, traces, rows)
    tallies = tallies_by_dialog(traces, rows, lexicon, profile)
    write_jsonl(context.folder / "dialog_trace.jsonl", traces)
    write_jsonl(context.folder / "turn_eval.jsonl", rows)
    manifest = run_manifest(run_id, lexicon, profile, ignore)
    write_json(context.folder / "run_manifest.json", manifest)
    write_json(
        context.folder / "metrics_summary.json",
        summary(traces, rows, lexicon, profile, ignore) | {"run_id": run_id, "manifest": manifest},
    )
    return [_row(case, trace, rows, tallies, profile) for case, trace in zip(cases, traces, strict=True)]


def _times(path: Path) -> dict[str, Mapping[str, Any]]:
    return {row["sample_id"]: row["times"] for row in read_jsonl(path)} if path.exists() else {}


def timed(output: Mapping[str, Any], times: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What a system did with how long each turn took, as a trace has it."""
    given = times or output.get(TIMES)
    if not given:
        return output
    turns = [{**turn, "latency_ms": ms} for turn, ms in zip(output["turns"], given["latency_ms"], strict=True)]
    return {**output, "turns": turns}


def run_manifest(run_id: str, lexicon: Lexicon, profile: str, ignore: bool) -> dict[str, Any]:
    """What figures of this suite depend on beside the traces."""
    return {
        "run_id": run_id,
        "profile": profile,
        "lexicon_sha256": lexicon.sha256,
        "compliance_labels": "evaluator" if lexicon.violation_rules and profile == "spec" else "trace",
        "m1_handling": M1_IGNORED if ignore else "as_annotated",
    }


def summary(
    traces: Sequence[Mapping[str, Any]], rows: Sequence[Row], lexicon: Lexicon, profile: Profile, ignore: bool
) -> dict[str, Any]:
    """All metrics; where memory keys were ignored, M1 with them in an appendix."""
    parts: dict[str, Any] = {"metrics": evaluate(traces, rows, lexicon, profile)}
    if ignore:
        annotated = build_turn_eval_rows(traces, lexicon, profile)
        parts["appendix"] = {"m1_with_memory_keys": evaluate(traces, annotated, lexicon, profile)[METRICS[0]]}
    statuses = [str(trace.get("dialog_status")) for trace in traces]
    parts["counters"] = {
        "total_dialogs": len(traces),
        "valid_dialogs": sum(bool(trace.get("valid_dialog", True)) for trace in traces),
        **{f"{status}_dialogs": statuses.count(status) for status in ("ok", "partial", "failed", "skipped")},
        "total_turn_pairs": len(rows),
    }
    return parts


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    """Micro figures by their own names, macro and penalised ones with a prefix, counts by metric."""
    flat: dict[str, float | int | None] = {}
    tallies: Tallies = {metric: {row.sample_id: row.details["tallies"][metric] for row in rows} for metric in METRICS}
    profile: Profile = rows[0].details["profile"] if rows else "spec"
    for metric, result in results(tallies, profile).items():
        short = metric.partition("_")[0]
        flat |= result["micro"]
        flat |= {f"macro_{name}": value for name, value in result["macro"].items()}
        flat |= {f"penalised_{name}": value for name, value in result["penalised"].items()}
        flat[f"availability_{short}"] = result["availability"]
        flat |= {f"{name}_{short}": value for name, value in result["counts"].items()}
    flat["availability"] = flat[f"availability_{M4.partition('_')[0]}"]
    judged = [score for row in rows for score in row.details.get("lm_judge_scores", [])]
    flat["lm_judge_score"] = mean([score for score in judged if score is not None])
    flat["lm_judge_errors"] = sum(score is None for score in judged)
    flat["n_lm_judge_score"] = sum(score is not None for score in judged)
    if judged:
        flat["lm_judge"] = mean([value for row in rows if (value := row.scores.get("lm_judge")) is not None])
    return flat | counts(rows, ["profile_score", *(["lm_judge"] if judged else [])])


def _row(case: Case, trace: Mapping[str, Any], rows: Sequence[Row], tallies: Tallies, profile: Profile) -> ScoreRow:
    """A dialogue without a single good turn is an error: it has sums of what it owed, and no scores."""
    own = {metric: tallies[metric].get(case.sample_id, {}) for metric in METRICS}
    turns = [row for row in rows if row["dialog_id"] == case.sample_id]
    details: dict[str, Any] = {
        "profile": profile,
        "dialog_status": trace["dialog_status"],
        "scenario_type": trace["scenario_type"],
        "difficulty": trace["difficulty"],
        "m1_handling": trace["m1_handling"],
        "tallies": own,
    }
    if any("lm_judge_score" in row for row in turns):
        details["lm_judge_scores"] = [row["lm_judge_score"] for row in turns if "lm_judge_score" in row]
    if trace["dialog_status"] == "failed":
        return failed_row(case, f"no turn was answered: {trace['turns'][0].get('error')}", details)
    return ScoreRow(
        sample_id=case.sample_id,
        status="ok",
        scores={q.name: q.value(own[metric]) for metric in METRICS for q in QUOTIENTS[metric]} | _judge_mean(turns),
        details=details,
        reason=_unjudged(turns),
        cluster=case.sample_id,
    )


def _judge_mean(turns: Sequence[Row]) -> dict[str, float | None]:
    """What the judge gave the dialogue's turns on average, where one was asked."""
    rated = [row["lm_judge_score"] for row in turns if "lm_judge_score" in row]
    return {"lm_judge": mean([score for score in rated if score is not None])} if rated else {}


def _unjudged(turns: Sequence[Row]) -> str | None:
    """What of a dialogue the judge was asked and failed to rate."""
    failures = [row["lm_judge_error"] for row in turns if "lm_judge_error" in row]
    return f"judge: {len(failures)} turns have no rating ({failures[0]})" if failures else None
