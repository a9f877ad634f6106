"""Limits of a growing comparison, and how often it is wrong or stops early on drawn sweeps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seedbed.analysis import sequential
from seedbed.analysis.spending import boundaries
from seedbed.analysis.stopping import Sequential


def _run(rng: np.random.Generator, effect: float, total: int = 400) -> tuple[str, int]:
    design = sequential(0.08)
    differences = rng.normal(effect, 0.57, total)
    for n in range(total // 10, total + 1, total // 10):
        told = design.look(differences[:n], np.zeros(n), total)
        if told != "go on":
            return told, n
    raise AssertionError("the last look decides")


@pytest.mark.slow
def test_looking_costs_no_false_alarms_and_saves_samples() -> None:
    rng = np.random.default_rng(5)
    null = [_run(rng, 0.0) for _ in range(1500)]
    alarms = np.mean([told in ("better", "worse") for told, _ in null])
    assert alarms < 0.068
    assert np.mean([n for _, n in null]) < 0.9 * 400
    real = [_run(rng, 0.16) for _ in range(300)]
    assert np.mean([told == "better" for told, _ in real]) > 0.95
    assert np.mean([n for _, n in real]) < 0.6 * 400


def test_directions_and_moments_between_looks() -> None:
    rng = np.random.default_rng(6)
    large = rng.normal(0.5, 0.2, 100)
    design = sequential(0.1)
    assert design.look(large, np.zeros(100), 200) == "better"
    assert design.look(np.zeros(100), large, 200) == "worse"
    assert design.look(large[:95], np.zeros(95), 200) == "go on", "between the fourth and the fifth look"
    assert design.look(np.zeros(60), np.zeros(60), 100) == "go on"
    assert design.look(np.zeros(100), np.zeros(100), 100) == "futile"


@pytest.mark.parametrize(
    "wrong", [{"difference": 0.0}, {"difference": 0.1, "looks": 0}, {"difference": 0.1, "alpha": 1.0}]
)
def test_a_design_that_is_none_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="are needed"):
        sequential(**wrong)  # type: ignore[arg-type]


def _alternating(n: int, mean: float, spread: float) -> np.ndarray:
    """Of this very mean and standard deviation; an even number."""
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    return mean + spread * signs * np.sqrt((n - 1) / n)


@pytest.mark.parametrize(("total", "looks", "at"), [(100, 4, {25, 50, 75, 100}), (10, 4, {3, 5, 8, 10})])
def test_a_look_is_taken_at_the_first_count_that_reaches_it(total: int, looks: int, at: set[int]) -> None:
    clear = np.random.default_rng(8).normal(50, 1, total + 5)
    design = sequential(0.1, looks=looks)
    decided = {n for n in range(2, total + 1) if design.look(clear[:n], np.zeros(n), total) != "go on"}
    assert decided == at
    assert design.look(clear, np.zeros(total + 5), total) == "better", "more than planned is the last look"


def test_nothing_is_decided_on_one_sample_and_missing_ones_do_not_count() -> None:
    design = sequential(0.1, looks=2)
    assert design.look([5.0], [0.0], 1) == "go on"
    known = np.random.default_rng(8).normal(50, 1, 10)
    with_holes = np.concatenate([known, np.full(10, np.nan)])
    assert design.look(with_holes, np.zeros(20), 20) == "better"
    assert design.look(with_holes[:15], np.zeros(15), 24) == "go on"


def test_the_standardised_difference_is_held_against_the_limit_of_its_look() -> None:
    """By the tail of Student's t, taken over to the normal scale."""
    design, n = sequential(0.01, looks=2), 20
    for number, total in ((0, 40), (1, 20)):
        limit = boundaries(2, 0.05)[number]
        t = float(stats.t.isf(stats.norm.sf(limit), n - 1))
        for share, expected in ((1.01, "better"), (0.99, None)):
            values = _alternating(n, share * t / np.sqrt(n), 1.0)
            told = design.look(values, np.zeros(n), total)
            assert told == expected if expected else told in ("go on", "futile")
            assert design.look(-values, np.zeros(n), total) == ("worse" if expected else told)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("power", [0.07, 0.14])
def test_it_is_futile_where_the_difference_that_matters_would_hardly_be_found(power: float, sign: int) -> None:
    """Half of the samples are there and show nothing: the power of the rest under the planned difference."""
    n, total = 200, 400
    last = boundaries(2, 0.05)[-1]
    z = 0.05
    t = float(stats.t.isf(stats.norm.sf(z), n - 1))
    values = sign * _alternating(n, t / np.sqrt(n), 1.0)
    # B(1) = B(1/2) + drift / 2 + N(0, 1/2), with B(1/2) = z * sqrt(1/2) and a drift in errors of the whole.
    needed = last - z * np.sqrt(0.5) + stats.norm.ppf(power) * np.sqrt(0.5)
    difference = needed / 0.5 / np.sqrt(total)
    told = sequential(difference, looks=2).look(values, np.zeros(n), total)
    assert told == ("futile" if power < 0.1 else "go on")
    assert sequential(-difference, looks=2).look(values, np.zeros(n), total) == told


def test_the_last_look_decides_one_way_or_the_other() -> None:
    values = _alternating(20, 0.01, 1.0)
    assert sequential(5.0, looks=2).look(values, np.zeros(20), 20) == "futile"


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_level_at_its_ends_is_none(alpha: float) -> None:
    with pytest.raises(ValueError, match="are needed"):
        sequential(0.1, alpha=alpha)
    assert sequential(-0.1, looks=1).looks == 1


def test_a_design_has_ten_looks_at_five_percent_unless_it_says_otherwise() -> None:
    assert sequential(0.1) == Sequential(0.1, 10, 0.05)
    assert sequential(-0.2, looks=4, alpha=0.01) == Sequential(-0.2, 4, 0.01)


def test_two_samples_are_a_look_and_no_evidence_is_too_strong() -> None:
    design = sequential(0.1, looks=2)
    assert design.look([5000.0, 5001.0], [0.0, 0.0], 4) == "better"
    far = _alternating(200, 1.0, 1e-9)
    assert design.look(far, np.zeros(200), 400) == "better", "though its tail is 0"
    assert design.look(-far, np.zeros(200), 400) == "worse"


def test_a_generous_level_decides_on_less_than_one_standard_error() -> None:
    values = _alternating(400, 0.8 / 20, 1.0)
    assert sequential(0.1, looks=1, alpha=0.5).look(values, np.zeros(400), 400) == "better"
    assert sequential(0.1, looks=1, alpha=0.4).look(values, np.zeros(400), 400) == "futile"


@pytest.mark.parametrize("z", [1.2, -1.2, 0.0])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("power", [0.095, 0.105])
def test_hopeless_is_a_power_of_the_rest_below_a_tenth(power: float, share: float, z: float) -> None:
    """What has been summed up is z times the root of its share; what is to come adds the difference that matters, in
    standard errors of the whole, and a normal value of the variance that is left."""
    error, limit = 0.3, 2.0
    needed = limit - abs(z) * np.sqrt(share) + stats.norm.ppf(power) * np.sqrt(1 - share)
    difference = needed / (1 - share) * error * np.sqrt(share)
    assert difference > 0
    for sign in (1, -1):
        assert sequential(sign * difference).hopeless(z, error, share, limit) is (power < 0.1)


def test_nothing_more_is_hoped_for_where_all_are_there() -> None:
    assert sequential(5.0).hopeless(1.9, 0.1, 1.0, 2.0)
