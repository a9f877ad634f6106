"""summary.{json,csv,md,tex}: one model, four writers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seedbed.analysis.means import OverSeeds
from seedbed.analysis.results import OverSamples, Row, Summary
from seedbed.report.tables import _near_end, suite_table  # type: ignore[attr-defined]
from seedbed.report.writers import markdown_table, plain_markdown, read_csv, read_markdown
from seedbed.storage.store import read_json
from seedbed.suite import Metric


def summary(run: Path) -> dict:
    return read_json(run / "summary.json")


def test_csv_reads_back_to_the_figures_of_the_json(toy_run: Path) -> None:
    rows = read_csv((toy_run / "summary.csv").read_text(encoding="utf-8"))
    data = summary(toy_run)
    by_name = {(row["system"], row["metric"]): row for row in rows}
    for row in data["rows"]:
        for metric, figure in row["metrics"].items():
            assert {name: by_name[row["system"], metric][name] for name in figure} == figure
    for c in data["comparisons"]:
        written = by_name[c["label"], c["metric"]]
        assert (written["difference"], written["p_holm"], written["verdict"]) == (
            c["difference"],
            c["p_holm"],
            c["verdict"],
        )


def test_markdown_reads_back_to_the_cells_of_the_table(toy_run: Path) -> None:
    columns, rows = read_markdown((toy_run / "summary.md").read_text(encoding="utf-8"))[0]
    assert columns[:3] == ["benchmark", "system", "Digits"]
    means = {row["system"]: row["metrics"]["digits"]["mean"] for row in summary(toy_run)["rows"]}
    for row in rows:
        assert row[2].strip("*†").strip("*").startswith(f"{means[row[1]]:.3f}")


def test_a_bar_and_a_line_break_in_a_cell_survive_markdown() -> None:
    assert read_markdown(plain_markdown(["a"], [["x | y"], ["one\ntwo"]])) == [(["a"], [["x | y"], ["one two"]])]


def test_the_best_is_bold_and_the_baseline_has_no_dagger(toy_run: Path) -> None:
    _, rows = read_markdown((toy_run / "summary.md").read_text(encoding="utf-8"))[0]
    shown = {row[1]: row[2] for row in rows}
    assert shown["strong"].startswith("**")
    assert "**† [" in shown["strong"]
    assert "†" not in shown["weak"]


def test_only_the_first_metric_has_daggers_and_the_others_show_p(toy_run: Path) -> None:
    columns, rows = read_markdown((toy_run / "summary.md").read_text(encoding="utf-8"))[0]
    strong = dict(zip(columns, next(row for row in rows if row[1] == "strong"), strict=True))
    assert "†" in strong["Digits"]
    assert " p " not in strong["Digits"]
    others = [strong[metric] for metric in ("Right_%", "F1")]
    assert not any("†" in cell for cell in others)
    assert all(" p " in cell for cell in others)


def test_figures_stand_with_their_interval_and_n_as_samples_x_seeds(toy_run: Path) -> None:
    columns, rows = read_markdown((toy_run / "summary.md").read_text(encoding="utf-8"))[0]
    for row, data in zip(rows, summary(toy_run)["rows"], strict=True):
        shown = dict(zip(columns, row, strict=True))
        samples = data["samples"]["digits"]
        assert f"[{samples['ci_low']:.3f}, {samples['ci_high']:.3f}]" in shown["Digits"]
        assert shown["n"] == ("24 x 2" if data["n"] == 48 else f"{data['n']} of 24 x 2")


def test_few_samples_and_few_clusters_are_told_below_the_table(toy_run: Path) -> None:
    text = (toy_run / "summary.md").read_text(encoding="utf-8")
    assert "Fewer than 30 samples: " in text
    assert "Fewer than 50 clusters: " in text
    assert "very unequal" not in text


def test_every_mean_stands_with_n_errors_and_skipped(toy_run: Path) -> None:
    for row in read_csv((toy_run / "summary.csv").read_text(encoding="utf-8")):
        assert row["n"] + row["n_errors"] + row["n_skipped"] == 48


def test_samples_are_counted_once_whatever_the_seeds(toy_run: Path) -> None:
    for row in summary(toy_run)["rows"]:
        assert row["samples"]["digits"]["n_samples"] <= 24
        assert row["samples"]["digits"]["n_clusters"] <= 12


def test_a_composed_figure_gets_its_interval_from_the_jackknife(toy_run: Path) -> None:
    row = summary(toy_run)["rows"][0]
    assert row["samples"]["f1"]["method"] == "jackknife"
    assert row["samples"]["f1"]["ci_low"] < row["metrics"]["f1"]["mean"] < row["samples"]["f1"]["ci_high"]
    # Also on the samples that nobody failed on.
    assert 0 < row["samples"]["f1"]["common"] < 1
    assert 0 < row["samples"]["f1"]["n_common"] < 24
    compared = next(c for c in summary(toy_run)["comparisons"] if c["metric"] == "f1" and c["label"] == "strong")
    assert (compared["test"], compared["verdict"]) == ("jackknife", "better")


def test_json_is_the_whole_model(toy_run: Path) -> None:
    data = json.loads((toy_run / "summary.json").read_text(encoding="utf-8"))
    assert set(data) == {"schema_version", *Summary.__dataclass_fields__}


def test_a_metric_without_a_spread_between_systems_has_no_best(toy_run: Path) -> None:
    from seedbed.phases.context import open_run
    from seedbed.phases.summary import make_summary

    run = open_run(str(toy_run))
    made = make_summary(run.store, run.plan, [], {}, "completed")
    table = suite_table(made, "toy")
    assert sum(cell.best for row in table.rows for cell in row) == 3
    assert markdown_table(table).count("**") == 6


@pytest.mark.parametrize(
    ("mean", "n", "told"),
    [(0.05, 60, True), (0.97, 299, True), (0.1, 60, False), (0.5, 60, False), (0.05, 300, False), (0.05, 29, False)],
)
def test_a_mean_near_an_end_of_its_range_is_told_to_have_a_wide_interval(mean: float, n: int, told: bool) -> None:
    over = OverSamples(n, n, 0.1, 0.0, 0.2, "wilson")
    seeds = OverSeeds(mean, 0.0, None, None, 3)
    counts = (3, 3, n * 3, 0, 0, 0, 0, 1, 1, 0.0, 0.0)
    row = Row("s", "b", "x", "Baseline", "m", "x", True, {"f": seeds}, {"f": over}, *counts)
    assert _near_end(row, Metric("f", "F")) is told
    assert not _near_end(row, Metric("f", "F", range=None))
