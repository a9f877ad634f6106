"""How the offline model reads a clause: by what stands in the prompt."""

from __future__ import annotations

from seedbed.suites.contract_risk.offline.clause_cues import read_laws, read_rules, view

RULE = "[R01] 试用期超过法定上限｜等级：高｜触发词：试用期｜说明：试用期超过六个月的无效。｜法条：《劳动合同法》第19条"
LAW = "《劳动合同法》第19条：三年以上的劳动合同，试用期不得超过六个月。"


def test_a_rule_in_the_prompt_raises_the_level() -> None:
    clause = "试用期为十二个月。"
    assert view(clause, [], [], weighs=True).level == "低"
    assert view(clause, read_rules(RULE), [], weighs=True).level == "高"


def test_a_limit_in_a_law_is_compared_with_the_clause() -> None:
    laws = read_laws(LAW)
    assert view("劳动合同的试用期为十二个月。", [], laws, weighs=True).level != "低"
    assert view("劳动合同的试用期为两个月。", [], laws, weighs=True).level == "低"


def test_mitigation_counts_when_the_prompt_says_so() -> None:
    clause, rules = (
        "支付违约金五万元，数额由双方协商确定。",
        read_rules(RULE.replace("触发词：试用期", "触发词：违约金")),
    )
    assert view(clause, rules, [], weighs=True).level == "中"
    assert view(clause, rules, [], weighs=False).level == "高"


def test_it_quotes_the_clause_and_cites_what_it_was_given() -> None:
    seen = view("甲方支付工资。试用期为十二个月。", read_rules(RULE), [], weighs=True)
    assert seen.fragments == ("试用期为十二个月",)
    assert seen.law == "《劳动合同法》第19条"


def test_without_a_source_it_has_no_citation_to_give() -> None:
    assert view("试用期为十二个月。", [], [], weighs=True).law is None
