"""A change told apart by crossing old and new: effects add up, interactions are said, what cannot be told stays one."""

from __future__ import annotations

import numpy as np
import pytest

from seedbed.analysis.attribution import Corner, accused, attribute, with_holm

N = 400
_RNG = np.random.default_rng(5)
_BASE = _RNG.random(N)
OLD: Corner = frozenset()


def corner(*parts: str) -> Corner:
    return frozenset(parts)


def shifted(by: float, noise: float = 0.02) -> np.ndarray:
    return _BASE + by + _RNG.normal(0, noise, N)


def effects(corners: dict[Corner, np.ndarray], *parts: str) -> dict[tuple[str, ...], float]:
    (found,) = with_holm([attribute(corners, parts, np.arange(N))])
    assert sum(effect.difference for effect in found.effects) == pytest.approx(found.total.difference)
    return {effect.parts: round(effect.difference, 2) for effect in found.effects if accused(effect, found.total)}


def test_with_all_crossings_each_part_gets_its_own_effect() -> None:
    corners = {
        OLD: shifted(0),
        corner("judge"): shifted(-0.06),
        corner("model"): shifted(0),
        corner("judge", "model"): shifted(-0.06),
    }
    assert effects(corners, "judge", "model") == {("judge",): -0.06}


def test_two_causes_are_both_named() -> None:
    corners = {
        OLD: shifted(0),
        corner("judge"): shifted(-0.06),
        corner("model"): shifted(-0.03),
        corner("judge", "model"): shifted(-0.09),
    }
    assert effects(corners, "judge", "model") == {("judge",): -0.06, ("model",): -0.03}


def test_what_two_parts_do_only_together_is_said_and_shared() -> None:
    corners = {OLD: shifted(0), corner("judge"): shifted(0), corner("model"): shifted(0)}
    corners[corner("judge", "model")] = shifted(-0.1)
    (found,) = with_holm([attribute(corners, ("judge", "model"), np.arange(N))])
    (together,) = found.interactions
    assert together.parts == ("judge", "model")
    assert together.difference == pytest.approx(-0.1, abs=0.01)
    assert together.excludes_none
    assert [round(effect.difference, 2) for effect in found.effects] == [-0.05, -0.05]


def test_with_one_order_only_the_steps_of_that_order_are_taken_and_the_interaction_is_unmeasured() -> None:
    corners = {OLD: shifted(0), corner("judge"): shifted(-0.05), corner("judge", "model"): shifted(-0.07)}
    assert effects(corners, "judge", "model") == {("judge",): -0.05, ("model",): -0.02}
    assert attribute(corners, ("judge", "model"), np.arange(N)).unmeasured == [("judge", "model")]


def test_parts_that_no_crossing_tells_apart_stay_together() -> None:
    corners = {OLD: shifted(0), corner("judge"): shifted(0), corner("judge", "code", "model"): shifted(-0.08)}
    assert effects(corners, "judge", "code", "model") == {("code", "model"): -0.08}


def test_a_part_that_pulls_the_other_way_is_not_the_culprit() -> None:
    corners = {OLD: shifted(0), corner("judge"): shifted(0.05), corner("judge", "model"): shifted(-0.05)}
    assert effects(corners, "judge", "model") == {("model",): -0.1}


def test_samples_that_a_crossing_lacks_are_left_out_of_all() -> None:
    partial = shifted(-0.06)
    partial[N // 2 :] = np.nan
    corners = {OLD: shifted(0), corner("judge"): partial, corner("judge", "model"): shifted(-0.06)}
    found = attribute(corners, ("judge", "model"), np.arange(N))
    assert found.total.n == N // 2
    assert found.effects[0].difference == pytest.approx(-0.06, abs=0.01)


def test_clusters_widen_the_interval() -> None:
    lumps = np.repeat(_RNG.normal(0, 0.1, N // 20), 20)
    corners = {OLD: _BASE, corner("model"): _BASE + lumps}
    alone = attribute(corners, ("model",), np.arange(N)).total
    together = attribute(corners, ("model",), np.repeat(np.arange(N // 20), 20)).total
    assert (together.high or 0) - (together.low or 0) > 3 * ((alone.high or 0) - (alone.low or 0)) > 0


def test_chance_is_seldom_accused() -> None:
    named = 0
    for _ in range(40):
        right = _RNG.random(100) < 0.7
        corners = {
            corner(*own): np.where(_RNG.random(100) < 0.2, _RNG.random(100) < 0.7, right).astype(float)
            for own in ((), ("judge",), ("judge", "model"))
        }
        (found,) = with_holm([attribute(corners, ("judge", "model"), np.arange(100))])
        named += any(accused(effect, found.total) for effect in found.effects)
    assert named <= 3


def test_a_part_that_moved_no_sample_is_not_tested_and_takes_no_share_of_the_level() -> None:
    old, new = shifted(0), shifted(-0.01, noise=0.1)
    corners = {OLD: old, corner("judge"): old, corner("judge", "model"): new}
    (both,) = with_holm([attribute(corners, ("judge", "model"), np.arange(N))])
    (alone,) = with_holm([attribute({OLD: old, corner("model"): new}, ("model",), np.arange(N))])
    judge, model = both.effects
    assert (judge.difference, judge.p, judge.p_holm) == (0.0, None, None)
    assert (model.p_holm, model.low, model.high) == (
        alone.effects[0].p_holm,
        alone.effects[0].low,
        alone.effects[0].high,
    )
