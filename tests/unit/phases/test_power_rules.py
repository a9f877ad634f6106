"""What contests are planned by: which samples, which tests, which prices, and how it is told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from seedbed.analysis.planned import Planned
from seedbed.errors import UserError
from seedbed.phases.contest_values import Pair, pairs_of
from seedbed.phases.context import SweepRun
from seedbed.phases.power import (
    ContestPower,
    Price,
    as_row,
    check_difference,
    contest_powers,
    dollars,
    find_pilot,
    matched,
    told,
)
from seedbed.storage.store import write_json
from seedbed.suite import Metric, ScoreRow
from tests.support.stored import Stored, stored


@pytest.mark.parametrize(
    ("price", "usd"),
    [(Price(0.5, 2.0), 21.0), (Price(None, 2.0), None), (Price(0.5, None), None), (Price(0.0, 0.0), 0.0)],
)
def test_a_contest_costs_its_samples_and_its_searches_for_every_seed(price: Price, usd: float | None) -> None:
    assert price.of(10, 3) == usd


@pytest.mark.parametrize(
    ("usd", "words"), [(0.0, "$0"), (0.0123, "$0.012"), (9.4, "$9.4"), (10.0, "$10"), (1234.5, "$1,234")]
)
def test_dollars_are_told_as_far_as_they_matter(usd: float, words: str) -> None:
    assert dollars(usd) == words


@dataclass
class Known:
    """A pilot whose answers are known: by seeds what is needed, by samples what is seen."""

    plans: Mapping[int, Planned] = field(default_factory=dict[int, Planned])
    seen: Mapping[int, float] = field(default_factory=dict[int, float])
    made_by_seed: bool = True
    blind: bool = False
    tried: list[int] = field(default_factory=list[int])

    def needed(self, difference: float, seeds: int) -> Planned:
        assert difference == 0.1
        self.tried.append(seeds)
        return self.plans.get(seeds, Planned(seeds, None, None, None))

    def detectable(self, n: int, seeds: int) -> float:
        assert seeds == 2
        return self.seen.get(n, math.inf)


PAIR = Pair("toy", "sums", "reader", "strong", "weak", (), (), reference=False)
PRICE = Price(0.01, 1.0)


def power_of(pilot: Known, **more: Any) -> ContestPower:
    known: dict[str, Any] = {
        "metric": Metric("right", "Right"),
        "price": PRICE,
        "cases": 220,
        "n": 50,
        "seeds": 2,
        **more,
    }
    return ContestPower(pair=PAIR, pilot=pilot, **known)  # type: ignore[arg-type]


def test_what_is_seen_is_told_where_it_has_an_end() -> None:
    power = power_of(Known(seen={50: 0.2, 100: 0.15, 1600: 0.05}))
    assert power.detectable == 0.2
    assert power.curve() == [(50, 0.2), (100, 0.15), (1600, 0.05)]
    assert power_of(Known()).detectable is None


def test_where_seeds_leave_no_number_the_next_ones_are_tried_up_to_thirty() -> None:
    found = Planned(5, 80, 70, 90)
    pilot = Known({5: found, 6: replace(found, seeds=6)})
    first, more = power_of(pilot).needed(0.1, 2)
    assert (first.n, more) == (None, found)
    assert pilot.tried == [2, 3, 4, 5]
    last = Planned(30, 10, 9, 11)
    assert power_of(Known({30: last})).needed(0.1, 1)[1] == last
    assert power_of(Known({31: last})).needed(0.1, 1)[1] is None


@pytest.mark.parametrize("pilot", [Known({2: Planned(2, 80, 70, 90)}), Known(made_by_seed=False)])
def test_no_more_seeds_are_tried_where_these_do_or_none_would(pilot: Known) -> None:
    assert power_of(pilot).needed(0.1, 2) == (pilot.needed(0.1, 2), None)
    assert pilot.tried == [2, 2]


FEW = "with 2 seeds it cannot be seen: seeds differ too much"


@pytest.mark.parametrize(
    ("pilot", "words"),
    [
        (Known({2: Planned(2, 220, 180, 290)}), "2 seeds x 220 samples, $6.4 (range 180-290)"),
        (
            Known({2: Planned(2, 221, 180, 290)}),
            "2 seeds x 221 samples, $6.4 (range 180-290); the benchmark has 220 cases",
        ),
        (
            Known({2: Planned(2, 100, None, None)}),
            "2 seeds x 100 samples, $4 (range 100-?, seeds may differ too much)",
        ),
        (
            Known({2: Planned(2, 100, 90, None)}, made_by_seed=False),
            "2 seeds x 100 samples, $4 (range 90-more than 10,000,000)",
        ),
        (Known(made_by_seed=False), "with 2 seeds it would take more than 10,000,000 samples"),
        (Known({3: Planned(3, 100, 90, 110)}), f"3 seeds x 100 samples, $6 (range 90-110); {FEW}"),
        (Known(), f"{FEW}, and so it is with 30"),
        (Known(blind=True), "the pilot has one seed, and what others add cannot be known; run two or more of it"),
    ],
)
def test_what_a_difference_takes_is_told_in_a_sentence(pilot: Known, words: str) -> None:
    assert told(power_of(pilot), 0.1, 2) == words


def test_a_single_seed_and_an_unknown_price_are_told_as_such() -> None:
    power = power_of(Known({1: Planned(1, 100, 90, 110)}), price=Price(None, 0.0))
    assert told(power, 0.1, 1) == "1 seed x 100 samples, price unknown (range 90-110)"


def test_as_data_it_has_what_is_needed_only_of_a_difference() -> None:
    power = power_of(Known({3: Planned(3, 100, 90, 110)}, seen={50: 0.2}))
    row = as_row(power, None, 2)
    assert row == {
        "suite": "toy", "benchmark": "sums", "model": "reader", "label": "strong", "baseline": "weak",
        "metric": "right", "n": 50, "seeds": 2, "made_by_seed": True,
        "detectable": 0.2, "curve": [{"n": 50, "detectable": 0.2}],
    }  # fmt: skip
    more = as_row(power, 0.1, 2)
    assert more["needed"] == [
        {"seeds": 2, "samples": None, "low": None, "high": None, "usd": None},
        {"seeds": 3, "samples": 100, "low": 90, "high": 110, "usd": 6.0},
    ]
    assert (more["difference"], more["told"]) == (0.1, told(power, 0.1, 2))
    enough = as_row(power_of(Known({2: Planned(2, 100, 90, 110)})), 0.1, 2)
    assert [plan["usd"] for plan in enough["needed"]] == [4.0]


def test_a_difference_is_above_nothing_and_no_wider_than_the_metric() -> None:
    stars = power_of(Known(), metric=Metric("stars", "Stars", range=(1.0, 5.0)))
    open_ended = power_of(Known(), metric=Metric("seconds", "Seconds", range=None))
    check_difference(4.0, [open_ended, stars])
    check_difference(0.5, [stars])
    check_difference(1e9, [open_ended])
    with pytest.raises(UserError, match=r"Stars runs from 1 to 5, so no difference is above 4; give a smaller one"):
        check_difference(4.5, [open_ended, stars])
    for wrong in (0.0, -0.1, math.inf, math.nan):
        with pytest.raises(UserError, match="give a difference above 0"):
            check_difference(wrong)


CONFIG = """\
name: toys
seeds: {seeds}
plugins: [tests.support.toy]
models: {{reader: {{model: offline/reader}}}}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{{name: sums, n: 6}}]
    systems:
      - {{name: guess, label: weak, skill: 0.1}}
      - {{name: guess, label: strong, skill: 0.2}}
      - {{name: guess, label: other, skill: 0.3}}
