"""Every suite reads its users' files in one way: the true line, one sentence, exit code 2."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seedbed.errors import UserError
from seedbed.suite import Options
from seedbed.suites.contract_risk.cases import read_cases as read_clauses
from seedbed.suites.contract_risk.knowledge import read_law_texts, read_rules
from seedbed.suites.crosslingual.cases import load_folder
from seedbed.suites.crosslingual.documents import read_corpus
from seedbed.suites.crosslingual.options import CorpusOptions
from seedbed.suites.crosslingual.public_sets import load_mkqa
from seedbed.suites.crosslingual.score_file import score_file
from seedbed.suites.finance_dialog.cases import read_dialogues
from seedbed.suites.finance_dialog.traces import read_traces
from seedbed.suites.prompt_optimization.benchmarks import hotpot
from seedbed.suites.prompt_optimization.options import ScoreOptions, SplitOptions
from seedbed.suites.prompt_optimization.retrieval import read_articles
from seedbed.suites.prompt_optimization.score_file import score_file as score_programs
from seedbed.suites.rag_quality.cases import load as load_rag_cases
from seedbed.suites.rag_quality.cases import read_cases as read_rag_cases
from seedbed.suites.rag_quality.options import CaseOptions

CLAUSE = {"case_id": "a", "clause_text": "甲方概不负责。", "gold": {"risk_level": "高"}}
RULE = {"rule_id": "R1", "name": "免责", "level": "高", "any_of": ["概不负责"]}
LAW = {"law": "民法典", "article": 497, "text": "略"}
QUESTION = {"sample_id": "a", "lang": "en", "question": "How high?", "gold": "3776 m"}
DOCUMENT = {"doc_id": "d", "lang": "en", "text": "Fuji."}
ANSWER = {**QUESTION, "system": "direct", "pred": "3776 m"}
MKQA = {"example_id": 1, "queries": {"en": "q"}, "answers": {"en": [{"type": "entity", "text": "Paris"}]}}
EVAL_CASE = {"question": "How long?", "answer": "Long."}
TURNS = [{"role": "user", "text": "您好"}, {"role": "assistant", "text": "好", "turn_tags": {}}]
DIALOGUE = {"dialog_id": "d1", "turns": TURNS}
TRACE = {"dialog_id": "d1", "turns": [{"turn_pair_id": 1, "turn_status": "ok"}]}
HOTPOT = {"id": "h", "question": "Who?", "answer": "Ada", "supporting_facts": [["Ada", 0]]}
AIME = {"sample_id": "ai042#0", "answer": "7"}


def _articles(path: Path) -> object:
    return read_articles(path.rename(path.parent / "corpus.jsonl"))


def _questions(path: Path) -> object:
    path.rename(path.parent / "questions.jsonl")
    return load_folder(CorpusOptions(path=path.parent))


def _documents(path: Path) -> object:
    (path.parent / "cases.jsonl").write_text(json.dumps(EVAL_CASE), encoding="utf-8")
    path.rename(path.parent / "documents.jsonl")
    return load_rag_cases(CaseOptions(path=path.parent))


READERS: dict[str, tuple[dict[str, Any], Callable[[Path], object]]] = {
    "contract_risk cases": (CLAUSE, read_clauses),
    "contract_risk rules": (RULE, read_rules),
    "contract_risk laws": (LAW, read_law_texts),
    "crosslingual questions": (QUESTION, _questions),
    "crosslingual corpus": (DOCUMENT, read_corpus),
    "crosslingual answers": (ANSWER, lambda path: score_file(path, path.parent / "out", Options())),
    "crosslingual mkqa": (MKQA, lambda path: load_mkqa(CorpusOptions(path=path))),
    "prompt_optimization cases": (HOTPOT, lambda path: hotpot(SplitOptions(path=path, split=False))),
    "prompt_optimization corpus": ({"title": "Ada", "text": "A poet's daughter."}, _articles),
    "prompt_optimization answers": (
        AIME,
        lambda path: score_programs(path, path.parent / "out", ScoreOptions(benchmark="AIMEBench")),
    ),
    "rag_quality cases": (EVAL_CASE, read_rag_cases),
    "rag_quality documents": ({"document_id": "d", "text": "Fuji."}, _documents),
    "finance_dialog dialogues": (DIALOGUE, read_dialogues),
    "finance_dialog traces": (TRACE, read_traces),
}
each_reader = pytest.mark.parametrize(("row", "read"), READERS.values(), ids=list(READERS))


@each_reader
def test_the_line_is_the_true_one_after_blank_lines(
    tmp_path: Path, row: dict[str, Any], read: Callable[[Path], object]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"\n\n{json.dumps(row)}\n\n{{}}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"\.jsonl:5: "):
        read(path)


@each_reader
def test_what_is_not_utf_8_is_one_sentence_with_the_line(
    tmp_path: Path, row: dict[str, Any], read: Callable[[Path], object]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(json.dumps(row).encode() + b'\n{"question": "caf\xe9"}\n')
    with pytest.raises(UserError, match=r"\.jsonl:2: not UTF-8 text .*0xe9.*save it as UTF-8"):
        read(path)


@each_reader
def test_a_row_that_is_no_object_is_one_sentence_with_the_line(
    tmp_path: Path, row: dict[str, Any], read: Callable[[Path], object]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(row)}\n17\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"\.jsonl:2: not an object but int"):
        read(path)


@each_reader
def test_an_empty_file_is_refused(tmp_path: Path, row: dict[str, Any], read: Callable[[Path], object]) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n \n", encoding="utf-8")
    with pytest.raises(UserError, match=r"holds no row; each is .*\{"):
        read(path)
