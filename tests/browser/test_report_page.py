"""report.html in Chromium: it works from one file, stays quick, and never runs what a model said."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from tests.browser.conftest import Dom
from tests.support.toy import NASTY, finished_run


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose questions, answers, tables and drawings carry scripts."""
    return finished_run(tmp_path_factory.mktemp("nasty"), n=12, nasty=True) / "report.html"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with 10,200 samples."""
    return finished_run(tmp_path_factory.mktemp("large"), n=1700) / "report.html"


def title(page: str) -> str:
    found = re.search(r"<title>(.*?)</title>", page)
    assert found
    return found[1]


def count(page: str) -> str:
    found = re.search(r'<span id="count">(.*?)</span>', page)
    assert found
    return found[1]


def driven(report: Path, folder: Path, actions: str) -> Path:
    """A copy of a report whose own script goes on to act as a reader would; the policy is told of the longer script."""
    text = report.read_text(encoding="utf-8")
    start = text.rindex("<script>") + len("<script>")
    script = text[start : text.rindex("</script>")]
    longer = f"{script}\n(() => {{ {actions} }})();\n"
    old, new = (base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in (script, longer))
    assert old in text
    page = folder / "driven.html"
    page.write_text(text.replace(old, new).replace(script, longer), encoding="utf-8")
    return page


def section(page: str, name: str) -> str:
    return page[page.index(f'<section id="{name}"') :].partition("</section>")[0]


def rows(part: str) -> list[list[str]]:
    """The texts of the cells of the last table's rows that are in sight."""
    body = part[part.rindex("<tbody>") :].partition("</tbody>")[0]
    shown = re.findall(r"<tr>(.*?)</tr>", body)
    return [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in shown]


def listed(page: str) -> list[list[str]]:
    """The texts of the sample lines on the screen, from the top."""
    lines = re.findall(r'<div class="line[^>]* style="top: (\d+)px;">(.*?)</div>', page)
    return [re.findall(r"<span>(.*?)</span>", line) for _, line in sorted(lines, key=lambda line: int(line[0]))]


def test_this_browser_would_run_the_script_if_it_were_let(dom: Dom, tmp_path: Path) -> None:
    page = tmp_path / "control.html"
    page.write_text(f"<!doctype html><title>calm</title><body>{NASTY}", encoding="utf-8")
    assert title(dom(page)) == "planted"


def test_what_a_model_said_is_shown_and_does_not_run(dom: Dom, nasty: Path) -> None:
    page = dom(nasty, "#sample=q00000")
    assert title(page) == "toys · Seedbed report"
    assert 'data-ready="yes"' in page
    detail = page[page.index('id="detail"') :]
    assert "&lt;script&gt;document.title='planted'&lt;/script&gt;" in detail
    assert "<img src=" not in page.replace('<img alt="', "")
    assert "<b onmouseover" not in page


def test_a_script_that_got_into_the_page_after_all_is_refused(dom: Dom, nasty: Path, tmp_path: Path) -> None:
    page = tmp_path / "injected.html"
    page.write_text(nasty.read_text(encoding="utf-8").replace("<main>", f"<main>{NASTY[9:]}", 1), encoding="utf-8")
    assert title(dom(page)) == "toys · Seedbed report"


def test_the_page_needs_nothing_from_anywhere(nasty: Path) -> None:
    text = nasty.read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="(?!data:|#|plots/)[^"]*"', text)
    assert "@import" not in text
    assert "url(" not in text


def test_a_sample_opens_with_question_answer_gold_and_scores(dom: Dom, nasty: Path) -> None:
    page = dom(nasty, "#sample=q00003")
    detail = page[page.index('id="detail"') :]
    for shown in ("第3题: what is 3 + 3?", "<h4>gold</h4>", "<h4>answer: answer</h4>", "&quot;digits&quot;"):
        assert shown.replace("&quot;", '"') in detail.replace("&quot;", '"')
    assert "the same sample elsewhere" in detail


def test_ten_thousand_samples_are_listed_by_the_screenful(dom: Dom, large: Path) -> None:
    page = dom(large)
    assert count(page) == "10,200 of 10,200"
    assert 5 < page.count('<div class="line') < 100
    assert large.stat().st_size < 20_000_000


