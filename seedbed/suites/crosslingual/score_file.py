"""`seedbed score crosslingual FILE.jsonl`: scores answers made elsewhere, without a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.store import read_jsonl, write_json, write_jsonl
from seedbed.suite import Options, ScoreRow
from seedbed.suites.crosslingual.report import console
from seedbed.suites.crosslingual.scorers import Answered, aggregate, score_answers, score_group
from seedbed.suites.crosslingual.scripts import language_mask

_RULE = "=" * 80
_FIELDS = ("sample_id", "system", "lang", "gold", "pred")


def score_file(path: Path, out: Path, options: Options) -> str:
    """Rows {sample_id, system, lang, question, gold, pred, translation_tokens}; also understood are question_id (the
    same in all languages), evidence (a list of texts) and error. Writes scores.jsonl and metrics.json."""
    by_system: dict[str, dict[str, Answered | ScoreRow]] = {}
    for number, row in enumerate(read_jsonl(path), start=1):
        read = _read(row, f"{path}:{number}")
        own = by_system.setdefault(str(row["system"]), {})
        if read.sample_id in own:
            raise UserError(
                f"{path}:{number}: sample_id {read.sample_id!r} stands twice for system {row['system']!r}; keep one."
            )
        own[read.sample_id] = read
    if not by_system:
        raise UserError(f"{path}: holds no row; each line is {{{', '.join(_FIELDS)}, translation_tokens}}.")
    scored = {system: _scored(rows) for system, rows in by_system.items()}
    metrics = score_group(scored, {system: aggregate(rows) for system, rows in scored.items()})
    write_jsonl(
        out / "scores.jsonl", ({"system": system, **_plain(row)} for system, rows in scored.items() for row in rows)
    )
    write_json(out / "metrics.json", {"metrics": metrics})
    counts = ", ".join(f"{system} n={own['n']} errors={own['n_errors']}" for system, own in metrics.items())
    return (
        f"{_RULE}\nExperiment Results Summary\n{_RULE}\n{console(metrics)}\n{_RULE}\n{counts}\n{out / 'metrics.json'}"
    )


def _read(row: Mapping[str, Any], where: str) -> Answered | ScoreRow:
    for field in _FIELDS:
        if field not in row and not (field == "pred" and row.get("error")):
            raise UserError(f"{where}: field {field} is missing; the row has {', '.join(row) or 'nothing'}.")
    try:
        language_mask(str(row["lang"]))
    except ValueError as error:
        raise UserError(f"{where}: field lang: {error}") from None
    sample_id, cluster = str(row["sample_id"]), row.get("question_id")
    if row.get("error"):
        return ScoreRow(sample_id, "error", details={"lang": row["lang"]}, reason=str(row["error"]), cluster=cluster)
    return Answered(
        sample_id=sample_id,
        lang=row["lang"],
        question=str(row.get("question") or ""),
        gold=_gold(row["gold"], where),
        pred=_text(row["pred"], "pred", where),
        translation_tokens=_tokens(row.get("translation_tokens"), where),
        evidence=[_text(text, "evidence", where) for text in row.get("evidence") or ()],
        cluster=cluster,
    )


def _gold(value: Any, where: str) -> list[str]:
    accepted: list[Any] = value if isinstance(value, list) else [value]
    if not accepted:
        raise UserError(f"{where}: field gold: an empty list; give at least one accepted answer.")
    return [_text(answer, "gold", where) for answer in accepted]


def _text(value: Any, field: str, where: str) -> str:
    if not isinstance(value, str):
        remedy = "for a failed sample give the field error instead" if value is None else "quote it"
        raise UserError(f"{where}: field {field}: {value!r} is not a text; {remedy}.")
    return value


def _tokens(value: Any, where: str) -> float:
    """A row without the field was not translated; only `direct` and `multi` may leave it out in good conscience."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise UserError(f"{where}: field translation_tokens: {value!r} is not a number of tokens; write 0 for none.")
    return float(value)


def _plain(row: ScoreRow) -> dict[str, Any]:
    """`asdict` without its deep copies, which would take longer than the scoring."""
    return {field.name: getattr(row, field.name) for field in fields(row)}


def _scored(rows: Mapping[str, Answered | ScoreRow]) -> list[ScoreRow]:
    made = {row.sample_id: row for row in score_answers([row for row in rows.values() if isinstance(row, Answered)])}
    return [row if isinstance(row, ScoreRow) else made[name] for name, row in rows.items()]
