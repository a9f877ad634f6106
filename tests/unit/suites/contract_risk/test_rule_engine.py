"""Rules and their conditions, and finding the right ones."""

import re

from seedbed.suites.contract_risk.cases import load
from seedbed.suites.contract_risk.options import ClauseOptions
from seedbed.suites.contract_risk.retrieval import Library
from seedbed.suites.contract_risk.rules import Rule, RuleBook


def _rule(rule_id: str = "r", **conditions: object) -> Rule:
    return Rule(rule_id, rule_id, "", rule_id, "高", **conditions)  # type: ignore[arg-type]


def test_one_of_any_of_is_enough() -> None:
    assert _rule(any_of=["押金", "保证金"]).triggers("交保证金") == ["保证金"]


def test_all_of_needs_all() -> None:
    assert not _rule(all_of=["押金", "不退"]).triggers("押金照退")


def test_none_of_vetoes() -> None:
    assert not _rule(any_of=["押金"], none_of=["全额退还"]).triggers("押金全额退还")


def test_regex_must_match_where_there_is_one() -> None:
    rule = _rule(any_of=["试用期"], regex=[re.compile("十二个月")])
    assert rule.triggers("试用期十二个月")
    assert not rule.triggers("试用期两个月")


def test_a_rule_without_conditions_never_fires() -> None:
    assert not _rule().triggers("任何条款")


def test_the_gravest_rule_comes_first() -> None:
    mild = Rule("mild", "m", "", "m", "中", any_of=["押金", "不退"])
    grave = Rule("grave", "g", "", "g", "高", any_of=["押金"])
    assert [rule.rule_id for rule in RuleBook([mild, grave]).fired("押金不退", "")] == ["grave", "mild"]


def test_rules_of_another_contract_type_do_not_fire() -> None:
    book = RuleBook(
        [Rule("a", "a", "租赁", "a", "高", any_of=["押金"]), Rule("b", "b", "买卖", "b", "高", any_of=["定金"])]
    )
    assert book.fired("押金和定金", "买卖")[0].rule_id == "b"


def _library() -> Library:
    return load(ClauseOptions()).resources["library"]


def test_retrieval_finds_the_rule_and_the_law_of_a_clause() -> None:
    clause, library = "试用期为十二个月，试用期内可随时解除。", _library()
    assert library.rules.search(clause, 1, rerank=False)[0].item.rule_id == "R01"
    assert library.laws.search(clause, 1, rerank=True)[0].item.article == 19


def test_reranking_leaves_out_what_is_not_relevant() -> None:
    clause, library = "借款年利率为36%。", _library()
    assert len(library.rules.search(clause, 5, rerank=True)) < len(library.rules.search(clause, 5, rerank=False))


def test_nothing_is_found_for_a_clause_that_shares_no_word() -> None:
    assert _library().rules.search("????", 3, rerank=True) == []