"""


def made(folder: Path, seeds: str = "[0]", more: str = "") -> Stored:
    return stored(folder, CONFIG.format(seeds=seeds) + more)


def run_of(own: Stored) -> SweepRun:
    return SweepRun(own.store.root, own.plan, own.store, replay=False)


def score(
    own: Stored, label: str, values: Sequence[float | None], seed: int = 0, n: int = 6, **usd: float | None
) -> None:
    """A cell's scores, two samples a cluster, and what its phases took."""
    cell = own.cell(label, seed)
    own.answered(cell, n=n)
    rows = [
        ScoreRow(f"q{i:05d}", "ok", {"right": value, "digits": value}, cluster=f"c{i // 2}")
        for i, value in enumerate(values)
    ]
    own.scored(cell, rows)
    usage = {phase: {"list_usd": price} for phase, price in (usd or {"generate": 0.6}).items()}
    own.figures(cell, {}, usage)


def test_contests_are_planned_by_samples_that_both_sides_have_under_any_seed(tmp_path: Path) -> None:
    own = made(tmp_path, "[0, 1]")
    score(own, "weak", [0, 0, 1, None, 1, 0])
    score(own, "weak", [0, 1, 1, 1, None, 0], seed=1)
    score(own, "strong", [1, 1, 0, 1, 1, None])
    score(own, "strong", [1, 1, 0, None, 1, None], seed=1)
    (power,) = contest_powers(run_of(own))
    assert (power.pair.label, power.metric.name) == ("strong", "digits")
    assert (power.n, power.seeds, power.cases) == (4, 2, 6), "one has no score of strong, one no seed that both have"
    assert power.pilot.parts.clusters == 3
    assert power.pilot.level == 0.025, "of two contests, though the other has no scores"
    assert contest_powers(run_of(own), "f1") == []
    assert contest_powers(run_of(own), "right")[0].metric.name == "right"


