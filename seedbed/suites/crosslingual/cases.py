"""Questions and the corpus they are asked against, from files of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.crosslingual import SUITE
from seedbed.suites.crosslingual.documents import Document, language_of, read_corpus, searchable
from seedbed.suites.crosslingual.lbrag_files import as_ours
from seedbed.suites.crosslingual.leaks import Leaks
from seedbed.suites.crosslingual.options import CorpusOptions
from seedbed.suites.crosslingual.retrieval import Corpus
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows
from seedbed.suites.kit.splits import Splits, split
from seedbed.sweep.registry import nearest

_NOTHING_TO_SEARCH = (
    "{}: there is no document to search, so multi, cross and lbrag answer as direct does; give a folder with the "
    "questions and corpus.jsonl {{doc_id, lang, text}}"
)


def load_folder(options: CorpusOptions) -> Benchmark:
    """questions.jsonl {sample_id, lang, question, gold, question_id?} and corpus.jsonl {doc_id, lang, text, title?,
    titles?, built_from?} of a folder, or a file of questions alone. `titles` are titles in other languages,
    `built_from` lists questions whose answers the document was made from."""
    source = options.path or SUITE.benchmarks["tiny"].data
    assert source is not None
    excluded: Counter[str] = Counter()
    cases = _questions(source / "questions.jsonl" if source.is_dir() else source, excluded)
    documents = source / "corpus.jsonl" if source.is_dir() else []
    return benchmark(source.name if source.is_dir() else source.stem, source, cases, documents, options, excluded)


def benchmark(
    name: str,
    source: Path,
    cases: Sequence[Case],
    documents: Sequence[Document] | Path,
    options: CorpusOptions,
    excluded: Mapping[str, int] | None = None,
) -> Benchmark:
    """Cases in the wanted languages up to the limit, a corpus without leaks (given as documents or as their file), and
    the counts of what was left out."""
    known = sorted({case.inputs["language"] for case in cases})
    for language in options.languages or []:
        if language not in known:
            raise UserError(f"{source}: no question in {language!r}; {nearest(language, known)}")
    wanted = [case for case in cases if options.languages is None or case.inputs["language"] in options.languages]
    parts = split(wanted) if options.split else Splits([], [], list(wanted))
    kept = parts.test[: options.limit]
    leaks = Leaks(cases)
    indexed = read_corpus(documents, leaks) if isinstance(documents, Path) else searchable(documents, leaks)
    left_out = {"other language": len(cases) - len(wanted), "over the limit": len(parts.test) - len(kept)}
    return Benchmark(
        name=name,
        test=kept,
        train=parts.train,
        val=parts.val,
        resources={"corpus": Corpus(indexed, options)},
        excluded={**(excluded or {}), **left_out, **indexed.excluded},
        warnings=[] if len(indexed) else [_NOTHING_TO_SEARCH.format(source)],
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


def _questions(path: Path, excluded: Counter[str]) -> list[Case]:
    """Rows of our own, or LBRAG's samples {id, quid?, question_lang, question, answer}, some without an answer."""
    cases: list[Case] = []
    ids = UniqueIds("sample_id")
    for given in read_rows(path, shape="{sample_id, lang, question, gold}"):
        row = as_ours(given)
        sample_id = ids.add(row, row.identity("sample_id"))
        if row is not given and not row.data.get("gold"):
            excluded["no answer text"] += 1
            continue
        question_id = row.identity("question_id") if row.data.get("question_id") is not None else sample_id
        cases.append(case_of(sample_id, question_id, language_of(row, "lang"), row.text("question"), gold_of(row)))
    return cases


def gold_of(row: Row, *names: str) -> list[str]:
    """The accepted answers: a text, which may be empty where the right answer is none, or a list of texts."""
    value = row.need(*names or ("gold",))
    accepted: list[object] = value if isinstance(value, list) else [value]
    if not accepted:
        raise row.error("field gold: an empty list; give at least one accepted answer.")
    for answer in accepted:
        if not isinstance(answer, str):
            raise row.wrong("gold", answer, "is not a text; quote it")
    return [str(answer) for answer in accepted]
