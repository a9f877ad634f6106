"""Questions and corpora from files: what is read, what is left out, what is refused."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.suites.crosslingual.cases import load_folder
from seedbed.suites.crosslingual.options import CorpusOptions, LbragOptions, XquadOptions
from seedbed.suites.crosslingual.public_sets import load_mkqa, load_xquad

SHARED = Path(os.environ.get("SEEDBED_SHARED") or Path(__file__).resolve().parents[4].parent / "shared")
QUESTION = {"sample_id": "a-en", "question_id": "a", "lang": "en", "question": "How high is Fuji?", "gold": ["3776 m"]}
DOCUMENT = {"doc_id": "d1", "lang": "de", "title": "Fuji", "text": "Der Fuji ist 3776 Meter hoch."}


def folder_of(path: Path, questions: list[dict[str, Any]], documents: list[dict[str, Any]]) -> Path:
    for name, rows in (("questions", questions), ("corpus", documents)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return path


def indexed(path: Path) -> list[str]:
    corpus = load_folder(CorpusOptions(path=path)).resources["corpus"]
    return [document.doc_id for document in corpus.documents]


def test_a_document_built_from_an_answer_is_never_in_the_index(tmp_path: Path) -> None:
    leaks = [
        {**DOCUMENT, "doc_id": "by-sample", "built_from": ["a-en"]},
        {**DOCUMENT, "doc_id": "by-question", "built_from": ["a"]},
        {**DOCUMENT, "doc_id": "of-another-set", "built_from": ["z"]},
    ]
    path = folder_of(tmp_path, [QUESTION], [DOCUMENT, *leaks])
    assert indexed(path) == ["d1", "of-another-set"]
    assert load_folder(CorpusOptions(path=path)).excluded["document built from an answer"] == 2


def test_pages_of_questions_and_bare_answers_are_taken_for_leaks(tmp_path: Path) -> None:
    leaks = [
        {**DOCUMENT, "doc_id": "faq", "text": "Some page.\nQ: how high is fuji\nA: 3776 m"},
        {**DOCUMENT, "doc_id": "answer", "text": "3776 M."},
    ]
    path = folder_of(tmp_path, [QUESTION], [DOCUMENT, *leaks])
    assert indexed(path) == ["d1"]
    excluded = load_folder(CorpusOptions(path=path)).excluded
    assert (excluded["document that quotes a question"], excluded["document that is an answer"]) == (1, 1)


def test_questions_left_out_for_language_and_limit_are_counted(tmp_path: Path) -> None:
    rows = [{**QUESTION, "sample_id": f"{n}-{lang}", "lang": lang} for n in range(3) for lang in ("en", "zh")]
    path = folder_of(tmp_path, rows, [DOCUMENT])
    found = load_folder(CorpusOptions(path=path, languages=["zh"], limit=2))
    assert [case.sample_id for case in found.test] == ["0-zh", "1-zh"]
    assert (found.excluded["other language"], found.excluded["over the limit"]) == (3, 1)


@pytest.mark.parametrize(
    ("questions", "documents", "said"),
    [
        ([{**QUESTION, "lang": "xx"}], [DOCUMENT], r"questions\.jsonl:1: field lang: unknown language 'xx'"),
        ([QUESTION, QUESTION], [DOCUMENT], r"questions\.jsonl:2: sample_id 'a-en' stands twice"),
        ([{**QUESTION, "gold": []}], [DOCUMENT], r"questions\.jsonl:1: field gold"),
        ([QUESTION], [DOCUMENT, DOCUMENT], r"corpus\.jsonl:2: doc_id 'd1' stands twice"),
        ([QUESTION], [{"doc_id": "x", "lang": "en"}], r"corpus\.jsonl:1: field text is missing"),
        ([QUESTION], [{**DOCUMENT, "lang": "deutsch"}], r"corpus\.jsonl:1: field lang: unknown language"),
    ],
)
def test_a_bad_row_is_named_with_file_line_and_field(
    tmp_path: Path, questions: list[dict[str, Any]], documents: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        load_folder(CorpusOptions(path=folder_of(tmp_path, questions, documents)))


def test_a_budget_may_be_written_as_inf_and_is_kept_so() -> None:
    assert LbragOptions(budget=float("inf")).budget == LbragOptions(budget="inf").budget == "inf"
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        LbragOptions(budget=-1)


def mkqa_row(number: int, kind: str, text: str | None) -> dict[str, Any]:
    answers = {lang: [{"type": kind, "text": text, "aliases": ["alias"]} if text else {"type": kind, "text": None}]
               for lang in ("en", "zh_cn")}  # fmt: skip
    return {
        "example_id": number,
        "query": "q",
        "queries": {"en": f"q{number}", "zh_cn": f"问{number}"},
        "answers": answers,
    }


def test_mkqa_items_without_a_text_are_excluded_and_counted_by_type(tmp_path: Path) -> None:
    rows = [mkqa_row(1, "entity", "Paris"), mkqa_row(2, "long_answer", None), mkqa_row(3, "unanswerable", None)]
    path = tmp_path / "mkqa.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    found = load_mkqa(CorpusOptions(path=path))
    assert [case.sample_id for case in found.test] == ["1:en", "1:zh_cn"]
    assert found.test[0].gold == ["Paris", "alias"]
    assert found.excluded["no answer text (long_answer)"] == found.excluded["no answer text (unanswerable)"] == 1


def plan_of(folder: Path, benchmark: str) -> int:
    config = folder / "sweep.yaml"
    config.write_text(
        "name: s\nseeds: [0]\nmodels: {m: {model: offline/m}}\nexperiments:\n"
        f"  - {{suite: crosslingual, models: [m], benchmarks: [{benchmark}], systems: [direct, multi, lbrag]}}\n",
        encoding="utf-8",
    )
    return main(["plan", str(config)])


@pytest.mark.parametrize("path", ["mkqa.jsonl", "."], ids=["a file", "a folder"])
def test_plan_warns_of_mkqa_without_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str], path: str) -> None:
    (tmp_path / "mkqa.jsonl").write_text(json.dumps(mkqa_row(1, "entity", "Paris")), encoding="utf-8")
    assert plan_of(tmp_path, f"{{name: mkqa, path: {path}}}") == 0
    said = capsys.readouterr().err
    assert said.count("there is no document to search, so multi, cross and lbrag answer as direct does") == 1
    assert "corpus.jsonl {doc_id, lang, text}" in said


def test_plan_says_nothing_where_there_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mkqa.jsonl").write_text(json.dumps(mkqa_row(1, "entity", "Paris")), encoding="utf-8")
    (tmp_path / "corpus.jsonl").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    assert plan_of(tmp_path, "{name: mkqa, path: .}") == 0
    assert "warning" not in capsys.readouterr().err


def test_the_samples_of_lbrag_are_questions(tmp_path: Path) -> None:
    """A JSON object or array as LBRAG has them; a sample without an answer is left out and counted."""
    rows = [
        {"id": "17_en", "question": "How high is Fuji?", "question_lang": "en", "answer": "3776 m", "quid": 17},
        {"id": "17_zh_cn", "question": "富士山多高？", "question_lang": "zh_cn", "answer": "3776米"},
        {"id": "18_en", "question": "Why?", "question_lang": "en", "answer": None, "quid": 18},
    ]
    path = tmp_path / "mkqa_samples.json"
    path.write_text(json.dumps({"data": rows}, ensure_ascii=False, indent=1), encoding="utf-8")
    found = load_folder(CorpusOptions(path=path))
    assert [(case.sample_id, case.cluster, case.gold) for case in found.test] == [
        ("17_en", "17", ["3776 m"]),
        ("17_zh_cn", "17", ["3776米"]),
    ]
    assert found.excluded["no answer text"] == 1
    assert "no document to search" in found.warnings[0]


def test_mkqa_in_a_folder_takes_the_corpus_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mkqa.jsonl").write_text(json.dumps(mkqa_row(1, "entity", "Paris")), encoding="utf-8")
    (tmp_path / "corpus.jsonl").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    assert len(load_mkqa(CorpusOptions(path=tmp_path)).resources["corpus"].documents) == 1


def test_a_file_that_is_not_mkqa_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "mkqa.jsonl"
    path.write_text(json.dumps(mkqa_row(1, "entity", "Paris")) + '\n{"id": 3}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"mkqa\.jsonl:2: not a record of MKQA"):
        load_mkqa(CorpusOptions(path=path))


@pytest.mark.skipif(not (SHARED / "data" / "mkqa_test_fixture.jsonl.gz").exists(), reason="no MKQA file")
def test_the_published_mkqa_format_is_read() -> None:
    found = load_mkqa(CorpusOptions(path=SHARED / "data" / "mkqa_test_fixture.jsonl.gz"))
    assert Counter(case.inputs["language"] for case in found.test)["ko"] == 3
    assert len(found.test) == 3 * 26
    assert sum(count for reason, count in found.excluded.items() if reason.startswith("no answer text (")) == 3


XQUAD = SHARED / "data" / "xquad"


@pytest.mark.skipif(not XQUAD.exists(), reason="no XQuAD files")
def test_xquad_asks_every_question_in_all_its_languages_before_the_next() -> None:
    found = load_xquad(XquadOptions(path=XQUAD, limit=500))
    assert Counter(case.inputs["language"] for case in found.test) == dict.fromkeys(("ar", "de", "en", "th", "zh"), 100)
    assert len({case.cluster for case in found.test}) == 100
    assert found.excluded["over the limit"] == 1190 * 5 - 500
    assert len(found.resources["corpus"].documents) == 240 * 5


@pytest.mark.skipif(not XQUAD.exists(), reason="no XQuAD files")
def test_xquad_can_be_asked_against_documents_in_other_languages() -> None:
    found = load_xquad(XquadOptions(path=XQUAD, languages=["zh"], documents=["de", "en"]))
    assert {document.lang for document in found.resources["corpus"].documents} == {"de", "en"}
    assert {case.inputs["language"] for case in found.test} == {"zh"}
    with pytest.raises(UserError, match=r"there is no xquad\.fr\.json"):
        load_xquad(XquadOptions(path=XQUAD, documents=["fr"]))
