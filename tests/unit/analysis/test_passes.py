"""pass@k and pass^k."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.analysis.passes import pass_all, pass_at


@pytest.mark.parametrize(
    ("n", "c", "k", "one", "every"),
    [(5, 0, 2, 0.0, 0.0), (5, 5, 2, 1.0, 1.0), (5, 2, 2, 0.7, 0.1), (4, 1, 1, 0.25, 0.25), (4, 3, 4, 1.0, 0.0)],
)
def test_values_worked_out_by_hand(n: int, c: int, k: int, one: float, every: float) -> None:
    assert (pass_at(n, c, k), pass_all(n, c, k)) == pytest.approx((one, every))


@given(
    st.integers(1, 8).flatmap(lambda n: st.tuples(st.lists(st.booleans(), min_size=n, max_size=n), st.integers(1, n)))
)
def test_they_are_the_shares_among_all_choices_of_k(drawn: tuple[list[bool], int]) -> None:
    marks, k = drawn
    choices = list(combinations(marks, k))
    assert pass_at(len(marks), sum(marks), k) == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_all(len(marks), sum(marks), k) == pytest.approx(sum(map(all, choices)) / len(choices))


@given(st.integers(1, 10), st.floats(0, 1), st.data())
def test_their_mean_over_draws_is_the_chance_itself(n: int, p: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, n))
    chances = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    assert sum(w * pass_at(n, c, k) for c, w in enumerate(chances)) == pytest.approx(1 - (1 - p) ** k)
    assert sum(w * pass_all(n, c, k) for c, w in enumerate(chances)) == pytest.approx(p**k, abs=1e-12)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)])
def test_what_cannot_be_is_refused(n: int, c: int, k: int) -> None:
    for count in (pass_at, pass_all):
        with pytest.raises(ValueError, match="pass@k"):
            count(n, c, k)
