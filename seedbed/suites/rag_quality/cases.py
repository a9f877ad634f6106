"""Cases from files, and the documents that systems retrieve from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from seedbed.errors import UserError
from seedbed.hashing import hash_json
from seedbed.lm.offline.language import detect
from seedbed.registry import nearest
from seedbed.store import read_jsonl
from seedbed.suite import Benchmark, Case
from seedbed.suites.rag_quality import SUITE
from seedbed.suites.rag_quality.evalcase import EvalCase
from seedbed.suites.rag_quality.options import CaseOptions
from seedbed.suites.rag_quality.retrieval import Passage

CASES, DOCUMENTS = "cases.jsonl", "documents.jsonl"


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
    """The cases of a JSONL file by sample id: the id in generation_params, else a hash of the case."""
    if not path.exists():
        raise UserError(f"{path}: no such file; each line is a case {{question, ground_truth_answer, answer, ...}}.")
    cases: dict[str, EvalCase] = {}
    for number, row in _numbered_rows(path):
        try:
            case = EvalCase.model_validate(row)
        except ValidationError as error:
            raise UserError(f"{path}:{number}: {_explain(error)}") from None
        sample_id = str(case.generation_params.get("id") or hash_json(case.model_dump(mode="json"))[:12])
        if sample_id in cases:
            raise UserError(f"{path}:{number}: the case {sample_id!r} stands twice; remove it or change its id.")
        cases[sample_id] = case
    if not cases:
        raise UserError(f"{path}: holds no case; each line is {{question, ground_truth_answer, answer, ...}}.")
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


def _passages(file: Path, cases: Iterable[EvalCase]) -> list[Passage]:
    """Of the documents' file, or, where there is none, every text that the cases hold, once."""
    if file.exists():
        return list(_document_passages(file))
    found: dict[str, Passage] = {}
    for case in cases:
        for unit in case.source_units:
            if text := str(unit.get("text") or ""):
                found.setdefault(text, Passage(str(unit.get("unit_id", "")), text))
        for text in (*case.ground_truth_contexts, *(case.retrieved_contexts or ())):
            found.setdefault(text, Passage(hash_json(text)[:12], text))
    return list(found.values())


def _document_passages(path: Path) -> Iterator[Passage]:
    """A row a document; its paragraphs are the passages."""
    for number, row in _numbered_rows(path):
        for name in ("document_id", "text"):
            if not isinstance(row.get(name), str):
                raise UserError(f"{path}:{number}: field {name}: a text is required; add it.")
        for place, text in enumerate(row["text"].split("\n\n"), start=1):
            if text.strip():
                yield Passage(f"{row['document_id']}#{place}", text.strip())


def _numbered_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows with the numbers of their lines, blank lines counted."""
    with path.open(encoding="utf-8") as handle:
        numbers = [number for number, line in enumerate(handle, start=1) if line.strip()]
    rows: Iterator[Any] = read_jsonl(path)
    for number, row in zip(numbers, rows, strict=True):
        if not isinstance(row, dict):
            raise UserError(f"{path}:{number}: not an object; each line is one {{...}}.")
        yield number, cast("dict[str, Any]", row)


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"field {field}: unknown; {nearest(field, EvalCase.model_fields)}"
    if first["type"] == "missing":
        return f"field {field}: is required; add it."
    return f"field {field}: {first['msg'].removeprefix('Value error, ')} (got {str(first['input'])[:60]!r})."
