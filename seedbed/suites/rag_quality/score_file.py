"""`seedbed score rag_quality CASES.jsonl --judge MODEL`: judges cases that already hold answers and contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.analysis.means import mean, sample_std
from seedbed.storage.store import write_jsonl
from seedbed.suite import SCORE_TIMES
from seedbed.suites.kit.score_file import write_results
from seedbed.suites.rag_quality.cases import read_cases
from seedbed.suites.rag_quality.evalcase import METRICS, EvalCase
from seedbed.suites.rag_quality.options import JudgeOptions, Scoring


def score_file(path: Path, out: Path, options: JudgeOptions) -> str:
    """Cases {question, answer, retrieved_contexts, ground_truth_answer, ground_truth_contexts, ...}. Writes
    scores.jsonl (the cases with their results), metrics.json, score_times.jsonl, and ledger.sqlite, which keeps calls
    from being paid twice."""
    cases = read_cases(path)
    kept = dict(list(cases.items())[: options.limit])
    scored, usage = _judge(path, kept, out, options)
    summary = summarise(scored)
    simulated = options.judge.startswith("offline/")
    counts = count_cases(scored)
    write_jsonl(out / SCORE_TIMES, (_times(sample_id, case) for sample_id, case in zip(kept, scored, strict=True)))
    written = write_results(
        out,
        (case.model_dump(mode="json", exclude={"results": {"__all__": {"elapsed_s"}}}) for case in scored),
        summary,
        **counts,
        judge=options.judge,
        simulated=simulated,
        usage=usage,
    )
    note = " (simulated: the offline judge)" if simulated else ""
    told = f"n={counts['n']} errors={counts['n_errors']} skipped={counts['n_skipped']}"
    calls = f"{usage['calls']} calls, {usage['outcomes']['reused']} of them reused"
    return f"{table(summary)}\n\n{told}, judge {options.judge}{note}, {calls}\n{written}"


def _times(sample_id: str, case: EvalCase) -> dict[str, Any]:
    taken = {name: result.elapsed_s for name, result in case.results.items() if result.elapsed_s is not None}
    return {"sample_id": sample_id, "times": taken}


def _judge(
    path: Path, cases: Mapping[str, EvalCase], out: Path, options: JudgeOptions
) -> tuple[list[EvalCase], dict[str, Any]]:
    # Here and not above: reading and refusing a bad file needs no model.
    from seedbed.lm.session import open_session
    from seedbed.suites.rag_quality.evaluate import evaluate
    from seedbed.suites.rag_quality.judge import Judge

    scoring = Scoring(match_threshold=options.match_threshold, precision_by_judge=options.precision_by_judge)
    with open_session("score", path.name, options.model(), out / "ledger.sqlite") as session:
        judge = Judge(session.lm("judge"))

        async def one(case: EvalCase) -> EvalCase:
            return case.model_copy(update={"results": await evaluate(case, judge, scoring)})

        return session.run(session.each(cases, one)), session.usage().to_json()


def summarise(cases: Sequence[EvalCase]) -> dict[str, dict[str, float | int | None]]:
    """Mean, std and counts of each metric, over the cases where it is ok."""
    summary: dict[str, dict[str, float | int | None]] = {}
    for name in METRICS:
        results = [case.results[name] for case in cases if name in case.results]
        scores = [result.score for result in results if result.score is not None]
        statuses = [result.status for result in results]
        summary[name] = {
            "mean": mean(scores),
            "std": sample_std(scores),
            "n_ok": len(scores),
            "n_skipped": statuses.count("skipped"),
            "n_error": statuses.count("error"),
        }
    return summary


def count_cases(cases: Sequence[EvalCase]) -> dict[str, int]:
    """Each case once: an error if the judge failed in any metric, skipped if nothing of it could be judged."""
    statuses = [{result.status for result in case.results.values()} for case in cases]
    errors = sum("error" in own for own in statuses)
    skipped = sum(own <= {"skipped"} for own in statuses)
    return {"n": len(cases) - errors - skipped, "n_errors": errors, "n_skipped": skipped}


def table(summary: Mapping[str, Mapping[str, float | int | None]]) -> str:
    """Aligned columns; an undefined mean is "-"."""
    head = ("metric", "mean", "std", "n_ok", "n_skipped", "n_error")
    rows = [head, *((name, *(_shown(own[key]) for key in head[1:])) for name, own in summary.items())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _shown(value: float | int | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"
