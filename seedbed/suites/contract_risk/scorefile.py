"""`seedbed score contract_risk FILE --cases CASES`: scores reviews, or bare levels, made elsewhere. No model call."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from seedbed.store import write_json, write_jsonl
from seedbed.suite import Case, Prediction, ScoreRow
from seedbed.suites.contract_risk.cases import read_cases
from seedbed.suites.contract_risk.figures import aggregate
from seedbed.suites.contract_risk.groups import score_group
from seedbed.suites.contract_risk.knowledge import DATA, read_law_index
from seedbed.suites.contract_risk.levels import level_of
from seedbed.suites.contract_risk.options import FileOptions
from seedbed.suites.contract_risk.report import console
from seedbed.suites.contract_risk.scorers import Checks, score_level, score_one
from seedbed.suites.contract_risk.sources import Row, read_rows
from seedbed.suites.contract_risk.verify import make_verifier


def score_file(path: Path, out: Path, options: FileOptions) -> str:
    """Writes NAME.scores.jsonl and NAME.metrics.json. A case without a row is an error: it counts as a miss."""
    cases = read_cases(options.cases or DATA)
    index = options.law_index or _index_beside(options.cases)
    assert options.verifier != "auto"
    verifier = make_verifier(
        options.verifier, embedder=options.embedder, reranker=options.reranker, threshold=options.threshold
    )
    checks = Checks(verifier, read_law_index(index, ()))
    given = _by_case(path, {case.sample_id for case in cases}, options.cases or DATA)
    rows = [_score(case, given.get(case.sample_id), checks) for case in cases]
    metrics = score_group({path.stem: rows}, {path.stem: dict(aggregate(rows))})
    scores = out / f"{path.stem}.scores.jsonl"
    figures = out / f"{path.stem}.metrics.json"
    write_jsonl(scores, (asdict(row) for row in rows))
    write_json(figures, {"metrics": metrics})
    return f"{console(metrics)}\nEvidence checked by {verifier.stamp}.\n  {scores}\n  {figures}"


def _score(case: Case, row: Row | None, checks: Checks) -> ScoreRow:
    if row is None:
        missing = {"kind": "missing", "message": "the file has no row for this case"}
        return score_one(case, Prediction(case.sample_id, None, missing), checks)
    if "output" in row.data:
        output = row.data["output"]
        if output is not None and not isinstance(output, str):
            raise row.error("field output must be the text of a review.")
        return score_one(case, Prediction(case.sample_id, {"review": output or ""}), checks)
    if "level" not in row.data:
        raise row.error("field output or level is missing; a row is {case_id, output} or {case_id, level}.")
    level = row.data["level"]
    if level is not None and level_of(level) is None:
        raise row.error(f"field level is {level!r}; write 高, 中 or 低, or null where there was no verdict.")
    return score_level(case, level_of(level), checks)


def _by_case(path: Path, known: set[str], cases: Path) -> dict[str, Row]:
    given: dict[str, Row] = {}
    for row in read_rows(path):
        case = row.text("case_id")
        if case not in known:
            raise row.error(
                f"case_id {case!r} is not among the cases of {cases}; remove the row or give other --cases."
            )
        if case in given:
            raise row.error(f"case_id {case!r} stands on line {given[case].line} already; keep one row a case.")
        given[case] = row
    return given


def _index_beside(cases: Path | None) -> Path | None:
    folder = DATA if cases is None else cases if cases.is_dir() else cases.parent
    usual = folder / "law_index.json"
    return usual if usual.exists() else None
