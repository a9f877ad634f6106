"""A cap against what is left to pay: refused where it cannot hold, warned of where it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.errors import UserError
from seedbed.phases.budget_check import check_budget, refuse_small_budget
from seedbed.phases.forecast import Forecast, Range, SweepForecast
from seedbed.sweep.config import load_config
from seedbed.sweep.plan import Plan, make_plan

CONFIG = """\
name: capped
seeds: [0]
models: {{reader: {{model: offline/reader}}}}
experiments:
  - {{suite: crosslingual, models: [reader], benchmarks: [{{name: tiny, limit: 8}}], systems: [direct]}}
budget: {{max_usd: {cap}}}
"""


def plan(folder: Path, cap: str = "10") -> Plan:
    config = folder / "capped.yaml"
    config.write_text(CONFIG.format(cap=cap), encoding="utf-8")
    return make_plan(*load_config(config))


def found(usd: Range | None, spent: float = 0.0) -> SweepForecast:
    return SweepForecast({"c": Forecast(0, Range(), Range(), usd, Range(), "assumed")}, spent)


@pytest.mark.parametrize(
    ("usd", "spent"),
    [(Range(1, 5, 10), 0.0), (Range(1, 2, 4), 6.0), (Range(10, 10, 10), 0.0), (Range(), 10.0), (None, 99.0)],
)
def test_a_cap_that_is_reached_exactly_holds(tmp_path: Path, usd: Range | None, spent: float) -> None:
    assert check_budget(plan(tmp_path), found(usd, spent)) is None


def test_without_a_cap_nothing_is_refused(tmp_path: Path) -> None:
    free = plan(tmp_path, "null")
    assert check_budget(free, found(Range(1e9, 1e9, 1e9))) is None
    said: list[str] = []
    refuse_small_budget(free, tmp_path / "out", said.append, fresh=False)
    assert said == []


@pytest.mark.parametrize(("spent", "told"), [(0.0, ""), (6.5, r" \(\$6\.5000 of it is spent already\)")])
def test_a_cap_that_cannot_hold_is_refused_with_what_is_left(tmp_path: Path, spent: float, told: str) -> None:
    said = rf"^field budget\.max_usd: \$10 cannot hold{told}: what is left takes \$10 at least, \$20 likely; raise it"
    with pytest.raises(UserError, match=said):
        check_budget(plan(tmp_path), found(Range(10.01, 20, 40), spent))


def test_what_is_spent_counts_for_a_cap(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot hold"):
        check_budget(plan(tmp_path), found(Range(3, 4, 5), 7.01))


@pytest.mark.parametrize(("spent", "told"), [(0.0, ""), (1.5, " ($1.5000 of it is spent already)")])
def test_a_cap_that_may_not_hold_is_a_warning(tmp_path: Path, spent: float, told: str) -> None:
    warning = check_budget(plan(tmp_path), found(Range(8.5, 9, 10.01), spent))
    assert warning is not None
    assert warning.startswith(f"budget.max_usd $10 may not be enough{told}: what is left takes $8.5000 to $10.0100.")


def test_every_start_asks_it_of_a_forecast_of_its_own(tmp_path: Path) -> None:
    said: list[str] = []
    refuse_small_budget(plan(tmp_path, "0.001"), tmp_path / "out", said.append, fresh=True)
    assert [text.partition(":")[0] for text in said] == ["budget.max_usd $0.001 may not be enough"]
    refuse_small_budget(plan(tmp_path, "1000"), tmp_path / "out", said.append, fresh=True)
    assert len(said) == 1
