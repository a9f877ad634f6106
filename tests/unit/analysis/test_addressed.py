"""Every figure of a summary has one address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from seedbed.analysis.addressed import PrintedFigure, addressed_rows
from seedbed.analysis.means import OverSeeds
from seedbed.analysis.results import Comparison, OverSamples, Row, Summary
from seedbed.suite import Metric

F1 = Metric("f1", "F1", digits=2)


def row(label: str = "own", model: str = "reader", **more: Any) -> Row:
    made = Row(
        suite="toy", benchmark="sums", system="guess", optimizer="Baseline", model=model, label=label,
        is_baseline=label == "base", metrics={"f1": OverSeeds(0.5, 0.1, 0.2, 0.8, 2)},
        samples={"f1": OverSamples(40, 20, 0.3, 0.4, 0.6, "pseudo-samples")}, n_seeds=2, n_seeds_planned=2,
        n=80, n_errors=3, n_skipped=2, n_unreadable=0, n_truncated=0, tokens_in=700, tokens_out=30,
        list_usd=0.25, spent_usd=0.2, by_seed={0: {"f1": 0.4}, 7: {"f1": None}},
    )  # fmt: skip
    return replace(made, **more)


COMPARED = Comparison(
    "toy", "sums", "reader", "own", "base", "f1", difference=0.1, ci_low=0.05, ci_high=0.15, p=0.01, p_holm=0.02,
    effect_size=0.4, detectable=0.07, n_pairs=39, wins=20, ties=9, losses=10, verdict="better",
)  # fmt: skip


def summary(*rows: Row, metric: Metric = F1, comparisons: Any = (COMPARED,)) -> Summary:
    return Summary("toys", "completed", False, 4, 0.05, rows, comparisons, [], [], {"toy": [metric]})


def figures(made: Summary) -> Mapping[str, PrintedFigure]:
    return addressed_rows(made)[0].figures


def test_a_row_has_its_name_with_and_without_the_sweep_and_the_model() -> None:
    (found,) = addressed_rows(summary(row()))
    assert found.names == ["toys:sums/own@reader", "toys:sums/own", "sums/own@reader", "sums/own"]


def test_a_name_that_two_rows_would_share_is_nobodys() -> None:
    found = addressed_rows(summary(row(), row(model="writer"), row("base")))
    assert [own.names[-1] for own in found] == ["sums/own@reader", "sums/own@writer", "sums/base"]


def test_a_row_has_counts_tokens_and_dollars() -> None:
    found = figures(summary(row()))
    counts = {name: found[name] for name in ("answers", "errors", "skipped", "tokens")}
    assert counts == {
        "answers": PrintedFigure("count", (80,)),
        "errors": PrintedFigure("count", (3,)),
        "skipped": PrintedFigure("count", (2,)),
        "tokens": PrintedFigure("count", (730,)),
    }
    assert (counts["answers"].digits, counts["answers"].share) == (0, False)
    assert found["usd"] == PrintedFigure("dollars", (0.25,), digits=4)


def test_tokens_of_calls_that_no_ledger_knows_are_undefined() -> None:
    assert figures(summary(row(uncounted=True)))["tokens"].values == (None,)


def test_a_metric_of_the_same_name_comes_before_a_figure_of_the_row() -> None:
    named = replace(F1, name="answers")
    own = row(metrics={"answers": OverSeeds(0.5, 0.1, None, None, 1)}, samples={"answers": row().samples["f1"]})
    found = figures(summary(own, metric=named))
    assert found["answers"] == PrintedFigure("value", (0.5,), 2, share=True, spread=0.1)


def test_a_metric_has_its_mean_interval_counts_and_seeds() -> None:
    found = figures(summary(row(), comparisons=[]))
    told = {name: figure for name, figure in found.items() if name.startswith("f1")}
    assert told == {
        "f1": PrintedFigure("value", (0.5,), 2, share=True, spread=0.1),
        "f1/std": PrintedFigure("value", (0.1,), 2, share=True),
        "f1/low": PrintedFigure("value", (0.4,), 2, share=True),
        "f1/high": PrintedFigure("value", (0.6,), 2, share=True),
        "f1/interval": PrintedFigure("value", (0.4, 0.6), 2, share=True),
        "f1/n": PrintedFigure("count", (40,)),
        "f1/clusters": PrintedFigure("count", (20,)),
        "f1/seeds": PrintedFigure("count", (2,)),
        "f1/seed-0": PrintedFigure("value", (0.4,), 2, share=True),
        "f1/seed-7": PrintedFigure("value", (None,), 2, share=True),
    }


def test_one_seed_has_no_spread_over_seeds() -> None:
    one = row(metrics={"f1": OverSeeds(0.5, 0.0, None, None, 1)})
    assert figures(summary(one))["f1/std"].values == (None,)


def test_a_comparison_has_its_difference_and_the_p_that_decides() -> None:
    found = figures(summary(row()))
    own: dict[str, Any] = {"share": True, "comparison": COMPARED}
    told = {name.partition("/")[2]: found[name] for name in list(found) if name.startswith("f1/")}
    assert {name: told[name] for name in list(told)[9:]} == {
        "difference": PrintedFigure("signed", (0.1,), 2, **own),
        "difference_low": PrintedFigure("signed", (0.05,), 2, **own),
        "difference_high": PrintedFigure("signed", (0.15,), 2, **own),
        "difference_interval": PrintedFigure("signed", (0.05, 0.15), 2, **own),
        "p": PrintedFigure("p", (0.02,), 3, comparison=COMPARED),
        "p_text": PrintedFigure("p_text", (0.02,), 3, comparison=COMPARED),
        "p_raw": PrintedFigure("p", (0.01,), 3, comparison=COMPARED),
        "effect_size": PrintedFigure("signed", (0.4,), 2, comparison=COMPARED),
        "detectable": PrintedFigure("value", (0.07,), 2, share=True),
        "pairs": PrintedFigure("count", (39,)),
        "wins": PrintedFigure("count", (20,)),
        "ties": PrintedFigure("count", (9,)),
        "losses": PrintedFigure("count", (10,)),
        "verdict": PrintedFigure("word", word="better", comparison=COMPARED),
        "baseline": PrintedFigure("word", word="base"),
    }


@pytest.mark.parametrize("other", [{"label": "base"}, {"model": "writer"}, {"benchmark": "texts"}, {"suite": "talk"}])
def test_a_comparison_of_another_row_is_not_told(other: Mapping[str, str]) -> None:
    assert "f1/p" not in figures(summary(row(), comparisons=[replace(COMPARED, **other)]))


@pytest.mark.parametrize(
    ("ends", "share"),
    [((0, 1), True), ((-1, 1), True), ((0, 1.5), False), ((0, 2), False), ((-2, 1), False), ((1, 5), False),
     (None, False)],
)  # fmt: skip
def test_what_lies_within_one_on_both_sides_of_nothing_is_a_share(
    ends: tuple[float, float] | None, share: bool
) -> None:
    assert figures(summary(row(), metric=replace(F1, range=ends)))["f1"].share is share


@pytest.mark.parametrize(
    ("figure", "known", "numbers"),
    [
        (PrintedFigure("value", (0.5,)), True, (0.5,)),
        (PrintedFigure("value", (0.4, 0.6)), True, (0.4, 0.6)),
        (PrintedFigure("value", (0.0,)), True, (0.0,)),
        (PrintedFigure("value", (None,)), False, ()),
        (PrintedFigure("value", (0.4, None)), False, ()),
        (PrintedFigure("value"), False, ()),
        (PrintedFigure("word", word="better"), True, ()),
        (PrintedFigure("word"), False, ()),
    ],
)
def test_an_interval_with_an_undefined_end_is_not_known(
    figure: PrintedFigure, known: bool, numbers: tuple[float, ...]
) -> None:
    assert (figure.known, figure.numbers) == (known, numbers)
