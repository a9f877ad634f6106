"""When a night or a pair of runs is explained, and what that may cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seedbed.errors import UserError
from seedbed.nightly import baseline, explaining
from seedbed.nightly import night as nights
from seedbed.nightly.baseline import Baseline, results
from seedbed.nightly.explaining import explain_night, explain_runs
from seedbed.nightly.explanation import Explanation
from seedbed.nightly.gate import judge
from seedbed.nightly.kept import kept_folder
from seedbed.nightly.night import RESUME_WITHIN, _died, start_night  # type: ignore[attr-defined]
from seedbed.phases.context import SweepRun, open_run
from seedbed.storage.store import Store, write_json
from seedbed.sweep.config import GateConfig
from tests.unit.nightly.test_gate import FIGURES, entry

EXPLAINED = Explanation([], [], [], None, None)


class Explained:
    """Stands in for the crossings, and keeps what they were asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], float, float | None]] = []
        self.fails: Exception | None = None

    def __call__(self, run: Any, kept: Any, judgings: Sequence[Any], cap: float, cost: float | None) -> Explanation:
        self.asked.append(([own.label for own in judgings], cap, cost))
        if self.fails is not None:
            raise self.fails
        return EXPLAINED


@pytest.fixture
def explain(monkeypatch: pytest.MonkeyPatch) -> Explained:
    made = Explained()
    monkeypatch.setattr(explaining, "explain", made)
    return made


@pytest.fixture
def run(toy_run: Path) -> SweepRun:
    return open_run(str(toy_run))


def gated(run: SweepRun, **gate: Any) -> SweepRun:
    config = run.plan.config.model_copy(update={"gate": GateConfig.model_validate(gate)})
    return replace(run, plan=replace(run.plan, config=config))


def cost_of(run: SweepRun) -> float:
    (found,) = results(run)
    return sum(own.list_usd or 0.0 for own in found.figures.values())


@pytest.mark.parametrize(
    ("gate", "max_usd", "share", "cap"),
    [
        ({}, None, 0.5, None),
        ({"explain": {"share": 2}}, None, 2.0, None),
        ({"explain": {"max_usd": 3, "share": 2}}, None, None, 3.0),
        ({"explain": {"max_usd": 3}}, 0.0, None, 0.0),
        ({"explain": None}, None, 0.5, None),
    ],
)
def test_two_runs_are_explained_for_a_share_of_what_the_newer_cost_or_the_cap_that_is_given(
    run: SweepRun, explain: Explained, gate: dict[str, Any], max_usd: float | None, share: float | None, cap: Any
) -> None:
    cost = cost_of(run)
    assert cost > 0
    assert explain_runs(run, gated(run, **gate), max_usd) is EXPLAINED
    ((labels, asked, night),) = explain.asked
    assert labels == ["weak", "middle", "strong", "ask"]
    assert (asked, night) == (pytest.approx(cap if share is None else share * cost), pytest.approx(cost))


def test_runs_that_share_no_system_cannot_be_explained(
    run: SweepRun, explain: Explained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explaining, "matched_entries", lambda base, night: [])
    with pytest.raises(UserError, match=r"^toys: the two runs share no system on the same benchmark"):
        explain_runs(run, run)
    assert explain.asked == []


class Accepted:
    """A night that is worse than its baseline, whose folder keeps something or nothing."""

    def __init__(self, run: SweepRun, folder: Path) -> None:
        self.run = replace(run, store=Store(folder))
        self.base, self.night = entry(), entry({"multi": (np.arange(100) < 40).astype(float)})
        self.accepted = Baseline(1, "toys", "r", "2026-01-01T00:00:00Z", None, "", [self.base])

    def keep(self, *, whole: bool = True) -> None:
        path = self.run.store.root / "baselines/toys/v0001.json"
        write_json(path, baseline.to_json(self.accepted))
        if whole:
            write_json(kept_folder(path) / "kept.json", {"cells": [], "models": {}, "roles": {}})

    def explained(self, night: Any = None, **gate: Any) -> Explanation | None:
        night = night or self.night
        own = gated(self.run, min_effect=0.1, **gate)
        result = judge(self.accepted, [night], "completed", own.plan.config.gate)
        return explain_night(own, self.accepted, [night], result)


