"""report.html in Chromium: it works from one file, stays quick, and never runs what a model said."""

from __future__ import annotations

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
