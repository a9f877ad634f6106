"""Aggregate: cells are paired in their groups, then summed up over seeds."""

from __future__ import annotations

from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from seedbed.phases import aggregate as phase


@task(name="pair", task_run_name="{group[1]} · {group[2]} · seed {group[3]} · pair", cache_policy=NO_CACHE)
def score_group(folder: str, group: tuple[str, str, str, int], finished: list[str]) -> dict[str, Any]:
    return phase.score_group(folder, group, finished)


@task(name="aggregate", task_run_name="summary over seeds", cache_policy=NO_CACHE)
def aggregate(folder: str, failures: dict[str, str], status: str) -> dict[str, Any]:
    return phase.aggregate(folder, failures, status)
