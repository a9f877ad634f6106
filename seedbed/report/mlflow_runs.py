"""A sweep as runs of MLflow, a run a cell, written by MLflow's own library into a store of its kind."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.storage.store import Store, read_json
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import Plan

_DATABASE = "sqlite:///"
_SIGNS = {"@": "_at_", "^": "_all_"}
_NOT_A_NAME = re.compile(r"[^\w\-. /]")
_FILES = ("scores.jsonl", "predictions.jsonl", "config.json")


def write_mlflow_runs(store: Store, plan: Plan, cells: Sequence[Cell], target: str) -> int:
    """One run a cell in an experiment of the sweep's name: names as parameters, metrics and costs as metrics, its files
    as artifacts. A cell that is there already is left as it is. Returns how many were written."""
    client = _client(target)
    found = client.get_experiment_by_name(plan.config.name)
    # MLflow would put the files of a database's runs into the working directory.
    beside = str(Path(target.removeprefix(_DATABASE)).parent / "mlartifacts") if target.startswith(_DATABASE) else None
    experiment = found.experiment_id if found is not None else client.create_experiment(plan.config.name, beside)
    known = _known(client, experiment)
    new = [cell for cell in cells if cell.key("score") not in known]
    for cell in new:
        _write(client, experiment, store, plan, cell)
    return len(new)


def _client(target: str) -> Any:
    try:
        mlflow: Any = importlib.import_module("mlflow")
    except ImportError:
        raise UserError("--format mlflow: needs the package mlflow; pip install 'seedbed[mlflow]'.") from None
    try:
        return mlflow.MlflowClient(tracking_uri=target)
    except Exception as error:
        raise UserError(f"--to {target}: MLflow cannot open this store ({_first_line(error)}).") from None


def _known(client: Any, experiment: str) -> set[str]:
    found: set[str] = set()
    token = None
    while True:
        page = client.search_runs([experiment], page_token=token)
        found |= {run.data.tags.get("seedbed.score_key", "") for run in page}
        token = page.token
        if not token:
            return found


def _write(client: Any, experiment: str, store: Store, plan: Plan, cell: Cell) -> None:
    folder = store.cell_dir(cell)
    stored = read_json(folder / "metrics.json")
    tags = {
        "mlflow.runName": cell.title,
        "mlflow.source.name": "seedbed",
        "seedbed.cell_id": cell.id,
        "seedbed.score_key": cell.key("score"),
        "seedbed.simulated": str(plan.simulated).lower(),
    }
    run = client.create_run(experiment, tags=tags).info.run_id
    for name in ("suite", "benchmark", "system", "optimizer", "model", "seed"):
        client.log_param(run, name, getattr(cell, name))
    for name, value in {**stored["metrics"][cell.label], **_costs(stored["usage"])}.items():
        if isinstance(value, int | float):
            client.log_metric(run, _plain(name), float(value))
    for name in _FILES:
        if (folder / name).exists():
            client.log_artifact(run, str(folder / name))
    client.set_terminated(run)


def _costs(usage: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Of all phases together; what is unknown in one is unknown in all, and left out."""
    sums: dict[str, float] = {}
    for name in ("calls", "tokens_in", "tokens_out", "list_usd", "spent_usd"):
        parts = [phase[name] for phase in usage.values()]
        if None not in parts:
            sums[name] = sum(parts)
    return sums


def _plain(name: str) -> str:
    """MLflow takes letters, digits, and some signs."""
    for sign, word in _SIGNS.items():
        name = name.replace(sign, word)
    return _NOT_A_NAME.sub("_", name)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")


def default_store(folder: Path) -> str:
    """Where the runs go if nobody says: a database in the run's own folder."""
    return f"{_DATABASE}{folder.resolve() / 'mlflow.db'}"