def test_search_finds_a_sample_among_ten_thousand(dom: Dom, large: Path) -> None:
    assert count(dom(large, "#q=q01234")) == "6 of 10,200"


def test_search_reaches_into_packed_details(dom: Dom, large: Path) -> None:
    # The cluster stands in the details only; two questions of three systems and two seeds have it.
    assert count(dom(large, "#q=c00617&deep=1")) == "12 of 10,200"


@pytest.mark.parametrize(("clicks", "expected"), [(1, ["weak", "middle", "strong"]), (2, ["strong", "middle", "weak"])])
def test_a_click_on_a_heading_sorts_by_number_and_another_turns_it(
    dom: Dom, nasty: Path, tmp_path: Path, clicks: int, expected: list[str]
) -> None:
    click = "document.querySelector('#tables table').tHead.rows[0].cells[2].click();"
    # Out of order first, so that it is the click that sorts.
    mix = "const b = document.querySelector('#tables tbody'); b.append(b.rows[0]); b.append(b.rows[0], b.rows[1]);"
    page = dom(driven(nasty, tmp_path, mix + click * clicks))
    assert [row[1] for row in rows(section(page, "tables"))] == expected
    order = "ascending" if clicks == 1 else "descending"
    assert re.search(rf'<th class="num" aria-sort="{order}">Digits</th>', page)


def test_undefined_figures_stay_at_the_end_whichever_way_a_table_is_sorted(
    dom: Dom, nasty: Path, tmp_path: Path
) -> None:
    blank = "document.querySelector('#tables tbody').rows[1].cells[2].textContent = '-';"
    click = "document.querySelector('#tables table').tHead.rows[0].cells[2].click();"
    for clicks in (1, 2):
        page = dom(driven(nasty, tmp_path, blank + click * clicks))
        assert rows(section(page, "tables"))[-1][1:3] == ["middle", "-"]


def test_a_text_in_the_filter_leaves_the_rows_that_have_all_its_words(dom: Dom, large: Path, tmp_path: Path) -> None:
    whole = rows(section(dom(large), "failures"))
    typed = (
        "const inputs = document.querySelectorAll('#failures input.filter'); const i = inputs[inputs.length - 1];"
        "i.value = 'Strong  q000'; i.dispatchEvent(new Event('input'));"
    )
    left = rows(section(dom(driven(large, tmp_path, typed)), "failures"))
    assert left == [row for row in whole if "strong" in row[0] and "q000" in row[1]]
    assert 0 < len(left) < len(whole)


def test_samples_are_chosen_by_system_and_status(dom: Dom, large: Path, tmp_path: Path) -> None:
    chosen = (
        "for (const [id, value] of [['by-system', 'strong'], ['by-status', '1']]) {"
        "const box = document.getElementById(id); box.value = value; box.dispatchEvent(new Event('change')); }"
    )
    page = dom(driven(large, tmp_path, chosen))
    shown = listed(page)
    assert {line[2] for line in shown} == {"strong"}
    assert {line[0] for line in shown} == {"-"}
    assert re.fullmatch(r"1\d\d of 10,200", count(page))


def test_ten_thousand_samples_are_sorted_by_score(dom: Dom, large: Path, tmp_path: Path) -> None:
    click = "document.querySelector('.head span[data-key=score]').click();"
    up = [float(line[0]) for line in listed(dom(driven(large, tmp_path, click)))]
    assert (up[0], up) == (0.0, sorted(up))
    down = [float(line[0]) for line in listed(dom(driven(large, tmp_path, click * 2)))]
    assert (down[0], down) == (1.0, sorted(down, reverse=True))


def test_the_end_of_ten_thousand_samples_is_reached_by_scrolling(dom: Dom, large: Path, tmp_path: Path) -> None:
    scroll = "const l = document.getElementById('list'); l.scrollTop = l.scrollHeight;"
    shown = listed(dom(driven(large, tmp_path, scroll)))
    assert shown[-1][1] == "q01699"
    assert len(shown) < 100
