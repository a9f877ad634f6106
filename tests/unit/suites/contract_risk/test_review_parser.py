"""Reading a review beyond the golden cases."""

import pytest

from seedbed.suites.contract_risk.parser import parse_review
from tests.unit.suites.contract_risk.conftest import review


@pytest.mark.parametrize(
    "value", ["高", "高。", "高风险", "**高**", "高（建议修改）", "高，因为该条款中另有约定", "等级为高"]
)
def test_a_level_may_be_dressed_up(value: str) -> None:
    assert parse_review(review(value)).level == "高"


@pytest.mark.parametrize("value", ["不属于高风险", "高/中", "高至中", "中高", "[高/中/低]", "<等级>", "", "未知", "A"])
def test_what_is_not_one_level_is_no_level(value: str) -> None:
    parsed = parse_review(review(value))
    assert parsed.level is None
    assert not parsed.parse_success


def test_the_level_is_not_read_from_running_text() -> None:
    text = review("低").replace("- **分析**：略", "- **分析**：本条不属于高风险，等级不为中")
    assert parse_review(text).level == "低"


def test_two_different_level_lines_in_one_block_are_refused() -> None:
    assert not parse_review(review("高") + "- **等级**：低\n").parse_success


def test_several_blocks_give_the_highest_level_and_all_they_cite() -> None:
    text = review("中", "「甲」", "《民法典》第585条") + review("高", "「乙」", "《民法典》第586条")
    parsed = parse_review(text)
    assert parsed.level == "高"
    assert parsed.evidence == ["甲", "乙"]
    assert [ref.article for ref in parsed.laws] == [585, 586]


def test_a_truncated_second_block_is_not_parsed() -> None:
    parsed = parse_review(review("中") + "## 风险：二\n- **等级**：高\n")
    assert not parsed.parse_success
    assert parsed.missing_sections == ["证据", "分析", "法条", "建议"]


def test_fences_and_thoughts_are_stripped() -> None:
    text = f"<think>- **等级**：高\n</think>\n```markdown\n{review('低')}```"
    assert parse_review(text).level == "低"


def test_a_thought_that_never_ends_leaves_nothing() -> None:
    assert not parse_review(f"<think>{review('高')}").parse_success


def test_half_width_colons_are_read() -> None:
    assert parse_review(review("中").replace("：", ":")).parse_success


def test_values_may_be_none() -> None:
    parsed = parse_review(review("低", "无", "无", "无。"))
    assert parsed.parse_success
    assert (parsed.evidence, parsed.laws, parsed.has_suggestion) == ([], [], False)


def test_a_copied_placeholder_in_any_section_is_refused() -> None:
    assert not parse_review(review("高", advice="[修改建议]")).parse_success


def test_evidence_without_quotes_is_one_excerpt_a_line() -> None:
    assert parse_review(review(evidence="\n  - 甲方不退款\n  - 乙方自负")).evidence == ["甲方不退款", "乙方自负"]


def test_the_raw_text_is_kept() -> None:
    assert parse_review("抱歉").raw == "抱歉"
