"""A page held against the same page rendered again: each part is named as a reader would look for it."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

from seedbed.phases.verification.checker import Checker
from seedbed.phases.verification.report_page import INDEX, around, check_page, other_drawing

FILE = Path("/run/report.html")
TABLE = (
    "<h3>Results</h3><table><tr><th>System</th><th>F1</th></tr><tr><td>multi</td><td class=x>0.812</td></tr></table>"
)


def drawing(svg: str, alt: str = "F1") -> str:
    return f'<img alt="{alt}" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'


def data(name: str, value: object) -> str:
    return f'<script type="application/json" id="{name}">{json.dumps(value)}</script>'


def pack(*samples: object, name: str = "pack-0") -> str:
    held = samples if name != INDEX else samples[0]
    packed = base64.b64encode(zlib.compress(json.dumps(held).encode())).decode()
    return f'<script type="text/plain" id="{name}">{packed}</script>'


def index(*ids: str) -> str:
    """Of one table, whose details are in the first pack."""
    return pack({"tables": [{"ids": list(ids), "details": [[0, 0]], "texts": []}]}, name=INDEX)


def page(tables: str = TABLE, plots: str = "", samples: str = "", more: str = "") -> str:
    """Sections as a report has them."""
    sections = f'<section id="tables">{tables}</section><section id="plots">{plots}</section>'
    return f'<h1>Sweep</h1>{sections}<section id="samples">{samples}</section>{more}'


def told(own: str, other: str, *, with_cases: bool = True, drawn_elsewhere: str | None = None) -> list[str]:
    check = Checker(Path("/run"))
    check_page(check, FILE, own, other, with_cases=with_cases, drawn_elsewhere=drawn_elsewhere)
    return [difference.what for difference in check.differences]


def test_the_same_page_has_no_difference_and_every_part_is_counted() -> None:
    whole = page(plots=drawing("<svg/>"), samples=index("q1") + pack({"a": 1}))
    assert told(whole, whole) == []
    check = Checker(Path("/run"))
    check_page(check, FILE, whole, whole, with_cases=True, drawn_elsewhere=None)
    # Four cells, a drawing, three leaves of the index, a sample, and the text of four sections.
    assert check.figures == 4 + 1 + 3 + 1 + 4


def test_a_fact_and_a_sentence_are_counted_as_one_each() -> None:
    def counted(own: str) -> int:
        check = Checker(Path("/run"))
        check_page(check, FILE, page(own), page(own), with_cases=True, drawn_elsewhere=None)
        return check.figures

    fact, sentence = "<dl><dt>started</dt><dd>2 May</dd></dl>", "<ul><li>multi beats direct</li></ul>"
    assert [counted(own) - counted("") for own in (fact, sentence, fact + sentence)] == [1, 1, 2]


def test_a_row_is_named_by_its_first_three_cells() -> None:
    def wide(last: str) -> str:
        cells = "".join(f"<td>{text}</td>" for text in ("a", "b", "c", "d", last))
        return page(f"<h3>Wide</h3><table><tr>{'<th>X</th>' * 5}</tr><tr>{cells}</tr></table>")

    (said,) = told(wide("e"), wide("f"))
    assert "row 1 (a · b · c), column 'X' shows 'e'" in said


def test_a_cell_is_named_by_its_row_and_column() -> None:
    assert told(page(TABLE.replace("0.812", "0.912")), page()) == [
        "tables, table 'Results', row 1 (multi · 0.812), column 'F1' shows '0.912', the stored rows give '0.812'"
    ]


def test_a_colour_or_a_mark_is_a_difference_too() -> None:
    assert told(page(TABLE.replace("class=x", "class=y")), page()) == [
        "tables, table 'Results', row 1 (multi · 0.812), column 'F1' shows '<class=y> 0.812', "
        "the stored rows give '<class=x> 0.812'"
    ]
    (bold,) = told(page(TABLE.replace("0.812", "<b>0.812</b>")), page())
    assert "shows '**0.812**'" in bold


def test_a_long_number_in_a_cell_may_be_rounded_otherwise() -> None:
    own, other = TABLE.replace("0.812", "0.81234567891"), TABLE.replace("0.812", "0.81234567892")
    assert told(page(own), page(other)) == []
    assert len(told(page(own.replace("class=x", "class=y")), page(other))) == 1


def test_rows_and_cells_that_are_missing_are_counted() -> None:
    longer = TABLE.replace("</table>", "<tr><td>cross</td><td>0.5</td></tr></table>")
    assert told(page(), page(longer)) == ["tables, table 'Results' has 1 rows, the stored rows give 2"]
    narrow = TABLE.replace("<td class=x>0.812</td>", "")
    assert told(page(narrow), page()) == ["tables, table 'Results', row 1: has 1 cells, the stored rows give 2"]


def test_whole_tables_are_missing_or_not_expected() -> None:
    assert "tables, table 'Results' is missing" in told(page(""), page())
    assert "tables, table 'Results' is not expected" in told(page(), page(""))


def test_what_is_made_from_the_cases_is_left_out_without_them() -> None:
    extra = page(plots=TABLE + drawing("<svg/>"), samples=index() + pack(1))
    assert told(extra, page(), with_cases=False) == []
    named = told(extra, page())
    expected = [
        "plots, table 'Results' is not expected",
        "plots, drawing 'F1' is not expected",
        "the data 'samples-index' is not expected",
        "the data 'pack-0' is not expected",
    ]
    assert set(expected) <= set(named)
    assert told(page(TABLE + TABLE), page(), with_cases=False)[0] == "tables, table 'Results' (2) is not expected"


def test_a_drawing_is_held_against_its_own_name() -> None:
    own, other = page(plots=drawing("<svg>\n<a 1/>")), page(plots=drawing("<svg>\n<a 2/>"))
    line = "line 2 of the SVG has '<a 1/>', the stored rows give '<a 2/>'"
    assert told(own, other) == [f"plots, drawing 'F1': {line}"]
    assert told(own, other, drawn_elsewhere="another font") == []
    assert "plots, drawing 'F1' is missing" in told(page(), other)


def test_lines_of_a_drawing() -> None:
    assert other_drawing("a\nb", "a\nb") is None
    assert other_drawing("a", "a\nb") == "the SVG has 1 lines, the stored rows give 2"
    assert other_drawing("x 1.00000000001", "x 1.00000000002") is None


def test_embedded_data_is_compared_leaf_by_leaf() -> None:
    own, other = page(more=data("figures", {"n": 1})), page(more=data("figures", {"n": 2}))
    assert told(own, other) == ["figures.n is 1, the stored rows give 2"]
    assert "the data 'figures' is missing" in told(page(), other)
    assert "the data 'figures' is not expected" in told(own, page())
    own, other = page(samples=index()), page(samples=index("q1"))
    assert told(own, other, with_cases=False) == []
    assert told(own, other) == ["samples-index.tables[0].ids has 0 entries, the stored rows give 1"]


def test_a_sample_is_named_as_the_index_names_it() -> None:
    listed = index("q1", "q2")
    own, other = (page(samples=listed + pack({"a": 1}, {"a": last}, {"a": last})) for last in (2, 3))
    assert told(own, other) == [
        "sample q2.a is 2, the stored rows give 3",
        "sample 2.a is 2, the stored rows give 3",
    ]
    assert told(own, other, with_cases=False) == []
    fewer = page(samples=listed + pack({"a": 1}))
    assert told(fewer, other) == ["a pack of samples has 1 entries, the stored rows give 3"]


def test_facts_and_sentences_are_named_one_by_one() -> None:
    def first(day: str, verdict: str) -> str:
        facts = f"<dl><div><dt>started</dt><dd>{day}</dd></div></dl>"
        return page(f'{facts}<ul><li class="better"><a href="#a">{verdict}</a></li><li class="open">b</li></ul>')

    own = first("2 May", "multi beats direct by 0.9")
    assert told(own, first("3 May", "multi beats direct by 0.4")) == [
        "tables, 'started' says '2 May', the stored rows give '3 May'",
        "tables, a sentence says 'multi beats direct by 0.9', the stored rows give 'multi beats direct by 0.4'",
    ]
    assert told(own, own.replace("better", "worse")) != []
    assert "tables, a sentence (2) is missing" in told(own.replace('<li class="open">b</li>', ""), own)


def test_the_text_between_the_parts_is_compared_by_section() -> None:
    own = page(more='<section id="costs"><p>$1.25</p></section>')
    other = page(more='<section id="costs"><p>$1.35</p></section>')
    (said,) = told(own, other)
    assert said.startswith("section 'costs' has ")
    assert "$1.25" in said
    assert told(own, page()) == ["section 'costs' is not expected"]
    assert told(page(), own) == ["section 'costs' is missing"]
    changed = page(samples="<p>words</p>")
    assert told(changed, page(), with_cases=False) == []
    assert len(told(changed, page())) == 1


def test_two_texts_are_shown_near_where_they_part() -> None:
    assert around("abcX", "abcY") == ("abcX", "abcY")
    assert around("abc", "abcd") == ("abc", "abcd")
    head, tail = "h" * 100, "t" * 100
    assert around(head, f"{head}Y") == ("h" * 60, f"{'h' * 60}Y")
    assert around(f"{head}Y", head) == (f"{'h' * 60}Y", "h" * 60)
    assert around(f"{head}X{tail}", f"{head}Y{tail}") == (f"{'h' * 60}X{'t' * 59}", f"{'h' * 60}Y{'t' * 59}")