def test_a_contest_over_one_cluster_says_nothing(tmp_path: Path) -> None:
    own = made(tmp_path)
    score(own, "weak", [0, 0, 1, 0, None, None])
    score(own, "strong", [1, 1, None, None, 0, 0])
    score(own, "other", [1, 0, 0, 1, None, None])
    assert [power.pair.label for power in contest_powers(run_of(own))] == ["other"], "two clusters are enough"


def test_a_contest_that_grows_is_planned_by_the_metric_that_decides_it(tmp_path: Path) -> None:
    own = made(tmp_path, more="    decide: {metric: right, difference: 0.1}\n")
    for label in ("weak", "strong"):
        score(own, label, [0, 1, 0, 1, 0, 0])
    assert [power.metric.name for power in contest_powers(run_of(own))] == ["right"]


def price_of(own: Stored) -> Price:
    return contest_powers(run_of(own))[0].price


def test_a_sample_costs_what_all_phases_but_the_search_took_on_both_sides(tmp_path: Path) -> None:
    own = made(tmp_path, "[0, 1]")
    some = [0, 1, 0, 1, 0, 0]
    for seed, twice in ((0, 1), (1, 3)):
        score(own, "weak", some, seed, generate=0.6 * twice, score=0.3 * twice)
        score(own, "strong", some, seed, generate=1.2, score=0.0, optimise=2.0 * twice)
    price = price_of(own)
    assert price.per_sample == pytest.approx((0.15 + 0.45) / 2 + 0.2)
    assert price.per_seed == 4.0


@pytest.mark.parametrize(
    ("usd", "n", "price"),
    [
        ({"generate": 0.6, "score": None}, 6, Price(None, 0.0)),
        ({"generate": 0.6, "optimise": None}, 6, Price(0.2, None)),
        ({"generate": 0.6}, 0, Price(0.7, 0.0)),
        ({"generate": 0.6}, 1, Price(0.7, 0.0)),
    ],
)
def test_an_unknown_price_is_none_and_no_0(tmp_path: Path, usd: dict[str, Any], n: int, price: Price) -> None:
    own = made(tmp_path)
    score(own, "weak", [0, 1, 0, 1, 0, 0])
    score(own, "strong", [0, 1, 0, 1, 0, 0], n=n, **usd)
    found = price_of(own)
    assert (found.per_sample, found.per_seed) == (pytest.approx(price.per_sample), price.per_seed)


def laid(own: Stored, stamp: str, *, plan: bool = True) -> Path:
    """The folder of a run of the plan, as `prepare` leaves it."""
    folder = own.store.root / "sweeps" / "toys" / stamp
    write_json(folder / "run.json", {"config_dir": "../there", "generation": 0, "replay": False, "rescore": False})
    if plan:
        write_json(folder / "plan.json", own.plan.to_json())
    return folder


def test_the_newest_run_with_a_finished_contest_is_the_pilot(tmp_path: Path) -> None:
    own = made(tmp_path)
    laid(own, "20260101T000000-1")
    newest = laid(own, "20260102T000000-1")
    laid(own, "20260103T000000-1.old")
    laid(own, "20260104T000000-1", plan=False)
    score(own, "weak", [0] * 6)
    with pytest.raises(UserError, match=r"--detect: .*has no finished run of 'toys'"):
        find_pilot(own.store, own.plan, None)
    score(own, "strong", [0] * 6)
    found = find_pilot(own.store, own.plan, None)
    assert (found.folder, found.plan.config_dir) == (newest, own.plan.config_dir)
    named = find_pilot(own.store, own.plan, "toys")
    assert (named.folder, named.plan.config_dir) == (newest, own.store.root.parent / "there")
    with pytest.raises(UserError, match=r"--pilot others: .*has no finished run of 'others'"):
        find_pilot(own.store, own.plan, "others")


def test_a_plans_contests_have_the_pilots_of_the_same_names(tmp_path: Path) -> None:
    own = made(tmp_path)
    pilot = power_of(Known())
    assert [(pair.label, power) for pair, power in matched([pilot], own.plan)] == [("strong", pilot), ("other", None)]
    assert [pair for pair, _ in matched([], own.plan)] == list(pairs_of(own.plan))
