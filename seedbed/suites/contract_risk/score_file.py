"""`seedbed score contract_risk FILE --cases CASES`: scores reviews, or bare levels, made elsewhere. No model call."""

from __future__ import annotations

from pathlib import Path

from seedbed.suite import Answer, Case, Failure, SampleUsage, ScoreRow
from seedbed.suites.contract_risk.cases import read_cases
from seedbed.suites.contract_risk.figures import aggregate
from seedbed.suites.contract_risk.groups import score_group
from seedbed.suites.contract_risk.knowledge import DATA, read_law_index, with_laws
from seedbed.suites.contract_risk.levels import level_of
from seedbed.suites.contract_risk.options import FileOptions
from seedbed.suites.contract_risk.report import console
from seedbed.suites.contract_risk.scorers import Checks, score_level, score_one
from seedbed.suites.contract_risk.verify import make_verifier
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows
from seedbed.suites.kit.score_file import as_data, write_results


def score_file(path: Path, out: Path, options: FileOptions) -> str:
    """Rows {case_id, output}, the review as Markdown, or {case_id, level}; also understood are rule_ids (rules whose
    cue was found), risk_ids (rules that were retrieved) and latency in seconds. A case without a row is an error: it
    counts as a miss. Writes scores.jsonl and metrics.json."""
    cases = read_cases(options.cases or DATA)
    index = options.law_index or _index_beside(options.cases)
    assert options.verifier != "auto"
    verifier = make_verifier(
        options.verifier, embedder=options.embedder, reranker=options.reranker, threshold=options.threshold
    )
    laws = read_law_index(index, ())
    checks = Checks(verifier, with_laws(laws, options.laws) if options.laws else laws)
    given = _by_case(path, {case.sample_id for case in cases}, options.cases or DATA)
    rows = [_score(case, given.get(case.sample_id), checks) for case in cases]
    metrics = score_group({path.stem: rows}, {path.stem: dict(aggregate(rows))})
    written = write_results(out, map(as_data, rows), metrics)
    return f"{console(metrics)}\nEvidence checked by {verifier.stamp}.\n{written}"


def _score(case: Case, row: Row | None, checks: Checks) -> ScoreRow:
    if row is None:
        missing = {"kind": "missing", "message": "the file has no row for this case"}
        return score_one(case, Failure(case.sample_id, missing), checks)
    if "output" in row.data:
        output = row.data["output"]
        if output is not None and not isinstance(output, str):
            raise row.error("field output must be the text of a review.")
        return score_one(case, Answer(case.sample_id, {"review": output or "", **_rules(row)}), checks, _usage(row))
    if "level" not in row.data:
        raise row.error("field output or level is missing; a row is {case_id, output} or {case_id, level}.")
    level = row.data["level"]
    if level is not None and level_of(level) is None:
        raise row.error(f"field level is {level!r}; write 高, 中 or 低, or null where there was no verdict.")
    return score_level(case, level_of(level), checks, _rules(row), _usage(row))


def _rules(row: Row) -> dict[str, list[str]]:
    """What a reviewer did with rules, by the names of this suite's systems or of its source."""
    names = {
        "fired_rules": ("fired_rules", "rule_ids"),
        "retrieved_rules": ("retrieved_rules", "risk_ids"),
        "retrieved_risks": ("retrieved_risks", "risk_ids"),
    }
    given = {name: next((own for own in known if row.data.get(own) is not None), None) for name, known in names.items()}
    return {name: row.texts(own) for name, own in given.items() if own is not None}


def _usage(row: Row) -> SampleUsage | None:
    named = [name for name in ("latency_s", "latency") if row.data.get(name) is not None]
    return SampleUsage(0, 0, 0, None, row.number(*named)) if named else None


def _by_case(path: Path, known: set[str], cases: Path) -> dict[str, Row]:
    given: dict[str, Row] = {}
    ids = UniqueIds("case_id")
    for row in read_rows(path, shape="{case_id, output} or {case_id, level}"):
        case = ids.add(row, row.identity("case_id"))
        if case not in known:
            raise row.error(
                f"case_id {case!r} is not among the cases of {cases}; remove the row or give other --cases."
            )
        given[case] = row
    return given


def _index_beside(cases: Path | None) -> Path | None:
    folder = DATA if cases is None else cases if cases.is_dir() else cases.parent
    usual = folder / "law_index.json"
    return usual if usual.exists() else None
