"""report.html in Chromium: it answers at a glance, works from one file, and never runs what a model said."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import pytest

from tests.support.chromium import Browser
from tests.support.toy import NASTY, finished_run


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose questions, answers, tables and drawings carry scripts."""
    return finished_run(tmp_path_factory.mktemp("nasty"), n=12, nasty=True) / "report.html"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with 1,800 answers: 300 samples, three systems, two seeds."""
    return finished_run(tmp_path_factory.mktemp("large"), n=300) / "report.html"


def texts(tab: Browser, selector: str) -> list[str]:
    return tab.run(f"[...document.querySelectorAll({selector!r})].map((node) => node.textContent)")


def column(tab: Browser, table: str, heading: str) -> list[str]:
    """The texts of a column of a table, rows in sight only."""
    return tab.run(
        f"(() => {{ const t = document.querySelector({table!r});"
        f"const at = [...t.tHead.rows[0].cells].findIndex((c) => c.textContent.startsWith({heading!r}));"
        "return [...t.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[at].textContent); })()"
    )


def press(tab: Browser, table: str, heading: str) -> None:
    cells = f"[...document.querySelector({table!r}).tHead.rows[0].cells]"
    tab.run(f"{cells}.find((c) => c.textContent.startsWith({heading!r})).click()")


def typed(tab: Browser, selector: str, text: str) -> None:
    tab.run(
        f"(() => {{ const i = document.querySelector({selector!r}); i.value = {text!r};"
        "i.dispatchEvent(new Event('input')); i.dispatchEvent(new Event('change')); })()"
    )


def counted(tab: Browser) -> str:
    return tab.run("document.getElementById('count').textContent")


def test_this_browser_would_run_the_script_if_it_were_let(tab: Browser, tmp_path: Path) -> None:
    page = tmp_path / "control.html"
    page.write_text(f"<!doctype html><title>calm</title><body data-ready=yes>{NASTY}", encoding="utf-8")
    tab.open(page)
    tab.wait("document.title === 'planted'")


def test_what_a_model_said_is_shown_and_does_not_run(tab: Browser, nasty: Path) -> None:
    tab.open(nasty, "#sample=q00000")
    shown = tab.wait("document.getElementById('sample').dataset.shown && document.getElementById('sample').innerHTML")
    assert "&lt;script&gt;document.title='planted'&lt;/script&gt;" in shown
    assert tab.run("document.title") == "toys · Seedbed report"
    assert tab.run("document.querySelectorAll('#sample img, #sample script, [onmouseover]').length") == 0


def test_a_script_that_got_into_the_page_after_all_is_refused(tab: Browser, nasty: Path, tmp_path: Path) -> None:
    page = tmp_path / "injected.html"
    page.write_text(nasty.read_text(encoding="utf-8").replace("<main>", f"<main>{NASTY[9:]}", 1), encoding="utf-8")
    tab.open(page)
    assert tab.run("document.title") == "toys · Seedbed report"


def test_the_page_needs_nothing_from_anywhere(nasty: Path) -> None:
    text = nasty.read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="(?!data:|#|plots/)[^"]*"', text)
    assert "@import" not in text
    assert "url(" not in text


def test_the_first_screen_says_what_was_run_and_what_came_of_it(tab: Browser, large: Path) -> None:
    tab.look(1400, 1000)
    tab.open(large)
    seen = tab.run(
        "[...document.querySelectorAll('.facts dd, .verdicts li, .card img')]"
        ".filter((n) => n.getBoundingClientRect().bottom < innerHeight).map((n) => n.textContent || n.alt)"
    )
    told = "\n".join(seen)
    for words in ("completed: 6 of 6 cells", "reader = offline/reader", "0, 1", "$0.0000 paid", "beats weak by"):
        assert words in told
    assert "Digits of every system" in seen
    assert re.search(r"\d\d \w+ 20\d\d, \d\d:\d\d UTC", told)


def test_a_phone_shows_the_first_verdict_without_scrolling(tab: Browser, large: Path) -> None:
    tab.look(400, 640)
    tab.open(large)
    assert tab.run("document.querySelector('.verdicts li').getBoundingClientRect().bottom") < 640
    tab.look()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_a_page_fits_its_window_and_drawings_follow_the_eye(tab: Browser, large: Path, scheme: str, width: int) -> None:
    import matplotlib.image

    tab.look(width, 900, scheme)
    tab.open(large)
    assert tab.run("document.scrollingElement.scrollWidth") <= width
    box = tab.run(
        "(() => { const i = document.querySelector('.card img'); i.scrollIntoView();"
        "const r = i.getBoundingClientRect();"
        "return {x: r.x, y: r.y + scrollY, width: r.width, height: r.height, scale: 1}; })()"
    )
    tab.wait("document.querySelector('.card img').complete")
    pixels = matplotlib.image.imread(BytesIO(tab.pixels(box)))
    mean = float(pixels[..., :3].mean())
    assert (mean > 0.8) if scheme == "light" else (mean < 0.35), mean
    tab.look()


def test_the_theme_button_turns_the_drawings_too(tab: Browser, large: Path) -> None:
    tab.look(1400, 900, "light")
    tab.open(large)
    tab.run("document.getElementById('theme').click()")
    assert tab.run("getComputedStyle(document.querySelector('.card img')).colorScheme") == "dark"


@pytest.mark.parametrize("width", [400, 1400])
def test_the_first_table_shows_system_figure_and_what_it_stands_on(tab: Browser, large: Path, width: int) -> None:
    tab.look(width, 900)
    tab.open(large)
    inside = tab.run(
        "(() => { const t = document.querySelector('#tables table'), f = t.closest('.scroll').getBoundingClientRect();"
        "return [...t.tHead.rows[0].cells].filter((c) => c.getBoundingClientRect().right <= f.right + 1)"
        ".map((c) => c.textContent); })()"
    )
    wanted = ["system", "Digits", "n", "errors", "skipped", "list $", "paid $"]
    assert inside[: len(wanted)] == (wanted if width > 1000 else wanted[: len(inside)])
    assert len(inside) > 1
    tab.look()


@pytest.mark.parametrize("keyboard", [False, True])
def test_sorting_knows_numbers_that_are_only_bounds_and_leaves_the_undefined_last(
    tab: Browser, large: Path, keyboard: bool
) -> None:
    tab.open(large)
    tab.run(
        "(() => { const b = document.querySelector('#tables table').tBodies[0]; b.append(b.rows[0].cloneNode(true));"
        "['0.013', '<0.001', '-', '0.001'].forEach((p, i) => { b.rows[i].cells[1].textContent = p; }); })()"
    )
    for expected in (["<0.001", "0.001", "0.013", "-"], ["0.013", "0.001", "<0.001", "-"]):
        if keyboard:
            tab.run("document.querySelector('#tables table').tHead.rows[0].cells[1].focus()")
            tab.key("Enter")
        else:
            press(tab, "#tables table", "Digits")
        assert column(tab, "#tables table", "Digits") == expected


def test_rows_are_filtered_by_words_and_by_the_value_of_a_metric(tab: Browser, large: Path) -> None:
    tab.open(large)
    tab.run("document.querySelectorAll('#failures .table').forEach((t, i) => { t.id = `failed-${i}`; })")
    table, box = "#failed-1 table", "#failed-1 input.filter"
    whole = column(tab, table, "cell")
    typed(tab, box, "Strong  error")
    left = column(tab, table, "cell")
    assert left == [cell for cell in whole if "strong" in cell]
    assert 0 < len(left) < len(whole)
    tab.run(
        "(() => { const t = document.querySelector('#failed-1 table'); [...t.tBodies[0].rows].forEach((r, i) => {"
        "r.cells[1].textContent = i % 2 ? '0.7' : '<0.001'; }); })()"
    )
    typed(tab, box, "sample > 0.6; strong")
    assert set(column(tab, table, "sample")) == {"0.7"}
    assert all("strong" in cell for cell in column(tab, table, "cell"))


def test_a_column_can_be_put_away(tab: Browser, large: Path) -> None:
    tab.open(large)
    labels = "[...document.querySelectorAll('#tables .columns label')]"
    tab.run(f"{labels}.find((l) => l.textContent.trim() === 'errors').click()")
    rows = tab.run(
        "[...document.querySelector('#tables table').rows]"
        ".map((r) => [...r.cells].filter((c) => !c.hidden).map((c) => c.textContent))"
    )
    assert "errors" not in rows[0]
    assert "skipped" in rows[0]
    assert len({len(row) for row in rows}) == 1


def test_a_figure_leads_to_its_samples(tab: Browser, large: Path) -> None:
    tab.open(large)
    tab.run("document.querySelector('#tables tbody tr td.num a').click()")
    tab.wait("document.getElementById('by-system').value === 'weak'")
    assert tab.run("document.getElementById('by-metric').value") == "digits"
    scores = tab.run("[...document.querySelectorAll('.line')].map((l) => parseFloat(l.children[2].textContent))")
    assert scores == sorted(scores)
    errors = tab.run(
        "(() => { const a = document.querySelector('#tables tbody a[href*=\"state=error\"]'); a.click();"
        "return parseInt(a.textContent); })()"
    )
    tab.wait("document.getElementById('by-state').value === 'error'")
    assert 0 < int(counted(tab).split()[0]) <= errors


def test_where_two_systems_differ(tab: Browser, large: Path) -> None:
    tab.open(large, "#table=toy/sums/reader&system=strong&against=weak&metric=right")
    tab.run("document.getElementById('differ').click()")
    tab.wait("!document.getElementById('count').textContent.startsWith('300 ')")
    pairs = tab.run(
        "[...document.querySelectorAll('.line')].map((l) => [l.children[4].textContent, l.children[2].textContent])"
    )
    assert pairs
    assert all(strong != weak for strong, weak in pairs)
    differences = [float(text) for text in texts(tab, ".line > :last-child") if text != "-"]
    assert differences == sorted(differences), "regressions first"
    assert "differ=1" in tab.run("location.hash")


def test_samples_are_chosen_by_state_kind_fact_and_score(tab: Browser, large: Path) -> None:
    tab.open(large, "#table=toy/sums/reader&system=strong&state=error&kind=ValueError&fact.lang=zh")
    ids = texts(tab, ".line .id")
    assert ids
    assert all(int(sample[1:]) % 3 == 0 for sample in ids)
    tab.open(large, "#table=toy/sums/reader&system=weak&metric=right&from=0.4&to=0.6")
    assert set(tab.run("[...document.querySelectorAll('.line')].map((l) => l.children[2].textContent)")) == {"0.5"}


def test_search_finds_ids_answers_and_with_the_box_ticked_details(tab: Browser, large: Path) -> None:
    tab.open(large, "#q=q00123")
    tab.wait("document.getElementById('count').textContent === '1 of 300 samples'")
    # The cluster stands in the details only; two questions have it.
    tab.open(large, "#q=c00061&deep=1")
    tab.wait("document.getElementById('count').textContent === '2 of 300 samples'")


def test_a_permalink_opens_that_sample_with_all_systems_side_by_side(tab: Browser, large: Path) -> None:
    tab.open(large, "#sample=q00003&table=toy/sums/reader")
    tab.wait("document.getElementById('sample').dataset.shown === 'q00003'")
    assert [name.split(" seed")[0] for name in texts(tab, ".system h3")] == ["weak", "middle", "strong"]
    told = tab.run("document.getElementById('sample').textContent")
    for shown in ("第3题: what is 3 + 3?", "gold", "Digits", "Right_%"):
        assert shown in told
    assert tab.run("document.querySelector('#sample a').hash") == "#sample=q00003&table=toy/sums/reader"


def test_a_sample_opens_under_a_seed_that_tells_the_two_apart(tab: Browser, large: Path) -> None:
    tab.open(large, "#table=toy/sums/reader&system=strong&against=weak&metric=right&differ=1")
    tab.wait("!document.getElementById('count').textContent.startsWith('300 ')")
    tab.run("document.querySelector('.line').click()")
    seeds: set[str] = set()
    for _ in range(12):
        tab.wait("document.getElementById('sample').dataset.shown")
        scores = tab.run(
            "[...document.querySelectorAll('.system')].slice(0, 2).map((s) => [...s.querySelectorAll('dt')]"
            ".find((dt) => dt.textContent.startsWith('Right'))?.nextSibling.textContent)"
        )
        assert scores[0] != scores[1]
        seeds.add(tab.run("document.querySelector('#sample select').value"))
        shown = tab.run("document.getElementById('sample').dataset.shown")
        tab.key("j")
        tab.wait(f"document.getElementById('sample').dataset.shown !== {shown!r}")
    assert seeds == {"0", "1"}


def test_answers_are_compared_word_by_word(tab: Browser, large: Path) -> None:
    tab.open(large, "#table=toy/sums/reader&system=strong&against=weak&metric=right&differ=1&sort=-difference")
    tab.wait("!document.getElementById('count').textContent.startsWith('300 ')")
    tab.run("document.querySelector('.line').click()")
    tab.wait("document.getElementById('sample').dataset.shown")
    weak, strong = tab.run(
        "[...document.querySelectorAll('.system')].slice(0, 2).map((s) => s.querySelector('pre').textContent)"
    )
    assert tab.run(
        "[...document.querySelectorAll('.system h3')].slice(0, 2).map((h) => h.textContent.split(' ')[0])"
    ) == ["weak", "strong"]
    cut, put = texts(tab, ".system:nth-child(2) del"), texts(tab, ".system:nth-child(2) ins")
    assert (cut, put) == ([weak], [strong.removeprefix(weak)])
    assert weak != strong


def test_keys_walk_through_the_samples(tab: Browser, large: Path) -> None:
    tab.open(large)
    tab.run("document.getElementById('grid').focus()")
    tab.key("j")
    tab.key("j")
    tab.key("Enter")
    tab.wait("document.getElementById('sample').dataset.shown === 'q00002'")
    tab.key("k")
    tab.wait("document.getElementById('sample').dataset.shown === 'q00001'")
    tab.key("Escape")
    tab.wait("document.getElementById('sample').hidden")
    tab.key("/")
    assert tab.run("document.activeElement.id") == "search"
    tab.key("j")
    assert tab.run("document.getElementById('search').value") == "j", "letters typed into a box move nothing"


def test_everything_can_be_reached_by_tab(tab: Browser, large: Path) -> None:
    tab.open(large)
    reached: set[str] = set()
    for _ in range(60):
        tab.key("Tab")
        reached.add(tab.run("document.activeElement.tagName + '.' + document.activeElement.className"))
    assert {"A.", "TH.num", "DIV.scroll", "SUMMARY."} <= reached
