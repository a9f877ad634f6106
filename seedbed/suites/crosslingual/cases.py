"""Questions and the corpus they are asked against, from files of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.registry import nearest
from seedbed.splits import Splits, split
from seedbed.store import read_jsonl
from seedbed.suite import Benchmark, Case
from seedbed.suites.crosslingual import SUITE
from seedbed.suites.crosslingual.leaks import without_leaks
from seedbed.suites.crosslingual.options import CorpusOptions
from seedbed.suites.crosslingual.retrieval import Corpus, Document
from seedbed.suites.crosslingual.scripts import language_mask


def load_folder(options: CorpusOptions) -> Benchmark:
    """questions.jsonl {sample_id, lang, question, gold, question_id?} and corpus.jsonl {doc_id, lang, text, title?,
    titles?, built_from?} of a folder. `titles` are titles in other languages, `built_from` lists questions whose
    answers the document was made from."""
    folder = options.path or SUITE.benchmarks["tiny"].data
    assert folder is not None
    cases = _questions(folder / "questions.jsonl")
    return benchmark(folder.name, folder, cases, read_corpus(folder / "corpus.jsonl"), options)


def benchmark(
    name: str,
    source: Path,
    cases: Sequence[Case],
    documents: Sequence[Document],
    options: CorpusOptions,
    excluded: Mapping[str, int] | None = None,
) -> Benchmark:
    """Cases in the wanted languages up to the limit, a corpus without leaks, and the counts of what was left out."""
    known = sorted({case.inputs["language"] for case in cases})
    for language in options.languages or []:
        if language not in known:
            raise UserError(f"{source}: no question in {language!r}; {nearest(language, known)}")
    wanted = [case for case in cases if options.languages is None or case.inputs["language"] in options.languages]
    parts = split(wanted) if options.split else Splits([], [], list(wanted))
    kept = parts.test[: options.limit]
    indexed, leaks = without_leaks(documents, cases)
    left_out = {"other language": len(cases) - len(wanted), "over the limit": len(parts.test) - len(kept)}
    return Benchmark(
        name=name,
        test=kept,
        train=parts.train,
        val=parts.val,
        resources={"corpus": Corpus(indexed, options)},
        excluded={**(excluded or {}), **left_out, **leaks},
    )


def case_of(sample_id: str, question_id: str, lang: str, question: str, gold: Sequence[str]) -> Case:
    return Case(
        sample_id=sample_id,
        inputs={"question": question, "language": lang, "sample_id": sample_id},
        gold=list(gold),
        meta={"lang": lang},
        # The same question in six languages is one question.
        cluster=question_id,
    )


def _questions(path: Path) -> list[Case]:
    cases: list[Case] = []
    seen: set[str] = set()
    for number, row in enumerate(_rows(path), start=1):
        _require(path, number, row, ("sample_id", "lang", "question", "gold"))
        if row["sample_id"] in seen:
            raise UserError(f"{path}:{number}: sample_id {row['sample_id']!r} stands twice; make them unique.")
        seen.add(row["sample_id"])
        _check_language(path, number, row["lang"])
        gold = [row["gold"]] if isinstance(row["gold"], str) else list(row["gold"])
        if not gold:
            raise UserError(f"{path}:{number}: field gold: an empty list; give at least one accepted answer.")
        question_id = row.get("question_id", row["sample_id"])
        cases.append(case_of(row["sample_id"], question_id, row["lang"], row["question"], gold))
    if not cases:
        raise UserError(f"{path}: holds no question; each line is {{sample_id, lang, question, gold}}.")
    return cases


def read_corpus(path: Path) -> list[Document]:
    """The documents of a JSONL corpus; ids must be unique, languages known."""
    documents: dict[str, Document] = {}
    for number, row in enumerate(_rows(path), start=1):
        _require(path, number, row, ("doc_id", "lang", "text"))
        if row["doc_id"] in documents:
            raise UserError(f"{path}:{number}: doc_id {row['doc_id']!r} stands twice; make them unique.")
        _check_language(path, number, row["lang"])
        titles: Mapping[str, str] = row.get("titles") or {}
        documents[row["doc_id"]] = Document(
            doc_id=row["doc_id"],
            lang=row["lang"],
            title=row.get("title") or "",
            text=row["text"],
            other_titles=tuple(sorted(set(titles.values()))),
            built_from=frozenset(row.get("built_from") or ()),
        )
    return list(documents.values())


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        raise UserError(
            f"{path}: no such file; a crosslingual benchmark is a folder with questions.jsonl and corpus.jsonl."
        )
    return read_jsonl(path)


def _check_language(path: Path, number: int, lang: str) -> None:
    try:
        language_mask(lang)
    except ValueError as error:
        raise UserError(f"{path}:{number}: field lang: {error}") from None


def _require(path: Path, number: int, row: Mapping[str, Any], fields: tuple[str, ...]) -> None:
    for field in fields:
        if field not in row:
            raise UserError(f"{path}:{number}: field {field} is missing; the row has {', '.join(row) or 'nothing'}.")
