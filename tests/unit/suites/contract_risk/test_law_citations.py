"""Citations: read, normalised, checked."""

import pytest

from seedbed.suites.contract_risk.knowledge import DATA, read_law_index
from seedbed.suites.contract_risk.lawrefs import LawRef, read_laws
from seedbed.suites.contract_risk.numerals import numbers, to_int

INDEX = read_law_index(DATA / "law_index.json", ())


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("十", 10),
        ("十九", 19),
        ("一百零五", 105),
        ("五百八十五", 585),
        ("一千二百六十", 1260),
        ("二〇二四", 2024),
        ("7", 7),
    ],
)
def test_numerals(numeral: str, value: int) -> None:
    assert to_int(numeral) == value


@pytest.mark.parametrize("numeral", ["", "甲", "1.5", "第"])
def test_what_is_no_numeral(numeral: str) -> None:
    assert to_int(numeral) is None


def test_numbers_are_equal_however_they_are_written() -> None:
    assert numbers("百分之三十、30日、五万元、1,000件") == numbers("30%、三十日、50000元、1000件")


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("《中华人民共和国民法典》第五百八十五条第二款", [("民法典", 585)]),
        ("民法典第585条和消费者权益保护法第26条", [("民法典", 585), ("消费者权益保护法", 26)]),
        ("《劳动合同法》第19、20条", [("劳动合同法", 19), ("劳动合同法", 20)]),
        ("《民法典》", [("民法典", None)]),
        ("依据劳动法", [("劳动法", None)]),
        ("第十条", [("", 10)]),
        ("无", []),
        ("依法处理，无法确定", []),
    ],
)
def test_citations_are_read(text: str, refs: list[tuple[str, int | None]]) -> None:
    assert read_laws(text) == [LawRef(*ref) for ref in refs]


@pytest.mark.parametrize(
    ("ref", "verdict"),
    [
        (LawRef("民法典", 1), "valid"),
        (LawRef("民法典", 1260), "valid"),
        (LawRef("民法典", 1261), "no_such_article"),
        (LawRef("民法典", 0), "no_such_article"),
        (LawRef("《中华人民共和国劳动合同法》", 98), "valid"),
        (LawRef("消法", 63), "valid"),
        (LawRef("最高人民法院关于审理民间借贷案件适用法律若干问题的规定", 25), "valid"),
        (LawRef("合同法", 52), "unknown_law"),
        (LawRef("民法典", None), "incomplete"),
        (LawRef("", 5), "incomplete"),
    ],
)
def test_citations_are_checked(ref: LawRef, verdict: str) -> None:
    assert INDEX.check(ref) == verdict
