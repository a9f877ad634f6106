"""The phases of a cell as tasks: how they are cached, named and retried on Prefect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefect import Task, task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.runtime import task_run
from sqlalchemy.exc import OperationalError

from seedbed.phases.context import open_run
from seedbed.storage.paths import is_storage_fault
from seedbed.sweep.cell import Phase
from tasks.progress_artifact import run_with_progress

PhaseTask = Task[..., dict[str, Any]]
"""Takes the folder of the sweep's run and the id of a cell; only these travel, the rest is read from files."""


Step = tuple[Phase, ...]
"""Phases that one task does, one after the other."""


def _step_task(step: Step) -> PhaseTask:
    """Finished phases of earlier runs come back Cached, under the key of the last of them, which holds those before it.
    Prefect's policies contain the run's id and would forget everything with the run. A second try finds the phases that
    the first one finished."""

    def key(_context: Any, parameters: dict[str, Any]) -> str:
        key = open_run(parameters["folder"]).plan.cell(parameters["cell_id"]).key(step[-1])
        # What a further look adds is another result under the same key of the phase.
        return key if parameters["look"] is None else f"{key}-{parameters['look']}"

    @task(
        name=" and ".join(step),
        task_run_name=_run_name,
        cache_policy=CacheKeyFnPolicy(cache_key_fn=key),
        persist_result=True,
        result_serializer="json",
        retries=2,
        retry_delay_seconds=[2.0, 10.0],
        retry_condition_fn=_infrastructure_fault,
    )
    def work(folder: str, cell_id: str, look: int | None = None) -> dict[str, Any]:
        results = [run_with_progress(folder, cell_id, phase, look) for phase in step]
        return results[-1]

    return work


def _infrastructure_fault(_task: Any, _task_run: Any, state: Any) -> bool:
    """Retry what a second try can mend: a disk, object storage, a database; never a model's answer or a user's
    mistake."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, OSError | OperationalError) or (isinstance(error, Exception) and is_storage_fault(error))


def _run_name() -> str:
    """`multi · tiny · reader · seed 2 · generate and score`, with the look where a cell grows."""
    parameters = task_run.parameters
    cell = open_run(parameters["folder"]).plan.cell(parameters["cell_id"])
    look = parameters.get("look")
    return f"{cell.title} · {task_run.task_name}{f' · look {look}' if look else ''}"


_STEPS: tuple[Step, ...] = (("optimise",), ("generate", "score"), ("score",))

STEP_TASKS: Mapping[Step, PhaseTask] = {step: _step_task(step) for step in _STEPS}
