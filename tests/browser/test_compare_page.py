"""compare.html in Chromium: two sweeps side by side, what got worse first, answers marked word by word."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.phases.compare import Side, compare, write_comparison
from seedbed.phases.context import read_run
from tests.support.cells import prepared
from tests.support.chromium import Browser

_SWEEP = """\
name: {name}
seeds: [0, 1]
models: {{reader: {{model: offline/reader}}}}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{{name: sums, n: 60}}]
    systems:
      - {{name: guess, label: steady, skill: 0.6}}
      - {{name: guess, label: lower, skill: {lower}}}
      - {{name: guess, label: fallen, skill: {skill}}}
plugins: [tests.support.toy]
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sweeps, of which the second has lost much in one of three systems, and something in another."""
    folder = tmp_path_factory.mktemp("compared")
    before, after = _finished(folder, "before", 0.95, 0.9), _finished(folder, "after", 0.2, 0.5)
    return write_comparison(before, after, compare(before, after), folder / "page")


def _finished(folder: Path, name: str, skill: float, lower: float) -> Side:
    config = folder / f"{name}.yaml"
    config.write_text(_SWEEP.format(name=name, skill=skill, lower=lower), encoding="utf-8")
    return Side(read_run(prepared(config, folder / name).finish()))


def test_what_got_worse_comes_first_and_is_what_the_grid_shows(tab: Browser, page: Path) -> None:
    tab.look()
    tab.open(page)
    said = tab.run("[...document.querySelectorAll('.verdicts li')].map((line) => line.textContent)")
    assert "fallen loses to before:fallen" in said[0]
    assert "lower loses to before:lower" in said[1]
    assert "steady" in said[2]
    assert "baseline" not in tab.run("document.getElementById('heads').textContent"), "each pair has its own"
    assert tab.run("document.getElementById('by-system').value") == "after: fallen"
    assert tab.run("document.getElementById('by-against').value") == "before: fallen"
    differences = [
        float(text) for text in tab.run("[...document.querySelectorAll('.line')].map((l) => l.lastChild.textContent)")
    ]
    assert differences == sorted(differences)
    assert differences[0] < 0


def test_a_sample_shows_both_answers_with_what_changed_marked(tab: Browser, page: Path) -> None:
    tab.look()
    tab.open(page)
    tab.run("document.querySelector('.line').click()")
    tab.wait("document.getElementById('sample').dataset.shown")
    marked = (
        "[...document.querySelectorAll('.system')].find((s) => s.querySelector('h3').textContent.startsWith('after: "
        "fallen')).querySelectorAll('{0}').length"
    )
    assert tab.run(marked.format("del")) > 0
    assert tab.run(marked.format("ins")) > 0


def test_the_page_says_that_it_is_simulated_and_from_which_runs_it_was_made(tab: Browser, page: Path) -> None:
    tab.open(page)
    told = tab.run("document.body.textContent")
    assert "Simulated: made with the offline model." in told
    results = page.parent.parent
    runs = [next((results / name / "sweeps" / name).glob("*-*")).name for name in ("after", "before")]
    assert f"Made from the stored rows of run {runs[0]} of after and run {runs[1]} of before." in told


@pytest.mark.parametrize("width", [400, 1400])
def test_it_fits_the_window(tab: Browser, page: Path, width: int) -> None:
    tab.look(width, 900)
    tab.open(page)
    assert tab.run("document.documentElement.scrollWidth") <= width
