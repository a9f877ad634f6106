"""Checks the looks at contests: each is taken again from the stored scores, and what it decided is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seedbed.phases.context import SweepRun
from seedbed.phases.looks import Family, current_looks, families, look_path, look_record
from seedbed.phases.verification.checker import Checker


def check_looks(check: Checker, run: SweepRun) -> None:
    """Records that follow from the scores; a contest whose cells have scores has been looked at."""
    for family in families(run.plan):
        path = look_path(run.store, run.plan, family, 1)
        with check.reading(path):
            _check_family(check, run, family)


def _check_family(check: Checker, run: SweepRun, family: Family) -> None:
    records = current_looks(run.store, run.plan, family)
    if not records:
        check.left_out(f"looks at {family.name}: none is on record for these scores")
    before: Mapping[str, Any] | None = None
    for number, record in enumerate(records, start=1):
        path = look_path(run.store, run.plan, family, number)
        made = look_record(run.store, run.plan, family, number, before)
        before = record
        if _later(record, made):
            check.left_out(f"{check.name(path)}: samples that had no score at the look have one now")
            continue
        told = {name: value for name, value in record.items() if name not in ("key", "schema_version")}
        check.compare(path, told, made)


def _later(record: Mapping[str, Any], made: Mapping[str, Any]) -> bool:
    """Whether a look made now would see more pairs than the one on record."""
    counts = [[own["seen"][-1]["n"] for own in side["contests"] if own["seen"]] for side in (record, made)]
    return len(counts[0]) == len(counts[1]) and any(was < now for was, now in zip(*counts, strict=True))
