"""`seedbed score crosslingual FILE`: scores answers made elsewhere, without a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from seedbed.suite import Options, ScoreRow
from seedbed.suites.crosslingual.cases import gold_of
from seedbed.suites.crosslingual.documents import language_of
from seedbed.suites.crosslingual.lbrag_files import as_ours
from seedbed.suites.crosslingual.report import console
from seedbed.suites.crosslingual.scorers import Answered, aggregate, score_answers, score_group
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows
from seedbed.suites.kit.score_file import as_data, write_results

_SHAPE = "{sample_id, system, lang, question, gold, pred, translation_tokens}"


def score_file(path: Path, out: Path, options: Options) -> str:
    """Rows {sample_id, system, lang, question, gold, pred, translation_tokens}; also understood are semantic_score (a
    judge's, from 0 to 1), question_id (the same in all languages), evidence (a list of texts) and error. Rows as LBRAG
    writes them {sample_id, system, sample_lang, gold_answer, pred_answer, translate_tokens, ...} are read as they are.
    Writes scores.jsonl and metrics.json."""
    by_system: dict[str, dict[str, Answered | ScoreRow]] = {}
    ids: dict[str, UniqueIds] = {}
    for row in map(as_ours, read_rows(path, shape=_SHAPE)):
        system = row.identity("system")
        read = _read(row)
        ids.setdefault(system, UniqueIds(f"system {system!r}: sample_id")).add(row, read.sample_id)
        by_system.setdefault(system, {})[read.sample_id] = read
    scored = {system: _scored(rows) for system, rows in by_system.items()}
    metrics = score_group(scored, {system: aggregate(rows) for system, rows in scored.items()})
    rows = ({"system": system, **as_data(row)} for system, rows in scored.items() for row in rows)
    written = write_results(out, rows, metrics)
    counts = ", ".join(f"{system} n={own['n']} errors={own['n_errors']}" for system, own in metrics.items())
    return f"{console(metrics)}\n{counts}\n{written}"


def _read(row: Row) -> Answered | ScoreRow:
    sample_id, lang = row.identity("sample_id"), language_of(row, "lang")
    cluster = row.identity("question_id") if row.data.get("question_id") is not None else None
    if row.data.get("error"):
        reason = str(row.data["error"])
        return ScoreRow(sample_id, "error", details={"lang": lang}, reason=reason, cluster=cluster)
    return Answered(
        sample_id=sample_id,
        lang=lang,
        question=str(row.data.get("question") or ""),
        gold=gold_of(row),
        pred=_answer(row),
        translation_tokens=_tokens(row),
        evidence=row.texts("evidence"),
        cluster=cluster,
        semantic_score=_semantic(row),
    )


def _answer(row: Row) -> str:
    """An empty answer is an answer; none at all is a failure that must be said."""
    value = row.data.get("pred")
    if not isinstance(value, str):
        what = "is not a text; for a failed sample give the field error instead" if value is None else "is not a text"
        raise row.wrong("pred", value, what)
    return value


def _tokens(row: Row) -> float:
    """A row without the field was not translated; only `direct` and `multi` may leave it out in good conscience."""
    return 0.0 if row.data.get("translation_tokens") is None else row.number("translation_tokens")


def _semantic(row: Row) -> float | None:
    """A judge's score that the row brings along."""
    if row.data.get("semantic_score") is None:
        return None
    score = row.number("semantic_score")
    if score > 1:
        raise row.wrong("semantic_score", row.data["semantic_score"], "is no score from 0 to 1")
    return score


def _scored(rows: Mapping[str, Answered | ScoreRow]) -> list[ScoreRow]:
    made = {row.sample_id: row for row in score_answers([row for row in rows.values() if isinstance(row, Answered)])}
    return [row if isinstance(row, ScoreRow) else made[name] for name, row in rows.items()]
