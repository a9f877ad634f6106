"""A change told apart by crossing old and new: effects add up, interactions are said, what cannot be told stays one."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from seedbed.analysis.attribution import ACCUSED, SILENT, Attribution, Corner, Effect, accused, attribute, with_holm
from seedbed.analysis.columns import Columns, estimate
from seedbed.analysis.paired import sample_p

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


def effect(
    difference: float = -0.1, low: float | None = -0.2, high: float | None = -0.05, p: float | None = 0.001
) -> Effect:
    return Effect(("judge",), difference, low, high, p, 100, p)


def test_an_interval_that_touches_nothing_does_not_exclude_it() -> None:
    beyond = [(-0.2, -0.1), (0.1, 0.2), (-2.0, -1.0), (1.0, 2.0)]
    assert all(effect(low=low, high=high).excludes_none for low, high in beyond)
    around = [(-0.1, 0.1), (0.0, 0.1), (-0.1, 0.0), (-0.1, 0.5), (None, -0.1), (0.1, None), (None, None)]
    assert not any(effect(low=low, high=high).excludes_none for low, high in around)


@pytest.mark.parametrize(
    ("own", "total", "level", "named"),
    [
        (effect(), effect(-0.3), ACCUSED, True),
        (effect(0.1, 0.05, 0.2), effect(0.3), ACCUSED, True),
        (effect(0.1, 0.05, 0.2), effect(-0.3), ACCUSED, False),
        (effect(), effect(0.0), ACCUSED, False),
        (effect(high=0.01), effect(-0.3), ACCUSED, False),
        (effect(p=None), effect(-0.3), ACCUSED, False),
        (effect(p=0.01), effect(-0.3), ACCUSED, False),
        (effect(p=0.0099), effect(-0.3), ACCUSED, True),
        (effect(p=0.0099), effect(-0.3), SILENT, False),
    ],
)
def test_a_part_is_named_below_the_level_where_it_goes_the_way_of_the_figure(
    own: Effect, total: Effect, level: float, named: bool
) -> None:
    assert accused(own, total, level) is named


SMALL = np.random.default_rng(9).random((8, 12))
CUBE = [corner(*names) for names in ("", "a", "b", "c", "ab", "ac", "bc", "abc")]
ALL = dict(zip(CUBE, SMALL, strict=True))
CLUSTERS = np.arange(12) // 2


def _by_parts(found: Attribution) -> dict[tuple[str, ...], float]:
    return {own.parts: own.difference for own in found.effects}


def test_with_all_crossings_an_effect_is_shapleys_value() -> None:
    """Every order in which three parts could have changed, once."""
    found = attribute(ALL, ("a", "b", "c"), CLUSTERS)
    mean = {name: values.mean() for name, values in ALL.items()}
    shapley = dict.fromkeys("abc", 0.0)
    for order in permutations("abc"):
        for place, part in enumerate(order):
            shapley[part] += (mean[frozenset(order[: place + 1])] - mean[frozenset(order[:place])]) / 6
    assert _by_parts(found) == pytest.approx({(part,): value for part, value in shapley.items()})
    assert found.total.parts == ("a", "b", "c")
    assert found.total.difference == pytest.approx((ALL[corner(*"abc")] - ALL[OLD]).mean())
    assert [own.parts for own in found.interactions] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found.unmeasured == []


def test_an_interaction_is_taken_with_the_others_old_or_else_with_the_others_new() -> None:
    """Of a and b both are there; of a and c only with b new; of b and c one crossing is missing either way."""
    corners = {name: values for name, values in ALL.items() if name not in (corner("c"), corner(*"ac"))}
    found = attribute(corners, ("a", "b", "c"), CLUSTERS)
    told = {own.parts: own.difference for own in found.interactions}
    a_b = ALL[corner(*"ab")] - ALL[corner("a")] - ALL[corner("b")] + ALL[OLD]
    a_c = ALL[corner(*"abc")] - ALL[corner(*"ab")] - ALL[corner(*"bc")] + ALL[corner("b")]
    assert told == pytest.approx({("a", "b"): a_b.mean(), ("a", "c"): a_c.mean()})
    assert found.unmeasured == [("b", "c")]


def test_parts_that_orders_tell_apart_are_taken_apart_and_named_in_their_order() -> None:
    """Only c can be told apart: the orders that show most steps count."""
    corners = {name: ALL[name] for name in (OLD, corner(*"ab"), corner(*"abc"))}
    found = attribute(corners, ("c", "b", "a"), CLUSTERS)
    first, second = (ALL[corner(*"ab")] - ALL[OLD]).mean(), (ALL[corner(*"abc")] - ALL[corner(*"ab")]).mean()
    assert _by_parts(found) == pytest.approx({("b", "a"): first, ("c",): second})


@pytest.mark.parametrize(("ends", "most"), [((0.0, 1.0), 1.0), ((1.0, 5.0), 4.0), (None, math.inf)])
def test_effects_have_students_interval_at_the_level_that_the_parts_leave_each_and_the_p_of_sign_flips(
    ends: tuple[float, float] | None, most: float
) -> None:
    """Two of three parts moved something, so each has half of the level."""
    corners = {OLD: SMALL[0], corner("a"): SMALL[1], corner(*"ab"): SMALL[1], corner(*"abc"): SMALL[2]}
    found = attribute(corners, ("a", "b", "c"), np.arange(12)[::-1] // 2 + 7, ends)
    for own, values in zip([found.total, *found.effects], [SMALL[2] - SMALL[0], SMALL[1] - SMALL[0], SMALL[0] * 0,
                                                           SMALL[2] - SMALL[1]], strict=True):  # fmt: skip
        columns = Columns.of(values[:, None], CLUSTERS)
        made = estimate(columns.sums, columns.counts, np.array([-most]), np.array([most]))
        low, high = made.interval(np.array([-math.inf]), np.array([math.inf]), 1 - ACCUSED / 2)
        expected = [None if math.isinf(end[0]) else pytest.approx(end[0]) for end in (low, high)]
        assert [own.low, own.high] == expected
        assert own.n == 12
        assert own.p == (pytest.approx(sample_p(columns, [False])[0]) if values.any() else None)


@pytest.mark.parametrize("moved", [True, False])
def test_one_part_alone_has_the_whole_level(moved: bool) -> None:
    after = SMALL[1] if moved else SMALL[0]
    (own,) = attribute({OLD: SMALL[0], corner("a"): after}, ("a",), CLUSTERS).effects
    columns = Columns.of((after - SMALL[0])[:, None], CLUSTERS)
    one = np.ones(1)
    low, high = estimate(columns.sums, columns.counts, -one, one).interval(-one, one, 1 - ACCUSED)
    assert (own.low, own.high) == pytest.approx((low[0], high[0]))


def test_one_cluster_is_not_tested() -> None:
    found = attribute({OLD: SMALL[0], corner("a"): SMALL[1]}, ("a",), np.zeros(12, dtype=np.int64))
    assert (found.total.p, found.total.low, found.total.high) == (None, None, None)
    assert found.total.difference == pytest.approx((SMALL[1] - SMALL[0]).mean())


def test_without_a_sample_that_all_crossings_have_there_is_no_effect() -> None:
    nothing = np.full(12, np.nan)
    found = attribute({OLD: SMALL[0], corner("a"): nothing}, ("a",), CLUSTERS)
    assert (found.total.n, math.isnan(found.total.difference), found.total.p) == (0, True, None)


def test_holm_goes_over_the_parts_of_all_figures_and_over_interactions_apart() -> None:
    def figure(*ps: float, together: float) -> Attribution:
        return Attribution(effect(), [effect(p=p) for p in ps], [effect(p=together)])

    one, other = with_holm([figure(0.01, 0.04, together=0.03), figure(0.02, together=0.02)])
    assert [own.p_holm for own in one.effects] == pytest.approx([0.03, 0.04])
    assert [own.p_holm for own in other.effects] == pytest.approx([0.04])
    assert [own.p_holm for found in (one, other) for own in found.interactions] == pytest.approx([0.04, 0.04])
