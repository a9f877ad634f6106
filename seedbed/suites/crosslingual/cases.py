"""Questions and the corpus they are asked against."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.registry import nearest
from seedbed.store import read_jsonl
from seedbed.suite import Benchmark, Case
from seedbed.suites.crosslingual import SUITE
from seedbed.suites.crosslingual.options import CorpusOptions
from seedbed.suites.crosslingual.retrieval import Corpus, Document
from seedbed.suites.crosslingual.scripts import language_mask


def load_folder(options: CorpusOptions) -> Benchmark:
    """questions.jsonl {sample_id, lang, question, gold, ...} and corpus.jsonl {doc_id, lang, text, title?, titles?,
    built_from?} of a folder. Rows of a document's `built_from` are questions it must never be shown for."""
    folder = options.path or SUITE.benchmarks["tiny"].data
    assert folder is not None
    cases = _questions(folder / "questions.jsonl")
    known = sorted({case.inputs["language"] for case in cases})
    for language in options.languages or []:
        if language not in known:
            raise UserError(f"{folder / 'questions.jsonl'}: no question in {language!r}; {nearest(language, known)}")
    wanted = [case for case in cases if options.languages is None or case.inputs["language"] in options.languages]
    kept = wanted[: options.limit]
    return Benchmark(
        name=folder.name,
        test=kept,
        resources={"corpus": Corpus(_documents(folder / "corpus.jsonl"))},
        excluded={"other language": len(cases) - len(wanted), "over the limit": len(wanted) - len(kept)},
    )


def _questions(path: Path) -> list[Case]:
    cases: list[Case] = []
    seen: set[str] = set()
    for number, row in enumerate(_rows(path), start=1):
        _require(path, number, row, ("sample_id", "lang", "question", "gold"))
        if row["sample_id"] in seen:
            raise UserError(f"{path}:{number}: sample_id {row['sample_id']!r} stands twice; make them unique.")
        seen.add(row["sample_id"])
        try:
            language_mask(row["lang"])
        except ValueError as error:
            raise UserError(f"{path}:{number}: field lang: {error}") from None
        gold = [row["gold"]] if isinstance(row["gold"], str) else list(row["gold"])
        if not gold:
            raise UserError(f"{path}:{number}: field gold: an empty list; give at least one accepted answer.")
        cases.append(
            Case(
                sample_id=row["sample_id"],
                inputs={"question": row["question"], "language": row["lang"], "sample_id": row["sample_id"]},
                gold=gold,
                meta={"lang": row["lang"]},
                # The same question in six languages is one question.
                cluster=row.get("question_id", row["sample_id"]),
            )
        )
    if not cases:
        raise UserError(f"{path}: holds no question; each line is {{sample_id, lang, question, gold}}.")
    return cases


def _documents(path: Path) -> list[Document]:
    documents: list[Document] = []
    for number, row in enumerate(_rows(path), start=1):
        _require(path, number, row, ("doc_id", "lang", "text"))
        titles: Mapping[str, str] = row.get("titles") or {}
        documents.append(
            Document(
                doc_id=row["doc_id"],
                lang=row["lang"],
                title=row.get("title", ""),
                text=row["text"],
                other_titles=tuple(sorted(set(titles.values()))),
                built_from=frozenset(row.get("built_from") or ()),
            )
        )
    return documents


def _rows(path: Path) -> Any:
    if not path.exists():
        raise UserError(
            f"{path}: no such file; a crosslingual benchmark is a folder with questions.jsonl and corpus.jsonl."
        )
    return read_jsonl(path)


def _require(path: Path, number: int, row: Mapping[str, Any], fields: tuple[str, ...]) -> None:
    for field in fields:
        if field not in row:
            raise UserError(f"{path}:{number}: field {field} is missing; the row has {', '.join(row) or 'nothing'}.")
