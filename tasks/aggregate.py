"""Aggregate: cells are paired in their groups, then summed up over seeds."""

from __future__ import annotations

from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import task_run

from seedbed.phases import aggregate as phase
from seedbed.phases.aggregate import GroupKey


def _run_name() -> str:
    """`tiny · reader · seed 2 · pair`, and how many more where a task has several groups."""
    (_, benchmark, model, seed), _ = task_run.parameters["groups"][0]
    more = len(task_run.parameters["groups"]) - 1
    return f"{benchmark} · {model} · seed {seed}{f' and {more} more' if more else ''} · pair"


@task(name="pair", task_run_name=_run_name, cache_policy=NO_CACHE)
def score_groups(folder: str, groups: list[tuple[GroupKey, list[str]]]) -> list[str]:
    """Pair the finished cells of each group; returns the paths of their metrics."""
    return [str(phase.score_group(folder, group, finished)) for group, finished in groups]


@task(name="aggregate", task_run_name="summary over seeds", cache_policy=NO_CACHE)
def aggregate(folder: str, failures: dict[str, str], status: str) -> dict[str, Any]:
    return phase.aggregate(folder, failures, status)
