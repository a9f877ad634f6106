"""What a terminal shows at the end of a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.report.console import console_summary, verdict_line
from seedbed.report.writers import plain_markdown
from seedbed.storage.store import read_json

COMPARED = {
    "suite": "s", "benchmark": "tiny", "model": "m", "label": "multi", "baseline": "direct", "metric": "f1",
    "metric_label": "F1", "digits": 2, "difference": 0.41, "ci_low": 0.29, "ci_high": 0.53, "n_pairs": 60,
    "n_seeds": 3, "verdict": "better", "reason": None,
}  # fmt: skip


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_first_metric_n_and_dollars_are_always_there(
    toy_run: Path, width: int
) -> None:
    text = console_summary((toy_run / "summary.md").read_text(), read_json(toy_run / "summary.json"), width)
    assert max(map(len, text.splitlines())) <= width
    head = next(line for line in text.splitlines() if "system" in line and "paid $" in line)
    assert " n " in head


def test_a_narrow_terminal_says_what_it_leaves_out_and_keeps_what_figures_stand_on() -> None:
    metrics = ["F1", "EM", "RLC", "Cost", "CNBE"]
    columns = ["benchmark", "system", *metrics, "n", "errors", "skipped", "tokens", "list $", "paid $"]
    row = ["tiny", "multi", *["**0.512 ± 0.020** [0.480, 0.541]"] * 5, "60 x 3", "0", "0", "9999", "0.1", "0.1"]
    summary = {"sweep": "a", "status": "completed", "n_cells": 3, "missing": [], "simulated": False, "notes": [],
               "metrics": {}, "comparisons": []}  # fmt: skip
    markdown = f"## Mine\n\n{plain_markdown(columns, [row])}\n"
    narrow, wide = (console_summary(markdown, summary, width) for width in (80, 200))
    assert "not shown: RLC, Cost, CNBE" in narrow
    assert "not shown" not in wide
    assert "0.512 ± 0.020*" in narrow
    assert all(name in narrow for name in ("Mine", "multi", "60 x 3", "paid $"))
    assert max(map(len, narrow.splitlines())) <= 80


def test_bounds_of_missing_answers_are_explained_where_there_are_any(toy_run: Path) -> None:
    markdown, summary = (toy_run / "summary.md").read_text(), read_json(toy_run / "summary.json")
    assert "(low .. high)" in markdown, "this run has errors"
    assert "(low .. high) had the missing answers" in console_summary(markdown, summary, 400)
    without = console_summary(markdown.replace("(low .. high)", ""), summary, 400)
    assert "(low .. high)" not in without


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "tiny with m: multi beats direct by 0.41 F1 [+0.29, +0.53], 60 samples x 3 seeds"),
        (
            {"verdict": "worse", "difference": -0.41, "ci_low": -0.53, "ci_high": -0.29},
            "tiny with m: multi loses to direct by 0.41 F1 [-0.53, -0.29], 60 samples x 3 seeds",
        ),
        (
            {"verdict": "too small to tell", "difference": 0.01, "ci_low": -0.2, "ci_high": 0.22},
            "tiny with m: multi against direct: too small to tell, +0.01 F1 [-0.20, +0.22], 60 samples x 3 seeds",
        ),
        (
            {"verdict": "no verdict", "difference": None, "ci_low": None, "reason": "one seed"},
            "tiny with m: multi and direct: no verdict: one seed",
        ),
    ],
)
def test_verdicts_are_sentences(change: dict[str, object], said: str) -> None:
    assert verdict_line(COMPARED | change) == said
