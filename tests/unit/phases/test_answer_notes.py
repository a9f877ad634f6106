"""Answers that were cut off or cannot be read are counted in every table, with an example and the remedy."""

from __future__ import annotations

import csv
import json

import pytest

from seedbed.lm.runtime import close_runtimes
from seedbed.phases.aggregate import publish_again
from seedbed.phases.context import SweepRun, open_run
from seedbed.phases.publish import Choices
from seedbed.phases.verify import verify
from seedbed.report.read_page import read_page
from tests.support.cells import prepared

pytestmark = pytest.mark.slow

SWEEP = """
name: short
seeds: [0]
models:
  small: {model: offline/reader, max_tokens: 1}
experiments:
  - suite: custom
    models: [small]
    benchmarks: [{name: qa, path: qa.csv, id: id, answer: answer}]
    systems:
      - {name: plain, prompt: "Answer: {question}"}
      - {name: formed, signature: "question -> answer"}
    scorers: [exact]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SweepRun:
    folder = tmp_path_factory.mktemp("short")
    with (folder / "qa.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [
            ("id", "question", "answer"),
            *((f"q{n}", f"What is the capital of land {n}?", "Ulm") for n in range(3)),
        ]
        csv.writer(file).writerows(rows)
    (folder / "short.yaml").write_text(SWEEP, encoding="utf-8")
    ready = prepared(folder / "short.yaml", folder / "out")
    try:
        for cell in ready.plan.cells:
            ready.all_phases(cell)
    finally:
        close_runtimes()
    done = open_run(ready.run)
    assert publish_again(done, Choices())
    return done


def test_cut_answers_are_a_count_of_their_own_in_every_table(run: SweepRun) -> None:
    summary = json.loads((run.folder / "summary.json").read_text(encoding="utf-8"))
    counts = {
        row["label"]: (row["n"], row["n_errors"], row["n_unreadable"], row["n_truncated"]) for row in summary["rows"]
    }
    assert counts == {"plain": (3, 0, 0, 3), "formed": (3, 0, 3, 3)}
    for name in ("summary.md", "summary.tex"):
        text = (run.folder / name).read_text(encoding="utf-8")
        assert "unreadable" in text
        assert "truncated" in text
    with (run.folder / "summary.csv").open(encoding="utf-8") as file:
        assert {row["n_truncated"] for row in csv.DictReader(file)} == {"3"}
    with (run.folder / "costs.csv").open(encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if row["outcome"] == "paid"]
    assert row["cut"] == row["calls"]
    assert verify(run).differences == []


def test_the_first_example_and_the_remedy_are_told(run: SweepRun) -> None:
    cut, unread = json.loads((run.folder / "summary.json").read_text(encoding="utf-8"))["notes"]
    assert "were cut at max_tokens 1 (task in generate); the first: sample 'q0' of" in cut
    assert cut.endswith(": raise models.small.max_tokens.")
    assert unread.startswith("3 of 6 answers with model 'small' could not be read and have the worst score; ")
    assert "sample 'q0' of" in unread
    assert "AdapterParseError" in unread
    for name in ("summary.md", "report.html"):
        assert "raise models.small.max_tokens" in (run.folder / name).read_text(encoding="utf-8")


def test_each_such_sample_is_among_the_failures_of_the_report(run: SweepRun) -> None:
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    failures = page[page.index('id="failures"') : page.index('id="manifest"')]
    assert failures.count("<td>truncated</td>") == 1 + 3, "one line by kind, one a sample"
    assert failures.count("<td>unreadable</td>") == 1 + 3
    (table,) = read_page(page).packs["samples-index"]["tables"]
    assert sorted("".join(column for system in table["states"] for column in system)) == list("333444")
