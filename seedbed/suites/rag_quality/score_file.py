"""`seedbed score rag_quality CASES.jsonl --judge MODEL`: judges cases that already hold answers and contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.hashing import hash_file
from seedbed.stats import mean, sample_std
from seedbed.store import write_json, write_jsonl
from seedbed.suites.rag_quality.cases import read_cases
from seedbed.suites.rag_quality.evalcase import METRICS, EvalCase
from seedbed.suites.rag_quality.options import JudgeOptions, Scoring


def score_file(path: Path, out: Path, options: JudgeOptions) -> str:
    """Writes STEM.scored.jsonl (the cases with their results), STEM.summary.json and the ledger of the calls."""
    cases = read_cases(path)
    kept = dict(list(cases.items())[: options.limit])
    scored, usage = _judge(path, kept, out, options)
    summary = summarise(scored)
    simulated = options.judge.startswith("offline/")
    scored_path = out / f"{path.stem}.scored.jsonl"
    write_jsonl(scored_path, (case.model_dump(mode="json") for case in scored))
    write_json(
        out / f"{path.stem}.summary.json",
        {
            "cases": str(path.name),
            "cases_hash": hash_file(path),
            "judge": options.judge,
            "simulated": simulated,
            "metrics": summary,
            "usage": usage,
        },
    )
    note = " (simulated: the offline judge)" if simulated else ""
    calls = f"{usage['calls']} calls, {usage['outcomes']['reused']} of them reused"
    return f"{table(summary)}\n\n{len(scored)} cases, judge {options.judge}{note}, {calls}\n{scored_path}"


def _judge(
    path: Path, cases: Mapping[str, EvalCase], out: Path, options: JudgeOptions
) -> tuple[list[EvalCase], dict[str, Any]]:
    # Here and not above: reading and refusing a bad file needs no model.
    from seedbed.lm.session import open_session
    from seedbed.suites.rag_quality.evaluate import evaluate
    from seedbed.suites.rag_quality.judge import Judge

    scoring = Scoring(match_threshold=options.match_threshold, precision_by_judge=options.precision_by_judge)
    with open_session("score", path.name, judge_model(options), out / f"{path.stem}.ledger.sqlite") as session:
        judge = Judge(session.lm("judge"))

        async def one(case: EvalCase) -> EvalCase:
            return case.model_copy(update={"results": await evaluate(case, judge, scoring)})

        return session.run(session.each(cases, one)), session.usage().to_json()


def judge_model(options: JudgeOptions) -> Any:
    from seedbed.lm.session import model_of

    skill = {} if options.judge_skill is None else {"skill": options.judge_skill}
    return model_of(
        options.judge,
        option="--judge",
        api_base=options.judge_base,
        key_env=options.judge_key_env,
        concurrency=options.concurrency,
        options=skill if options.judge.startswith("offline/") else {},
    )


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