@pytest.fixture
def bad(run: SweepRun, tmp_path: Path) -> Accepted:
    return Accepted(run, tmp_path)


def test_a_bad_night_is_explained_for_half_of_what_it_cost(bad: Accepted, explain: Explained) -> None:
    bad.keep()
    assert bad.explained() is EXPLAINED
    assert explain.asked == [(["multi"], 0.5, 1.0)]
    blind = replace(bad.night, figures={"multi": replace(FIGURES, list_usd=None)})
    assert bad.explained(blind) is EXPLAINED
    assert explain.asked[-1] == (["multi"], 0.0, None), "of an unknown cost no share is known"


def test_a_night_is_not_explained_where_nothing_is_kept_or_nobody_wants_it(bad: Accepted, explain: Explained) -> None:
    assert bad.explained() is None
    bad.keep(whole=False)
    assert bad.explained() is None
    bad.keep()
    assert bad.explained(explain=None) is None
    assert bad.explained(bad.base) is None, "nothing got worse"
    assert explain.asked == []


def test_a_verdict_stands_though_it_cannot_be_explained(bad: Accepted, explain: Explained) -> None:
    bad.keep()
    explain.fails = ValueError("no crossing")
    found = bad.explained()
    assert found == Explanation([], [], ["it could not be explained: no crossing"], None, None)


# -- which night is gone on with ---------------------------------------------------------------------------------------


def stamp(ago: timedelta) -> str:
    return f"{datetime.now(UTC) - ago:%Y%m%dT%H%M%S}-aaaa"


@pytest.mark.parametrize(
    ("runs", "died"),
    [
        ({}, False),
        ({timedelta(hours=1): ["run.json"]}, True),
        ({timedelta(hours=1): ["run.json", "summary.json"]}, False),
        ({timedelta(hours=1): []}, False),
        ({timedelta(hours=1): [], timedelta(hours=2): ["run.json"]}, True),
        ({timedelta(hours=1): ["run.json", "summary.json"], timedelta(hours=2): ["run.json"]}, False),
        ({timedelta(hours=1): ["run.json"], timedelta(hours=2): ["run.json", "summary.json"]}, True),
        ({RESUME_WITHIN - timedelta(minutes=5): ["run.json"]}, True),
        ({RESUME_WITHIN + timedelta(minutes=5): ["run.json"]}, False),
    ],
)
def test_the_newest_run_died_if_it_ended_without_a_word_not_long_ago(
    tmp_path: Path, runs: dict[timedelta, list[str]], died: bool
) -> None:
    store = Store(tmp_path)
    for ago, names in runs.items():
        folder = store.sweep_dir("s", stamp(ago))
        folder.mkdir(parents=True)
        for name in names:
            write_json(folder / name, {})
    assert _died(store, "s") is died


@pytest.mark.parametrize("died", [False, True])
def test_a_night_that_begins_anew_uses_nothing_of_before_and_is_priced_so(
    run: SweepRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, died: bool
) -> None:
    fresh: list[bool] = []
    monkeypatch.setattr(nights, "_died", lambda store, sweep: died)
    monkeypatch.setattr(nights, "refuse_small_budget", lambda plan, root, warn, *, fresh: kept(fresh))
    monkeypatch.setattr(nights, "prepare", lambda plan, root, *, fresh: kept(fresh) or root)

    def kept(value: bool) -> None:
        fresh.append(value)

    assert start_night(run.plan, tmp_path, print) == (tmp_path, died)
    assert fresh == [not died] * 2
