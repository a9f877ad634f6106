"""How the phases of a cell are cached, named and retried on Prefect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prefect import Task, task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.runtime import task_run
from sqlalchemy.exc import OperationalError

from seedbed.hashing import hash_json
from seedbed.paths import is_storage_fault
from seedbed.phases.context import open_run
from seedbed.phases.run import Phase, inputs_hash

PhaseTask = Task[..., dict[str, Any]]
"""Takes the folder of the sweep's run and the id of a cell; only these travel, the rest is read from files."""


def phase_task(phase: Phase) -> Callable[[Callable[[str, str], dict[str, Any]]], PhaseTask]:
    """Decorator: the task of a phase. Finished phases of earlier runs come back Cached."""
    return task(
        name=phase,
        task_run_name=_run_name,
        cache_policy=CacheKeyFnPolicy(cache_key_fn=_cache_key(phase)),
        persist_result=True,
        result_serializer="json",
        retries=2,
        retry_delay_seconds=[2.0, 10.0],
        retry_condition_fn=_infrastructure_fault,
    )


def _cache_key(phase: Phase) -> Callable[[Any, dict[str, Any]], str]:
    """The cell, the phase, the files it starts from and the root its files lie under. Prefect's own policies contain
    the run's id and would forget everything with the run."""

    def key(_context: Any, parameters: dict[str, Any]) -> str:
        run, cell_id = open_run(parameters["folder"]), parameters["cell_id"]
        identity = [cell_id, phase, inputs_hash(run, cell_id, phase), run.fresh_since, str(run.store.root)]
        return f"seedbed-{hash_json(identity)}"

    return key


def _infrastructure_fault(_task: Any, _task_run: Any, state: Any) -> bool:
    """Retry what a second try can mend: a disk, object storage, a database; never a model's answer or a user's
    mistake."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, OSError | OperationalError) or (isinstance(error, Exception) and is_storage_fault(error))


def _run_name() -> str:
    """`multi · tiny · reader · seed 2 · generate`."""
    parameters = task_run.parameters
    cell = open_run(parameters["folder"]).plan.cell(parameters["cell_id"])
    return f"{cell.title} · {task_run.task_name}"
