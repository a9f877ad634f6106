"""Cases, rules, laws and reviews in the forms that the suite's source gives them."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seedbed.cli.main import main
from seedbed.storage.store import read_json, read_jsonl
from seedbed.suite import Benchmark
from seedbed.suites.contract_risk.cases import load, read_cases
from seedbed.suites.contract_risk.knowledge import read_law_texts
from seedbed.suites.contract_risk.lawrefs import LawRef, read_laws
from seedbed.suites.contract_risk.options import ClauseOptions
from tests.unit.suites.contract_risk.conftest import review

CLAUSES = {
    "LABOR_001": ("劳动合同", "考勤扣款", ["迟到一次扣"], "迟到一次扣一天工资", "《劳动法》第五十条"),
    "LABOR_002": ("培训协议", "内训赔偿", ["内训费用"], "离职须赔偿内训费用", "《劳动合同法》第二十二条"),
    "LEASE_001": ("租赁合同", "押金没收", ["押金概不退"], "押金概不退", "《民法典》第五百七十七条"),
    "SALES_001": ("买卖合同", "当面验收", ["签收即验收"], "签收即验收合格", "《民法典》第六百二十条"),
    "GENERAL_001": ("通用条款", "单方解释", ["解释权归"], "解释权归甲方", "《民法典》第四百九十八条"),
    "GENERAL_002": ("通用/租赁/买卖", "管辖", ["甲方所在地法院"], "由甲方所在地法院管辖", "《民事诉讼法》第三十五条"),
}
LEVELS = (("high_positive", "high"), ("medium_positive", "medium"), ("negative", None))


def _case(risk: str, kind: str, level: str | None) -> dict[str, Any]:
    type_, name, _, text, laws = CLAUSES[risk]
    found = {"risk_id": risk, "risk_name": name, "risk_type": "legal", "contract_type": type_, "risk_level": level}
    return {
        "id": f"{risk}_{kind}_1",
        "contract_text": f"第{len(risk)}条 {text}。" if level else "双方协商解决。",
        "expected_risks": [{**found, "laws": laws}] if level else [],
        "case_type": kind,
        "source_domain": risk.partition("_")[0],
    }


def _rule(risk: str) -> dict[str, Any]:
    type_, name, words, _, laws = CLAUSES[risk]
    return {"risk_id": risk, "contract_type": type_, "risk_name": name, "keywords": words, "risk_type": "legal",
            "analysis_logic": "显失公平。", "law_tag": "略", "laws": laws}  # fmt: skip


def _benchmark(folder: Path, domains: dict[str, str] | None = None, **options: Any) -> Benchmark:
    cases = [_case(risk, kind, level) for risk in CLAUSES for kind, level in LEVELS]
    for case in cases:
        case["source_domain"] = (domains or {}).get(case["source_domain"], case["source_domain"])
    (folder / "cases.json").write_text(json.dumps(cases, ensure_ascii=False, indent=2), encoding="utf-8")
    (folder / "rules.json").write_text(json.dumps([_rule(r) for r in CLAUSES], ensure_ascii=False), encoding="utf-8")
    return load(ClauseOptions(path=folder / "cases.json", rules=Path("rules.json"), **options))


def _recall(benchmark: Benchmark) -> float:
    book = benchmark.resources["library"].book
    risky = [case for case in benchmark.test if case.gold["rule_ids"]]
    fired = [{rule.rule_id for rule in book.fired(c.inputs["clause"], c.inputs["contract_type"])} for c in risky]
    return sum(set(case.gold["rule_ids"]) <= own for case, own in zip(risky, fired, strict=True)) / len(risky)


def test_the_source_s_domains_meet_the_contract_types_of_its_rules(tmp_path: Path) -> None:
    benchmark = _benchmark(tmp_path)
    assert _recall(benchmark) == 1.0
    assert benchmark.warnings == ()


def test_so_do_contract_types_of_cases_and_domains_of_rules(tmp_path: Path) -> None:
    names = {"LABOR": "劳动合同", "LEASE": "租赁", "SALES": "买卖合同", "GENERAL": "通用"}
    benchmark = _benchmark(tmp_path, names)
    assert _recall(benchmark) == 1.0
    assert benchmark.warnings == ()


def test_rules_of_other_types_stay_silent(tmp_path: Path) -> None:
    book = _benchmark(tmp_path).resources["library"].book
    text = "迟到一次扣一天工资，押金概不退，解释权归甲方。"
    assert {rule.rule_id for rule in book.fired(text, "LABOR")} == {"LABOR_001", "GENERAL_001"}


def test_a_type_that_no_rule_has_is_told_with_the_count_and_all_rules_are_tried(tmp_path: Path) -> None:
    benchmark = _benchmark(tmp_path, {"LABOR": "雇佣", "LEASE": "RENT"})
    assert _recall(benchmark) == 1.0
    (warning,) = benchmark.warnings
    assert "9 of 18 cases" in warning
    assert "RENT (3), 雇佣 (6)" in warning
    assert "contract_types.json" in warning


def test_a_table_beside_the_cases_maps_further_names(tmp_path: Path) -> None:
    table = {"LABOR": {"names": ["雇佣"]}, "LEASE": {"names": ["RENT"]}}
    (tmp_path / "contract_types.json").write_text(json.dumps(table, ensure_ascii=False), encoding="utf-8")
    benchmark = _benchmark(tmp_path, {"LABOR": "雇佣", "LEASE": "RENT"})
    assert benchmark.warnings == ()
    assert _recall(benchmark) == 1.0


def test_plan_prints_the_warning_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _benchmark(tmp_path, {"LABOR": "雇佣"})
    (tmp_path / "s.yaml").write_text(
        "name: s\nseeds: [0]\nmodels: {m: {model: offline/m}}\nexperiments:\n  - suite: contract_risk\n"
        "    models: [m]\n    benchmarks: [{name: file, path: cases.json, rules: rules.json}]\n"
        "    systems: [rules_only]\n",
        encoding="utf-8",
    )
    assert main(["plan", str(tmp_path / "s.yaml")]) == 0
    assert "warning: contract_risk · file: 6 of 18 cases" in capsys.readouterr().err


def test_negatives_belong_to_the_clusters_of_their_triples(tmp_path: Path) -> None:
    cases = _benchmark(tmp_path).test
    assert Counter(case.cluster for case in cases) == dict.fromkeys(CLAUSES, 3)


def test_retrieved_rules_are_counted_beside_those_whose_cue_was_found(tmp_path: Path) -> None:
    answers = [
        {"case_id": "LABOR_001_high_positive_1", "output": review("高"), "rule_ids": [], "risk_ids": ["LABOR_001"]},
        {
            "case_id": "LEASE_001_high_positive_1",
            "output": review("高"),
            "rule_ids": ["LEASE_001"],
            "risk_ids": ["SALES_001", "LEASE_001"],
        },
        {"case_id": "LEASE_001_negative_1", "output": review("低"), "rule_ids": [], "risk_ids": ["LEASE_001"]},
    ]
    metrics = _scored(tmp_path, answers)
    assert (metrics["rule_recall"], metrics["rule_precision"]) == (0.5, 1.0)
    # As the source counts: retrieved is triggered, and cases without a rule of their own are left out.
    assert (metrics["rule_recall_retrieved"], metrics["rule_precision_retrieved"]) == (1.0, pytest.approx(2 / 3))
    assert metrics["risk_id_accuracy"] == 0.5


def test_reviews_made_elsewhere_carry_latency(tmp_path: Path) -> None:
    rows = [
        {"case_id": "LABOR_001_high_positive_1", "output": review("高"), "latency": 1.5},
        {"case_id": "LABOR_001_negative_1", "level": "低", "latency_s": 2.5},
    ]
    metrics = _scored(tmp_path, rows)
    assert (metrics["avg_latency"], metrics["n_avg_latency"]) == (2.0, 2)
    assert metrics["rule_recall"] is None


def test_a_latency_that_is_none_is_refused_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _answers(tmp_path, [{"case_id": "LABOR_001_negative_1", "level": "低", "latency": "fast"}])
    assert main(["score", "contract_risk", str(path), "--cases", str(tmp_path / "cases.json")]) == 2
    assert "answers.jsonl:1: field latency: 'fast' is no number" in capsys.readouterr().err


def test_class_f1_and_confusion_are_nested_as_the_source_shows_them(tmp_path: Path) -> None:
    rows = [
        {"case_id": "LABOR_001_high_positive_1", "level": "高"},
        {"case_id": "LABOR_001_medium_positive_1", "level": "高"},
        {"case_id": "LABOR_001_negative_1", "level": "低"},
    ]
    metrics = _scored(tmp_path, rows, every=False)
    assert set(metrics["class_f1"]) == {"High", "Medium", "Low"}
    assert metrics["class_f1"]["High"] == pytest.approx(2 * 1 / (6 + 2))
    assert metrics["confusion"] == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert metrics["invalid_by_gold"] == [5, 5, 5]


def _answers(folder: Path, rows: list[dict[str, Any]]) -> Path:
    _benchmark(folder)
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def _scored(folder: Path, rows: list[dict[str, Any]], *more: str, every: bool = True) -> dict[str, Any]:
    path = _answers(folder, rows)
    cases = folder / "cases.json"
    if every:  # only the cases that were answered
        kept = {row["case_id"] for row in rows}
        own = [case for case in json.loads(cases.read_text(encoding="utf-8")) if case["id"] in kept]
        cases.write_text(json.dumps(own, ensure_ascii=False), encoding="utf-8")
    assert main(["score", "contract_risk", str(path), "--cases", str(cases), *more]) == 0
    return read_json(folder / "metrics.json")["metrics"]["answers"]


LAWS = "《工资支付暂行规定》第七条；《关于贯彻执行〈劳动法〉若干问题的意见》第五十九条；《民法典》第9999条"


def _database(path: Path, rows: list[tuple[str, Any]]) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE law_articles (id INTEGER PRIMARY KEY, law_name, article_id, content)")
        connection.executemany("INSERT INTO law_articles (law_name, article_id, content) VALUES (?, ?, '略')", rows)
        connection.commit()
    return path


@pytest.mark.parametrize("article", ["59", 59, "第五十九条", "五十九"])
def test_article_ids_may_be_plain_numbers(tmp_path: Path, article: Any) -> None:
    path = _database(tmp_path / "laws.db", [("中华人民共和国劳动法", article)])
    assert [(law.law, law.article) for law in read_law_texts(path)] == [("劳动法", 59)]


def test_citations_are_checked_against_the_law_database_that_is_given(tmp_path: Path) -> None:
    row = {"case_id": "LABOR_001_high_positive_1", "output": review("高", laws=LAWS)}
    assert _scored(tmp_path, [row])["law_hallucination_rate"] == 1.0
    rows = [("工资支付暂行规定", "7"), ("关于贯彻执行〈劳动法〉若干问题的意见", "100"), ("中华人民共和国民法典", "1")]
    database = _database(tmp_path / "laws.db", rows)
    metrics = _scored(tmp_path, [row], "--laws", str(database))
    assert metrics["law_hallucination_rate"] == pytest.approx(1 / 3)
    (scored,) = read_jsonl(tmp_path / "scores.jsonl")
    assert [law["verdict"] for law in scored["details"]["laws"]] == ["valid", "valid", "no_such_article"]


def test_or_against_a_json_index(tmp_path: Path) -> None:
    index = tmp_path / "index.json"
    entries = {
        "工资支付暂行规定": {"max_article": 20},
        "劳动法意见": {"max_article": 100, "aliases": ["劳动法若干意见"]},
    }
    index.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")
    row = {"case_id": "LABOR_001_high_positive_1", "output": review("高", laws=LAWS)}
    assert _scored(tmp_path, [row], "--laws", str(index))["law_hallucination_rate"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("《关于贯彻执行〈劳动法〉若干问题的意见》第59条", [("关于贯彻执行劳动法若干问题的意见", 59)]),
        ("《最高人民法院关于适用《民法典》的解释》第三条", [("最高人民法院关于适用民法典的解释", 3)]),
        ("〈劳动法〉第五十条、《民法典》第七条", [("劳动法", 50), ("民法典", 7)]),
    ],
)
def test_nested_titles_are_read_whole(text: str, refs: list[tuple[str, int]]) -> None:
    assert read_laws(text) == [LawRef(*ref) for ref in refs]


def test_the_source_s_levels_in_english_are_read(tmp_path: Path) -> None:
    _benchmark(tmp_path)
    levels = Counter(case.gold["risk_level"] for case in read_cases(tmp_path / "cases.json"))
    assert levels == {"高": 6, "中": 6, "低": 6}
