"""The verdict of a night as a page."""

from __future__ import annotations

import pytest

from seedbed.analysis.results import Comparison
from seedbed.nightly.gate import GateResult
from seedbed.nightly.gate_page import gate_markdown


def _figures(comparison: Comparison) -> dict[str, str]:
    """The only row of the judged figures, by heading."""
    page = gate_markdown("night", "run", GateResult("pass", [], [comparison], "v1"), [])
    heading, _, row = page.partition("## Judged figures\n\n")[2].splitlines()
    return dict(zip(*(line.strip("| ").split(" | ") for line in (heading, row)), strict=True))


@pytest.mark.parametrize(
    ("p", "ends", "shown"),
    [(0.0123, (-0.0104, 0.05), ("0.012", "[-0.010, +0.050]")), (None, (None, None), ("-", "-"))],
)
def test_what_was_computed_is_shown_and_a_dash_where_nothing_could_be(
    p: float | None, ends: tuple[float | None, float | None], shown: tuple[str, str]
) -> None:
    low, high = ends
    row = _figures(
        Comparison("s", "b", "m", "x", "base", "f", "F1", p_holm=p, ci_low=low, ci_high=high, difference=0.02, mean=0.8)
    )
    assert (row["p (Holm)"], row["95% CI"]) == shown
    assert (row["baseline"], row["tonight"], row["difference"]) == ("-", "0.800", "+0.020")
