"""Reading cases, rules and laws, and refusing what is wrong with them in one sentence."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.suites.contract_risk.cases import load, read_cases
from seedbed.suites.contract_risk.knowledge import DATA, read_law_index, read_law_texts, read_rules
from seedbed.suites.contract_risk.options import ClauseOptions
from seedbed.suites.contract_risk.verify import make_verifier

Write = Callable[[Sequence[str]], Path]


def _line(case: str = "a", level: str = "高", **more: Any) -> str:
    gold = {"risk_level": level, "rule_ids": [], "risk_id": None, "evidence": [], "law_refs": []}
    row = {"case_id": case, "contract_type": "买卖合同", "clause_text": "甲方概不负责。", "gold": gold, **more}
    return json.dumps(row, ensure_ascii=False)


def test_the_shipped_clauses_are_balanced_triples() -> None:
    cases = read_cases(DATA)
    assert Counter(case.gold["risk_level"] for case in cases) == {"高": 22, "中": 22, "低": 22}
    assert set(Counter(case.cluster for case in cases).values()) == {3}
    assert len({case.inputs["contract_type"] for case in cases}) == 5


def test_the_shipped_evidence_stands_in_its_clause() -> None:
    verifier = make_verifier("lexical")
    for case in read_cases(DATA):
        checks = verifier.check(case.inputs["clause"], case.gold["evidence"])
        assert checks is not None
        assert all(check.finding == "exact" for check in checks)


def test_the_shipped_citations_are_valid_and_have_their_texts() -> None:
    laws = read_law_texts(DATA / "laws.jsonl")
    index = read_law_index(DATA / "law_index.json", laws)
    held = {(law.law, law.article) for law in laws}
    for rule in read_rules(DATA / "rules.jsonl"):
        assert all(index.check(ref) == "valid" and ref in held for ref in rule.law_refs)


def test_a_wrong_level_is_named_with_its_line(clause_file: Write) -> None:
    path = clause_file([_line("a"), _line("b", "严重")])
    with pytest.raises(UserError, match=r"cases\.jsonl:2: field gold\.risk_level is '严重'; write 高, 中 or 低\.$"):
        read_cases(path)


def test_a_duplicate_id_is_named_with_both_lines(clause_file: Write) -> None:
    path = clause_file([_line("a"), "", _line("b"), _line("a")])
    with pytest.raises(UserError, match=r"cases\.jsonl:4: case_id 'a' stands twice, first on line 1"):
        read_cases(path)


def test_broken_json_is_named_with_its_line(clause_file: Write) -> None:
    path = clause_file([*(_line(str(i)) for i in range(16)), '{"case_id": '])
    with pytest.raises(UserError, match=r"cases\.jsonl:17: not valid JSON"):
        read_cases(path)


def test_a_bad_clause_file_is_one_sentence_on_the_command_line(
    clause_file: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = clause_file([_line("a", "严重")])
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"case_id": "a", "level": "高"}\n', encoding="utf-8")
    assert main(["score", "contract_risk", str(answers), "--cases", str(cases)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def _database(path: Path, table: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {table} (id INTEGER, law_name TEXT, article_id TEXT, content TEXT)")
        connection.execute(f"INSERT INTO {table} VALUES (1, '中华人民共和国建筑法', '第八十五条', '略')")
        connection.commit()
    return path


def test_laws_are_read_from_a_database(tmp_path: Path) -> None:
    laws = read_law_texts(_database(tmp_path / "laws.db", "law_articles"))
    assert [(law.law, law.article) for law in laws] == [("建筑法", 85)]
    assert read_law_index(None, laws).laws["建筑法"].max_article == 85


def test_a_law_database_without_the_table_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"laws\.db: the database has no table law_articles"):
        read_law_texts(_database(tmp_path / "laws.db", "articles"))


def test_a_file_that_is_no_database_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "laws.db"
    path.write_text("not a database, whatever its name says", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be read as an SQLite database"):
        read_law_texts(path)


FOREIGN = [
    {
        "id": 1,
        "contract_text": "试用期一年。",
        "case_type": "high_positive",
        "source_domain": "劳动",
        "expected_risks": [
            {"risk_id": "L1", "risk_name": "试用期", "risk_level": "高", "laws": "《劳动合同法》第十九条"},
        ],
    },
    {
        "id": 2,
        "contract_text": "试用期一个月。",
        "case_type": "negative",
        "source_domain": "劳动",
        "expected_risks": [],
    },
]


def test_an_array_of_expected_risks_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(FOREIGN, ensure_ascii=False, indent=1), encoding="utf-8")
    first, second = read_cases(path)
    assert (first.sample_id, first.gold["risk_level"], first.gold["risk_id"]) == ("1", "高", "L1")
    assert first.gold["law_refs"] == [("劳动合同法", 19)]
    assert (second.gold["risk_level"], second.gold["rule_ids"]) == ("低", [])


def test_a_case_type_that_contradicts_its_risks_is_named_with_its_line(tmp_path: Path) -> None:
    rows = [FOREIGN[1], {**FOREIGN[0], "case_type": "negative"}]
    path = tmp_path / "cases.json"
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]", encoding="utf-8")
    with pytest.raises(UserError, match=r"cases\.json:3: case_type 'negative' says 低, expected_risks say 高"):
        read_cases(path)


def test_keyword_rules_are_read_and_belong_to_their_file(tmp_path: Path) -> None:
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps(FOREIGN), encoding="utf-8")
    rule = {
        "risk_id": "L1",
        "contract_type": "劳动",
        "risk_name": "试用期过长",
        "keywords": ["试用期一年"],
        "risk_type": "高风险",
        "analysis_logic": "略",
        "laws": ["《劳动合同法》第十九条"],
    }
    (tmp_path / "my_rules.json").write_text(json.dumps([rule]), encoding="utf-8")
    library = load(ClauseOptions(path=cases, rules=Path("my_rules.json"))).resources["library"]
    assert [r.rule_id for r in library.book.fired("试用期一年。", "劳动")] == ["L1"]
    assert library.book.rules[0].level == "高"


def test_a_named_rules_file_must_be_there(clause_file: Write) -> None:
    with pytest.raises(UserError, match=r"none\.jsonl: no such file"):
        load(ClauseOptions(path=clause_file([_line()]), rules=Path("none.jsonl")))
