"""What is published of a comparison that was looked at while it grew."""

from __future__ import annotations

import pytest

from seedbed.analysis.contests import Decision, Figures, Looked
from seedbed.analysis.looked import account_for_looks
from seedbed.analysis.measured import Measured
from seedbed.analysis.power import Sized
from seedbed.analysis.results import Comparison
from seedbed.analysis.spending import boundaries, look_level


def _looked(asked: int = 160, decision: Decision = "better", z: float = 3.2) -> Looked:
    seen = [Figures(40 * k, 40 * k, 0.1, 0.03, 0.5) for k in range(1, 4)] + [Figures(160, 160, 0.1, 0.03, z)]
    return Looked("f1", 10, seen, decision, asked, 400)


def _measured(metric: str = "f1", p: float = 0.001) -> Measured:
    compared = Comparison("s", "b", "m", "own", "base", metric, n_pairs=160, n_clusters=160, difference=0.1,
                          ci_low=0.04, ci_high=0.16, p=p, test="permutation")  # fmt: skip
    return Measured(compared, most=1.0)


@pytest.mark.parametrize(
    ("asked", "decision", "words"),
    [
        (160, "better", "stopped at 160 of 400: decided (better)"),
        (160, "futile", "stopped at 160 of 400: decided (futile)"),
        (160, "go on", "open after 160 of 400"),
        (400, "worse", "all 400 asked: decided (worse)"),
        (400, "futile", "all 400 asked: not decided"),
    ],
)
def test_how_it_ended_is_said(asked: int, decision: Decision, words: str) -> None:
    assert account_for_looks(_measured(), _looked(asked, decision)).comparison.stopped == words


def test_the_deciding_metric_has_the_p_of_its_looks_and_a_wider_interval() -> None:
    limit = boundaries(10, 0.05)[3]
    c = account_for_looks(_measured(), _looked(z=limit)).comparison
    assert c.p == pytest.approx(0.05)
    assert c.test == "sequential"
    assert c.ci_low == pytest.approx(0.1 - 0.06 * limit / 1.96, abs=0.002)
    assert (c.ci_high or 0) - 0.1 == pytest.approx(0.1 - (c.ci_low or 0))


def test_another_metric_is_held_to_the_look_that_it_came_to() -> None:
    c = account_for_looks(_measured("em"), _looked()).comparison
    assert c.test == "permutation"
    assert c.p is not None
    assert c.p > 0.02, "p = .001 at the fourth of ten looks"
    assert c.stopped == "stopped at 160 of 400: decided by f1 (better)"


def test_intervals_stay_within_the_range() -> None:
    wide = _measured()
    wide = Measured(wide.comparison, most=0.15)
    assert account_for_looks(wide, _looked()).comparison.ci_high == 0.15


def test_an_interval_over_few_seeds_grows_with_their_degrees_of_freedom() -> None:
    from scipy import stats

    plain = _measured()
    over_seeds = Sized(160, 160, 160, 1.0, [(0.01, 159.0), (0.02, 30.0), (0.03, 4.0)], 1.0, test="t")
    c = account_for_looks(Measured(plain.comparison, over_seeds, most=9.0), _looked()).comparison
    level = look_level(10, 4, 0.05)
    factor = stats.t.ppf(1 - level / 2, 4) / stats.t.ppf(0.975, 4)
    assert c.ci_high == pytest.approx(0.1 + 0.06 * factor, abs=1e-4)
    assert factor > 1.5 * boundaries(10, 0.05)[3] / 1.96, "far more than over many samples"
