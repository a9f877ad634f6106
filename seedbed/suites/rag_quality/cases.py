"""Cases from files, and the documents that systems retrieve from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from seedbed.errors import UserError
from seedbed.lm.language import detect
from seedbed.storage.hashing import hash_json
from seedbed.suite import Benchmark, Case
from seedbed.suites.kit.rows import UniqueIds, read_rows
from seedbed.suites.rag_quality import SUITE
from seedbed.suites.rag_quality.evalcase import EvalCase
from seedbed.suites.rag_quality.options import CaseOptions
from seedbed.suites.rag_quality.retrieval import Passage, Passages, passages_of, read_passages
from seedbed.suites.rag_quality.zeval import as_ours
from seedbed.sweep.registry import nearest

CASES, DOCUMENTS = "cases.jsonl", "documents.jsonl"
_SHAPE = "{question, ground_truth_answer, answer, ...}"


def load(options: CaseOptions) -> Benchmark:
    """A folder with cases.jsonl and documents.jsonl, or one file of cases. Systems are given the question and the
    sample id; what a case holds beyond that lies in `resources` for those whose nature it is to use it."""
    path = options.path or SUITE.benchmarks["sample"].data
    assert path is not None
    file = path / CASES if path.is_dir() else path
    read = read_cases(file)
    wanted = _of_languages(file, read, options.languages)
    kept = dict(list(wanted.items())[: options.limit])
    return Benchmark(
        name=path.stem,
        test=[_as_case(sample_id, case) for sample_id, case in kept.items()],
        resources={
            "cases": kept,
            "passages": _passages(path / DOCUMENTS, read.values()),
            "scoring": options.scoring,
        },
        excluded={"other language": len(read) - len(wanted), "over the limit": len(wanted) - len(kept)},
    )


def read_cases(path: Path) -> dict[str, EvalCase]:
    """The cases of a file, ours or zeval's, by sample id: the id in generation_params, else a hash of the case without
    its results."""
    cases: dict[str, EvalCase] = {}
    ids = UniqueIds("the case")
    for row in read_rows(path, shape=_SHAPE):
        case = as_ours(row).checked(EvalCase)
        plain = {**case.model_dump(mode="json"), "results": {}}
        cases[ids.add(row, str(case.generation_params.get("id") or hash_json(plain)[:12]))] = case
    return cases


def language_of(case: EvalCase) -> str:
    """As told in generation_params, else by the question."""
    return str(case.generation_params.get("language") or detect(case.question))


def _as_case(sample_id: str, case: EvalCase) -> Case:
    return Case(
        sample_id=sample_id,
        inputs={"question": case.question, "sample_id": sample_id},
        gold=case.ground_truth_answer,
        meta={
            "lang": language_of(case),
            "kind": str(case.generation_params.get("kind", "")),
            "scenario": case.scenario,
        },
        cluster=case.question,
    )


def _of_languages(path: Path, cases: Mapping[str, EvalCase], languages: list[str] | None) -> dict[str, EvalCase]:
    known = {language_of(case) for case in cases.values()}
    for language in languages or []:
        if language not in known:
            raise UserError(f"{path}: no question in {language!r}; {nearest(language, known)}")
    return {key: case for key, case in cases.items() if languages is None or language_of(case) in languages}


def _passages(file: Path, cases: Iterable[EvalCase]) -> Passages:
    """Of the documents' file, or, where there is none, every text that the cases hold, once."""
    if file.exists():
        return read_passages(file)
    found: dict[str, Passage] = {}
    for case in cases:
        for unit in case.source_units:
            if text := str(unit.get("text") or unit.get("content") or ""):
                found.setdefault(text, Passage(str(unit.get("unit_id", "")), text))
        for text in (*case.ground_truth_contexts, *(case.retrieved_contexts or ())):
            found.setdefault(text, Passage(hash_json(text)[:12], text))
    return passages_of(found.values())
