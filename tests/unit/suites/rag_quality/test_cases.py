"""Cases from files: what is read, what is refused and in which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.suites.rag_quality.cases import load, read_cases
from seedbed.suites.rag_quality.options import CaseOptions


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return path


def test_the_sample_has_what_the_suite_is_about() -> None:
    cases = list(read_cases(Path(load.__code__.co_filename).parent / "data" / "sample" / "cases.jsonl").values())
    kinds = {case.generation_params["kind"] for case in cases}
    languages = [case.generation_params["language"] for case in cases]
    assert len(cases) > 30
    assert min(languages.count("en"), languages.count("zh")) >= 15
    assert {"ja", "ar"} <= set(languages)
    assert {"wrong", "noise", "empty", "no_truth", "hallucination"} <= kinds


def test_systems_see_the_question_and_nothing_of_the_truth() -> None:
    for case in load(CaseOptions()).test:
        assert set(case.inputs) == {"question", "sample_id"}


def test_a_file_without_documents_is_searched_in_its_own_texts(tmp_path: Path) -> None:
    file = write(
        tmp_path / "c.jsonl", {"question": "q?", "ground_truth_contexts": ["one"], "retrieved_contexts": ["two"]}
    )
    assert [p.text for p in load(CaseOptions(path=file)).resources["passages"].things] == ["one", "two"]


def test_languages_and_limit_are_counted_as_excluded() -> None:
    benchmark = load(CaseOptions(languages=["ja", "ar"], limit=3))
    assert len(benchmark.test) == 3
    assert benchmark.excluded == {"other language": 33, "over the limit": 1}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answer": "a"}, ":2: field question: is required"),
        ({"question": " "}, ":2: field question: is empty"),
        ({"question": "q?", "anwser": "a"}, ":2: field anwser: unknown; did you mean 'answer'?"),
        ({"question": "q?", "retrieved_contexts": "text"}, ":2: field retrieved_contexts:"),
        (["question"], ":2: not an object"),
        ({"question": "q1?"}, ":2: the case"),
    ],
)
def test_a_bad_case_is_named_with_its_line(tmp_path: Path, row: Any, said: str) -> None:
    file = write(tmp_path / "c.jsonl", {"question": "q1?"}, row)
    with pytest.raises(UserError) as caught:
        read_cases(file)
    assert f"c.jsonl{said}" in str(caught.value)


def test_an_unknown_language_names_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"no question in 'fr'.*Known: ar, en, ja, zh"):
        load(CaseOptions(languages=["fr"]))


def test_a_document_without_text_is_named(tmp_path: Path) -> None:
    write(tmp_path / "cases.jsonl", {"question": "q?"})
    write(tmp_path / "documents.jsonl", {"document_id": "d"})
    with pytest.raises(UserError, match=r"documents.jsonl:1: field text"):
        load(CaseOptions(path=tmp_path))
