"""Contests that grow: what a look sees, and what it decides over a family."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis.contests import Contest, Figures, contest_figures, decide
from seedbed.analysis.spending import boundaries
from seedbed.analysis.stopping import sequential


def _seen(*zs: float | None) -> list[Figures]:
    return [Figures(40 * k, 40 * k, 0.1, 0.05, z) for k, z in enumerate(zs, start=1)]


def test_without_clusters_it_is_students_t_on_the_normal_scale() -> None:
    values = np.random.default_rng(0).normal(0.3, 1.0, 60)
    found = contest_figures(values, np.zeros(60))
    assert found.z == pytest.approx(float(stats.norm.isf(stats.ttest_1samp(values, 0).pvalue / 2)))
    assert (found.n, found.n_clusters) == (60, 60)
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(60))
    turned = contest_figures(np.zeros(60), values)
    assert turned.z == pytest.approx(-(found.z or 0))


def test_samples_of_a_cluster_count_together() -> None:
    shared = np.repeat(np.random.default_rng(1).normal(0.3, 1.0, 20), 5)
    clusters = np.repeat(np.arange(20), 5).tolist()
    alone, together = contest_figures(shared, np.zeros(100)), contest_figures(shared, np.zeros(100), clusters=clusters)
    assert alone.z is not None
    assert together.z is not None
    assert alone.z > 1.5 * together.z
    assert together.n_clusters == 20


def test_few_samples_cannot_say_more_than_their_signs() -> None:
    alike = np.array([0.5, 0.5001, 0.4999, 0.5, 0.5002])
    found = contest_figures(alike, np.zeros(5))
    assert found.z == pytest.approx(float(stats.norm.isf(2.0**-5)))


def test_where_seeds_make_another_system_they_have_a_say() -> None:
    rng = np.random.default_rng(2)
    own = rng.normal(0.1, 0.2, (200, 3)) + np.array([-0.2, 0.0, 0.2])
    sure, unsure = (contest_figures(own, np.zeros((200, 3)), seed_changes_system=flag) for flag in (False, True))
    assert sure.z is not None
    assert unsure.z is not None
    assert abs(unsure.z) < 0.5 * abs(sure.z)
    assert contest_figures(own[:, :1], np.zeros((200, 1)), seed_changes_system=True).z is None, "one seed tells nothing"


def test_what_is_missing_is_no_pair_and_no_spread_is_no_test() -> None:
    own = np.array([0.1, np.nan, 0.4, 0.9])
    assert contest_figures(own, np.zeros(4)).n == 3
    ties = contest_figures(np.ones(30), np.ones(30))
    assert (ties.n, ties.difference, ties.z, ties.error) == (30, 0.0, None, None)
    assert contest_figures([0.1], [0.0]).z is None


def test_a_contest_is_decided_at_the_limit_of_its_look() -> None:
    design = sequential(0.15)
    for number in (2, 5, 9):
        limit = boundaries(10, 0.05)[number - 1]
        before = [0.5] * (number - 1)
        assert decide(design, [Contest(_seen(*before, limit + 0.01), number / 10)], number) == ["better"]
        assert decide(design, [Contest(_seen(*before, -limit - 0.01), number / 10)], number) == ["worse"]
        assert decide(design, [Contest(_seen(*before, limit - 0.01), number / 10)], number) == ["go on"]


def test_the_last_look_ends_it_and_what_is_decided_stays() -> None:
    design = sequential(0.15)
    assert decide(design, [Contest(_seen(*[0.1] * 10), 1.0)], 10) == ["futile"]
    assert decide(design, [Contest(_seen(4.9), 0.1, "futile")], 3) == ["futile"]
    assert decide(design, [Contest(_seen(None), 0.1)], 1) == ["go on"]
    assert decide(design, [Contest(_seen(*[None] * 10), 1.0)], 10) == ["futile"]


def test_it_is_futile_where_the_difference_that_matters_would_hardly_be_found() -> None:
    nothing = [Contest(_seen(*[0.0] * 7), 0.7)]
    assert decide(sequential(0.01), nothing, 7) == ["futile"]
    assert decide(sequential(0.6), nothing, 7) == ["go on"]


def test_a_contest_that_is_found_makes_it_easier_for_the_others() -> None:
    design, number = sequential(0.5), 6
    between = (boundaries(10, 0.05)[5] + boundaries(10, 0.025)[5]) / 2
    clear, close, nothing = (Contest(_seen(*[0.1] * 5, z), 0.6) for z in (6.0, between, 0.2))
    assert decide(design, [clear, close], number) == ["better", "better"]
    assert decide(design, [nothing, close], number) == ["go on", "go on"]
    assert decide(design, [clear, close], number, others=1) == ["better", "go on"], "a test that is still to come"
