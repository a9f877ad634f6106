"""A night: a fresh run of a sweep, or the rest of one that was killed, and its verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.nightly import baseline, history
from seedbed.nightly.explaining import explain_night
from seedbed.nightly.gate import GateResult, judge
from seedbed.nightly.gate_page import gate_markdown
from seedbed.phases.budget_check import refuse_small_budget
from seedbed.phases.context import open_run
from seedbed.phases.prepare import prepare
from seedbed.phases.standing import started_at
from seedbed.storage.objects import subfolders
from seedbed.storage.store import Store, write_json, write_text
from seedbed.sweep.plan import Plan

RESUME_WITHIN = timedelta(hours=20)
"""A run that died longer ago belongs to another night: its answers may be of another model than tonight's."""

_LAST = 10
"""Nights shown with a verdict; the history has all."""


def start_night(plan: Plan, root: Path, warn: Callable[[str], None]) -> tuple[Path, bool]:
    """Plan tonight's run; returns its folder and whether it goes on with a run that died. Otherwise nothing made before
    is used: a night that reuses last night's answers sees nothing. A budget that cannot hold is refused."""
    resumed = _died(Store(root), plan.config.name)
    refuse_small_budget(plan, root, warn, fresh=not resumed)
    return prepare(plan, root, fresh=not resumed), resumed


def judge_night(folder: str, status: str) -> tuple[GateResult, list[dict[str, Any]]]:
    """Hold a run against the baseline; writes gate.json and gate.md beside its summary and a row into the history.
    Returns the verdict and all nights so far."""
    run = open_run(folder)
    config = run.plan.config
    night = baseline.results(run)
    try:
        accepted = baseline.current(run.store, config.name, config.gate.baseline)
        result = judge(accepted, night, status, config.gate)
    except UserError as error:
        # A baseline that cannot be read, or a gate that asks for what there is not, decides nothing.
        result = GateResult.undecided(str(error))
        accepted = None
    if accepted is not None and result.verdict != "pass":
        result = replace(result, explanation=explain_night(run, accepted, night, result))
    write_json(run.folder / "gate.json", result.to_json())
    row = history.night_row(run.folder.name, f"{started_at(run.folder.name):%Y-%m-%dT%H:%M:%SZ}", status, result, night)
    rows = history.add_night(run.store, config.name, row)
    history.plot(run.store, config.name, rows)
    write_text(run.folder / "gate.md", gate_markdown(config.name, run.folder.name, result, history.table(rows)[:_LAST]))
    return result, rows


def _died(store: Store, sweep: str) -> bool:
    """Whether the newest run of a sweep ended without a word, not long ago."""
    runs = store.root / "sweeps" / sweep
    for name in reversed(subfolders(runs)):
        if (runs / name / "run.json").exists():
            silent = not (runs / name / "summary.json").exists()
            return silent and datetime.now(UTC) - started_at(name) < RESUME_WITHIN
    return False
