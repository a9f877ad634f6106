"""Limits of a growing comparison, and how often it is wrong or stops early on drawn sweeps."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.analysis import sequential
from seedbed.analysis.stopping import boundaries


def test_the_limits_are_those_of_the_tables() -> None:
    known = [5.96, 4.39, 3.59, 3.12, 2.82, 2.60, 2.44, 2.31, 2.21, 2.13]
    # The first is at a probability of 2.5e-9, where a hundredth is rounding.
    assert boundaries(10, 0.05)[1:] == pytest.approx(known[1:], abs=0.012)
    assert boundaries(10, 0.05)[0] > 5.5
    assert boundaries(1, 0.05) == pytest.approx([1.96], abs=0.005)


@pytest.mark.parametrize(("looks", "alpha"), [(4, 0.05), (10, 0.01)])
def test_all_looks_together_spend_the_level(looks: int, alpha: float) -> None:
    steps = np.random.default_rng(7).normal(0, 1, (100_000, looks))
    walk = steps.cumsum(axis=1) / np.sqrt(np.arange(1, looks + 1))
    crossed = (np.abs(walk) >= boundaries(looks, alpha)).any(axis=1)
    assert crossed.mean() == pytest.approx(alpha, rel=0.06)


def _run(rng: np.random.Generator, effect: float, total: int = 400) -> tuple[str, int]:
    design = sequential(0.08)
    differences = rng.normal(effect, 0.57, total)
    for n in range(total // 10, total + 1, total // 10):
        told = design.look(differences[:n], np.zeros(n), total)
        if told != "go on":
            return told, n
    raise AssertionError("the last look decides")


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
