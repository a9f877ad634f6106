"""One sample's page in Chromium, of suites that have judges, that have no gold answer, and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cells import prepared
from tests.support.chromium import Browser

CONFIG = """\
name: judged
seeds: [0]
models: {reader: {model: offline/reader}, judge: {model: offline/judge}}
roles: {judge: judge, translator: judge}
experiments:
  - {suite: rag_quality, models: [reader], benchmarks: [{name: sample, limit: 3}], systems: [given, bm25_rag]}
  - {suite: crosslingual, models: [reader], benchmarks: [{name: tiny, limit: 3}], systems: [direct, multi]}
  - {suite: contract_risk, models: [reader], benchmarks: [{name: clauses, limit: 40}], systems: [full, llm_only]}
"""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    (folder / "judged.yaml").write_text(CONFIG, encoding="utf-8")
    return prepared(folder / "judged.yaml", folder / "out").finish() / "report.html"


def first_sample(tab: Browser, page: Path, table: str) -> str:
    """Opens the first sample of a table; all that its page says."""
    tab.open(page, f"#table={table}")
    tab.run("document.querySelector('.line').click()")
    tab.wait("document.getElementById('sample').dataset.shown")
    return tab.run("document.getElementById('sample').innerText")


def test_reasons_of_judges_stand_beside_their_scores(tab: Browser, judged: Path) -> None:
    first_sample(tab, judged, "rag_quality/sample/reader")
    beside = tab.run(
        "Object.fromEntries([...document.querySelector('.system').querySelectorAll('.scores dt')].map((dt) =>"
        "[dt.textContent, [...dt.nextSibling.querySelectorAll('small')].map((n) => n.textContent.trim())]))"
    )
    assert beside["Faithful"] == ["✓ The Osterlund ferry takes 42 minutes to cross the strait: The text says so."]
    assert beside["CtxRelev"] == ["✓ context 1: The text says so.", "✗ context 2: The text does not say so."]
    assert beside["AnsRelev"] == ["The text says so."]
    told = first_sample(tab, judged, "crosslingual/tiny/reader")
    assert "the judge's explanation" in told


def test_answers_are_compared_by_words_and_not_by_the_spaces_between_them(tab: Browser, judged: Path) -> None:
    first_sample(tab, judged, "rag_quality/sample/reader")
    parts = tab.run(
        "[...document.querySelector('.system pre').children].map((n) => [n.tagName, n.textContent])"
    )  # the given answer, against the gold
    assert parts == [
        ["SPAN", "The Osterlund ferry "],
        ["DEL", "crosses the strait in "],
        ["INS", "takes "],
        ["SPAN", "42 minutes "],
        ["INS", "to cross the strait"],
        ["SPAN", "."],
    ]


def test_without_a_gold_answer_the_baseline_is_what_answers_are_held_against(tab: Browser, judged: Path) -> None:
    first_sample(tab, judged, "contract_risk/clauses/reader")
    chosen, offered = tab.run(
        "(() => { const box = [...document.querySelectorAll('#sample select')].at(-1);"
        "return [box.selectedOptions[0].textContent, [...box.options].map((o) => o.textContent)]; })()"
    )
    assert chosen == "full"
    assert "the gold" not in offered
    heads = tab.run(
        "[...document.querySelectorAll('.system')].slice(0, 2).map((s) => s.querySelector('h4').textContent)"
    )
    assert heads[:2] == ["answer", "answer, against full"]


def test_facts_of_the_cases_have_names_and_no_keys(tab: Browser, judged: Path) -> None:
    tab.open(judged, "#table=contract_risk/clauses/reader")
    labels = tab.run("[...document.querySelectorAll('#facts label')].map((l) => l.firstChild.textContent.trim())")
    assert "contract type" in labels
    told = tab.run("document.getElementById('plots').innerText")
    assert "by contract type" in told
    assert "contract_type" not in told


def test_on_a_phone_headings_clear_the_menu_and_a_score_is_in_sight(tab: Browser, judged: Path) -> None:
    tab.look(400, 800)
    tab.open(judged, "#table=crosslingual/tiny/reader")
    tab.run("document.getElementById('samples').scrollIntoView()")
    below, menu = tab.run(
        "[document.querySelector('#samples h2').getBoundingClientRect().top,"
        "document.querySelector('nav').getBoundingClientRect().bottom]"
    )
    assert below >= menu
    score = tab.run("document.querySelector('.line .score').getBoundingClientRect().right")
    assert score <= 400
    tab.look()
