"""Intervals and tests against vectors with expected values."""

from typing import Any

import pytest

from seedbed.analysis.intervals import wilson
from seedbed.analysis.significance import mcnemar_exact
from tests.support.golden import lines

_ROWS = lines("stats.jsonl")
_TOLERANCE = 1e-9
_NOT_COMPUTED = "cluster_ratio_se"
"""Clusters are resampled here, never linearised."""


def _of(kind: str) -> list[dict[str, Any]]:
    return [row for row in _ROWS if row["kind"] == kind]


def test_every_vector_of_a_figure_that_is_computed_is_compared() -> None:
    assert {row["kind"] for row in _ROWS} == {"wilson95", "mcnemar_exact", _NOT_COMPUTED}


@pytest.mark.parametrize("row", _of("wilson95"), ids=lambda row: f"{row['k']}of{row['n']}")
def test_wilson(row: dict[str, Any]) -> None:
    interval = wilson(row["k"], row["n"])
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((row["lo"], row["hi"]), abs=_TOLERANCE)


@pytest.mark.parametrize("row", _of("mcnemar_exact"), ids=lambda row: f"{row['only_a_right']}-{row['only_b_right']}")
def test_mcnemar(row: dict[str, Any]) -> None:
    p = mcnemar_exact(row["only_a_right"], row["only_b_right"])
    assert p == pytest.approx(row["p_two_sided"], abs=_TOLERANCE)
