"""What the report is built from: escaping, fonts, drawings, slices."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from seedbed.phases.context import open_run
from seedbed.phases.score_tables import score_tables
from seedbed.phases.summary import make_summary
from seedbed.report.canvas import panels, rendered, style
from seedbed.report.curves import _varying, cases_of, slices
from seedbed.report.html import embedded, plain_table, read_embedded
from seedbed.report.links import LinkedTable, samples_link
from seedbed.report.plots import Centre, _front, dots_plot, pareto_plot
from seedbed.report.sample_list import SampleBook, _cut, snippet
from seedbed.report.sample_packs import read_sheet
from seedbed.suite import Table
from seedbed.suites.kit.outcomes import told_reason


def test_embedded_data_cannot_end_its_element_and_reads_back() -> None:
    data = {"text": "</script><!--\u2028&", "n": 1.5, "none": None}
    html = embedded("x", data)
    assert html.count("</script>") == 1
    assert "<!--" not in html
    assert read_embedded(html, "x") == data


def test_table_cells_are_escaped_and_none_is_a_dash() -> None:
    html = plain_table(Table("<t>", ["<c>"], [["<b>"], [None]], "<n>"))
    for raw in ("<t>", "<c>", "<b>", "<n>"):
        assert raw not in html
    assert ">-</td>" in html


def test_equal_drawings_have_equal_bytes() -> None:
    def draw() -> tuple[str, bytes]:
        with style():
            dots = {"a": [Centre(0.5, 0.4, 0.6), Centre(None)], "b": [Centre(0.25), Centre(1.0)]}
            made = dots_plot("x", "Dots", ["zh", "en"], dots)
        return made.svg, made.png

    assert draw() == draw()


def test_text_in_drawings_stays_text() -> None:
    with style():
        drawing, (axis,) = panels(["每种语言"], 2.0)
        axis.plot([0, 1], [0, 1])
        made = rendered(drawing, "x", "x")
    assert "每种语言" in made.svg


def test_chinese_is_drawn_with_a_font_that_has_it(recwarn: pytest.WarningsRecorder) -> None:
    with style():
        drawing, _ = panels(["每种语言"], 2.0)
        rendered(drawing, "x", "x")
    assert not [w for w in recwarn if "missing from" in str(w.message)]


def test_the_front_joins_systems_that_no_other_beats_in_both() -> None:
    points = [(1.0, 0.5, "cheap"), (2.0, 0.4, "beaten"), (3.0, 0.9, "good"), (3.0, 0.8, "also beaten")]
    assert [label for _, _, label in _front(points, higher=True)] == ["cheap", "good"]


def test_a_curve_needs_one_numeric_option_that_varies() -> None:
    assert _varying([{"budget": 0}, {"budget": 35}, {"budget": 70}]) == "budget"
    assert _varying([{"budget": 0, "k": 1}, {"budget": 35, "k": 2}, {"budget": 70, "k": 3}]) is None
    assert _varying([{"budget": 0}, {"budget": 35}]) is None


def test_slices_by_language_hold_the_means_of_their_samples(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    (table,) = score_tables(run.store, run.plan)
    (by_language,) = slices(table, cases_of(run.plan, table))
    assert by_language.values == ["en", "ja", "zh"]
    assert by_language.table.columns[0] == "lang"
    at = [i for i, sample in enumerate(table.sample_ids) if int(sample[1:]) % 3 == 1]
    english = by_language.dots["strong"][0]
    assert english.low is not None
    assert english.high is not None
    assert english.mean == pytest.approx(float(table.values["strong"][at, 0].mean()))
    assert english.low < english.mean < english.high


def test_a_report_has_room_for_so_many_samples_and_says_how_many_there_are(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    book = SampleBook(per_cell=5)
    for table in score_tables(run.store, run.plan):
        book.add(run.store, run.plan, table)
    assert (book.n_shown, book.n_samples) == (8 * 5, 8 * 24)
    assert len(book.tables[0]["ids"]) == 5


def test_long_texts_are_cut_and_the_cut_is_marked() -> None:
    assert _cut({"a": ["x" * 20_010]})["a"][0].endswith("[…10 characters more in the cell's files]")
    assert len(snippet({"a": "y" * 500})) == 160


def test_ids_and_codes_beside_a_text_are_no_part_of_its_snippet() -> None:
    dialogue = {
        "id": "fd-01",
        "turns": [{"n": 1, "user": "你好，想做个长的打算。"}, {"n": 2, "user": "Is it safe?"}],
    }
    assert snippet(dialogue) == "你好，想做个长的打算。 · Is it safe?"
    assert snippet({"choice": "B"}) == "B"
    assert snippet({"n": 4}) == "4"
    assert snippet(None) == ""


def test_a_table_without_rows_is_left_out() -> None:
    assert plain_table(Table("Empty", ["a"], [])) == ""


def test_a_linked_cell_leads_to_its_samples() -> None:
    table = LinkedTable("T", ["lang", "multi"], [["zh", "0.5"]], links={(0, 1): samples_link(("s", "b", "m"), q="a&b")})
    assert '<td class="num"><a href="#table=s/b/m&amp;q=a%26b">0.5</a></td>' in plain_table(table)


def test_drawings_have_colours_for_a_dark_page_and_keep_their_own() -> None:
    with style():
        drawing, (axis,) = panels(["x"], 2.0)
        axis.plot([0, 1], [0, 1], color="#000000")
        svg = rendered(drawing, "x", "x").svg
    dark = svg[svg.index("@media (prefers-color-scheme: dark)") : svg.index("</style>")]
    assert '[style*="stroke: #000000"]{stroke:#e6e9ed !important}' in dark
    assert 'style="fill: #ffffff"' in svg.replace(dark, "")


def test_a_system_that_costs_nothing_is_on_the_plane_and_on_its_frontier(toy_run: Path) -> None:
    run = open_run(str(toy_run))
    summary = make_summary(run.store, run.plan, [], {}, "completed")
    priced = [replace(row, list_usd=0.0 if row.label == "strong" else 0.5) for row in summary.rows]
    with style():
        plot = pareto_plot(replace(summary, rows=priced), "toy")
    assert plot is not None
    for label in ("weak", "middle", "strong", "ask"):
        assert f">{label}</text>" in plot.svg
    unknown = [replace(row, list_usd=None if row.label == "strong" else 0.5) for row in summary.rows]
    told = pareto_plot(replace(summary, rows=unknown), "toy")
    assert told is not None
    assert "the price is unknown: strong." in told.note


def test_many_samples_lie_in_packs_beside_the_page(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedbed.report.sample_packs.INSIDE", 100)
    run = open_run(str(toy_run))
    book = SampleBook(per_cell=24)
    for table in score_tables(run.store, run.plan):
        book.add(run.store, run.plan, table)
    assert list(book.packs.in_page()) == []
    files = book.packs.files()
    listed = book.tables[0]
    ((first, number),) = listed["details"]
    samples = read_sheet(files[f"samples/{number}.css"])
    assert (first, len(samples)) == (0, 24)
    assert samples[3]["asked"]["number"] == 3
    assert set(samples[3]["answers"]) == {"weak", "middle", "strong", "ask"}
    assert samples[3]["answers"]["ask"][0]["calls"][0]["role"] == "task"


def test_a_row_without_a_reason_of_its_own_has_that_of_its_metrics() -> None:
    results = {"a": {"reason": ""}, "b": {"reason": "no contexts"}}
    assert told_reason({"reason": None, "details": {"results": results}}) == "no contexts"
    assert told_reason({"reason": "timeout", "details": {}}) == "timeout"
    assert told_reason({"reason": None, "details": {}}) == ""


def test_decimals_stand_below_each_other_and_a_dash_on_the_side_of_its_column() -> None:
    rows = [["a", 0.933, 3, "0.5 [0.1, 0.9]"], ["b", 1.0, 42, None], ["c", None, 0, "0.25 (n=2)"]]
    shown = plain_table(Table("T", ["system", "share", "n", "slice"], rows))
    assert re.findall(r'<td class="num">(.*?)</td>', shown) == ["0.933", "3", "1.000", "42", "-", "0"]
    assert "<td>-</td>" in shown, "texts stand on the left, and so does what is missing among them"
    sizes = plain_table(Table("T", ["usd"], [[1e-07], [0.5], [123456.7]]))
    assert re.findall(r'<td class="num">(.*?)</td>', sizes) == ["1e-07", "0.5", "123457"]
