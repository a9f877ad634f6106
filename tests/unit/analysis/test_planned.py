"""What a pilot promises: the samples that the test to come needs, and what so many could see."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.analysis.pilot import samples_needed
from seedbed.analysis.planned import pilot


def test_without_seeds_it_is_the_textbooks_number_with_students_t() -> None:
    own = np.random.default_rng(1).normal(0.0, 0.4, 300)
    book = samples_needed(own, np.zeros(300), difference=0.1, seeds=1)
    found = pilot(own, np.zeros(300)).needed(0.1, 1)
    assert book is not None
    assert found.n == pytest.approx(book[0], rel=0.03)
    assert found.low is not None
    assert found.high is not None
    assert found.n is not None
    assert found.low < found.n < found.high


def test_what_a_number_could_see_is_what_the_number_is_planned_for() -> None:
    own = np.random.default_rng(2).normal(0.0, 0.4, (200, 3))
    for made in (False, True):
        seen = pilot(own, np.zeros((200, 3)), seed_changes_system=made)
        planned = seen.needed(0.08, 5)
        assert planned.n is not None
        assert seen.detectable(planned.n, 5) == pytest.approx(0.08, rel=0.02)


def test_seeds_that_only_draw_answers_never_ask_for_more_seeds() -> None:
    own = np.random.default_rng(3).normal(0, 0.2, (100, 3)) + np.array([-0.05, 0.0, 0.05])
    assert pilot(own, np.zeros((100, 3))).needed(0.03, 3).n is not None
    made = pilot(own, np.zeros((100, 3)), seed_changes_system=True)
    assert made.needed(0.03, 3).n is None, "seeds differ too much"
    assert made.needed(0.03, 200).n is not None


@pytest.mark.parametrize("seeds", [2, 5, 40])
@pytest.mark.parametrize("apart", [0.0, 0.05, 0.5])
def test_in_other_units_it_is_the_same(apart: float, seeds: int) -> None:
    rng = np.random.default_rng(6)
    own = rng.normal(0, 0.3, (80, 4)) + rng.normal(0, 0.2, 80)[:, None] + rng.normal(0, apart, 4)
    seen, large = (pilot(own * unit, np.zeros((80, 4)), seed_changes_system=True) for unit in (1, 100))
    for n in (20, 400):
        assert large.detectable(n, seeds) == pytest.approx(100 * seen.detectable(n, seeds), rel=1e-6)


def test_one_seed_of_an_optimizer_is_blind() -> None:
    own = np.random.default_rng(4).normal(0, 0.2, 50)
    seen = pilot(own, np.zeros(50), seed_changes_system=True)
    assert seen.blind
    assert seen.needed(0.1, 1).n is None
    assert not pilot(own, np.zeros(50)).blind


def test_more_contests_take_more_samples_and_clusters_too() -> None:
    own = np.repeat(np.random.default_rng(5).normal(0, 0.3, 60), 4)
    alone, five = (pilot(own, np.zeros(240), tests_in_family=m).needed(0.1, 1).n for m in (1, 5))
    clusters = np.repeat(np.arange(60), 4).tolist()
    whole = pilot(own, np.zeros(240), clusters=clusters).needed(0.1, 1).n
    assert alone is not None
    assert five is not None
    assert whole is not None
    assert five > 1.3 * alone
    assert whole > 3 * alone


def test_a_pilot_of_two_clusters_says_little_and_the_range_of_samples_shows_it() -> None:
    """One degree of freedom is one, not none."""
    clusters = np.repeat([0, 1], 20)
    own = np.random.default_rng(3).normal(0.0, 0.4, 40) + clusters
    found = pilot(own, np.zeros(40), clusters=clusters).needed(0.5, 1)
    assert found.low is not None
    assert found.n is not None
    assert found.low < 0.5 * found.n
