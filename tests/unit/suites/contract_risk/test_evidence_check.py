"""Whether an excerpt stands in the clause."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from seedbed.errors import UserError
from seedbed.suites.contract_risk.cases import read_cases
from seedbed.suites.contract_risk.knowledge import DATA
from seedbed.suites.contract_risk.options import ClauseOptions
from seedbed.suites.contract_risk.verify import make_verifier, one_verifier

CLAUSE = "乙方不得提出异议，逾期30日不付款的，甲方有权解除合同。违约金为合同总价的3.5%，分30、60日两期支付。"
PLANTED = Path(__file__).parent / "data" / "planted.jsonl"


def _finding(excerpt: str) -> tuple[bool, str]:
    checks = make_verifier("lexical").check(CLAUSE, [excerpt])
    assert checks is not None
    return checks[0].valid, checks[0].finding


@pytest.mark.parametrize(
    "excerpt",
    [
        "乙方不得提出异议",
        "「乙方 不得，提出异议。」",
        "逾期３０日不付款的",
        "甲方有权解除合同。违约金为合同总价的3.5％",
    ],
)
def test_the_same_words_are_exact_whatever_the_typography(excerpt: str) -> None:
    assert _finding(excerpt) == (True, "exact")


def test_a_near_quote_with_the_same_facts_is_similar() -> None:
    assert _finding("违约金为总价的3.5%") == (True, "similar")


@pytest.mark.parametrize(
    "excerpt",
    ["逾期60日不付款的，甲方有权解除合同", "逾期3日不付款", "0日不付款的", "违约金为合同总价的35%", "分3060日两期支付"],
)
def test_a_changed_number_is_refused(excerpt: str) -> None:
    assert not _finding(excerpt)[0]


@pytest.mark.parametrize(
    "excerpt", ["乙方得提出异议", "提出异议", "逾期30日付款的，甲方有权解除合同", "甲方无权解除合同"]
)
def test_a_lost_or_added_negation_is_refused(excerpt: str) -> None:
    assert not _finding(excerpt)[0]


def test_a_foreign_sentence_is_refused() -> None:
    assert _finding("出租人应当在七日内维修") == (False, "no_match")


@pytest.mark.parametrize("excerpt", ["……", "「」"])
def test_an_excerpt_without_letters_is_refused(excerpt: str) -> None:
    assert _finding(excerpt) == (False, "empty")


def test_off_checks_nothing() -> None:
    assert make_verifier("off").check(CLAUSE, ["胡说"]) is None


def test_planted_hallucinations() -> None:
    """The table of docs/contract_risk.md."""
    clauses = {case.sample_id: case.inputs["clause"] for case in read_cases(DATA)}
    verifier = make_verifier("lexical")
    table: Counter[tuple[str, bool]] = Counter()
    for line in PLANTED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        checks = verifier.check(clauses[row["case_id"]], [row["excerpt"]])
        assert checks is not None
        table[(row["altered"] or "faithful", checks[0].valid)] += 1
    assert sum(n for (kind, _), n in table.items() if kind != "faithful") / sum(table.values()) == 0.3
    assert dict(table) == {
        ("faithful", True): 84,
        ("number", False): 10,
        ("negation", False): 10,
        ("foreign", False): 8,
        ("paraphrase", False): 6,
        ("paraphrase", True): 2,
    }


def test_auto_without_weights_is_lexical_and_says_so() -> None:
    assert ClauseOptions().verifier == "lexical"


def test_flag_without_weights_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="embedder is not given; set it to a local folder"):
        ClauseOptions(verifier="flag")
    with pytest.raises(ValueError, match=f"the folder {tmp_path} holds no config.json"):
        ClauseOptions(verifier="flag", embedder=tmp_path, reranker=tmp_path)


def test_figures_of_two_verifiers_do_not_mix() -> None:
    with pytest.raises(UserError, match="different verifiers"):
        one_verifier(["lexical>=0.8", "flag>=0.5"])
