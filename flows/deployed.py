"""The sweep as it is deployed: parameters that a form in the UI can show, from a config to its results."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from pydantic import BaseModel, ConfigDict, Field

from flows.sweep import sweep_on
from seedbed.config import load_config
from seedbed.errors import SeedbedError
from seedbed.launch import prepare
from seedbed.lm.runtime import close_runtimes
from seedbed.plan import make_plan, missing_keys
from seedbed.store import read_json


class SweepParameters(BaseModel):
    """What to run. Paths are those of the machine the worker runs on."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    config: str
    """Path of the sweep's YAML file."""
    overrides: list[str] = Field(default_factory=list)
    """Fields to override, each as field.path=value."""
    out: str | None = None
    """Where results go; empty takes `out` of the config, from the folder the worker runs in."""
    fresh: bool = False
    """Use nothing made before: pay for every call again."""


class SweepNotCompleted(SeedbedError):
    """A deployed sweep that has not all its results; its message says how many."""


@flow(name="run sweep", flow_run_name="run {parameters.config}")
async def run_config(parameters: SweepParameters) -> str:
    """Plan a config and run it; returns the folder of the results."""
    folder, status = await run_to_folder(parameters)
    if status != "completed":
        raise SweepNotCompleted(f"the sweep ended {status}; see {folder}")
    return str(folder)


async def run_to_folder(parameters: SweepParameters) -> tuple[Path, str]:
    """Run a sweep as part of another flow; returns its folder and how it ended."""
    config, source = load_config(Path(parameters.config), parameters.overrides)
    plan = make_plan(config, source)
    missing_keys(config, source)
    plan.load_benchmarks()
    folder = prepare(plan, Path(parameters.out or config.out).resolve(), fresh=parameters.fresh)
    try:
        await sweep_on(config.runner)(str(folder), return_state=True)
    finally:
        close_runtimes()
    summary = folder / "summary.json"
    return folder, read_json(summary)["status"] if summary.exists() else "crashed"
