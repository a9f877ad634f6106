"""The accepted baseline: what a sweep scored, sample by sample, kept in a file that later runs cannot change.

Run folders of cells are written over by the next fresh run; a baseline is a copy of all that a comparison needs.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.analysis.answerers import Answerers
from seedbed.analysis.score_table import ScoreTable, TableKey
from seedbed.errors import UserError
from seedbed.lm.ledger.answerers import answerers
from seedbed.lm.ledger.database import open_database
from seedbed.lm.ledger.reads import paid_latencies
from seedbed.nightly.kept import keep, kept_folder
from seedbed.phases.context import SweepRun
from seedbed.phases.score_tables import score_tables
from seedbed.storage.hashing import hash_json
from seedbed.storage.objects import subfolders
from seedbed.storage.paths import as_path, is_local
from seedbed.storage.store import Store, read_json, read_json_if_there, write_json
from seedbed.suite import Metric
from seedbed.sweep.cell import Cell
from seedbed.sweep.manifest import git_state

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TICK_S, _STORAGE_TICK_S = 0.1, 2.0
"""A file's time comes from a coarser clock than `time.time()`, an object's has whole seconds."""
_VERSION = re.compile(r"v(\d+)\.json")


@dataclass(frozen=True, slots=True)
class Figures:
    """What a system needed in one table, over all its seeds."""

    n_seeds: int
    n_samples: int
    """Samples put to it, scored or not; each counts once a seed."""
    n_errors: int
    tokens: int
    list_usd: float | None
    latency_s: float | None
    """Median of its paid calls; None where it made none."""
    n_latencies: int

    @property
    def error_share(self) -> float | None:
        return self.n_errors / self.n_samples if self.n_samples else None


@dataclass(frozen=True)
class Entry:
    """A table with the figures of its systems."""

    table: ScoreTable
    made_with: Mapping[str, str]
    """Version of the suite's scoring and hash of the benchmark's data: scores under others do not compare."""
    figures: Mapping[str, Figures]
    answerers: Answerers = ()
    """Who answered in the run; of baselines accepted before this was taken down, nobody knows."""


@dataclass(frozen=True)
class Baseline:
    """An accepted run. `version` counts up from 1; no version is ever changed."""

    version: int
    sweep: str
    run: str
    accepted_at: str
    commit: str | None
    note: str
    entries: Sequence[Entry]

    @property
    def title(self) -> str:
        return f"v{self.version} (run {self.run}, accepted {self.accepted_at[:10]})"


def results(run: SweepRun) -> list[Entry]:
    """What the finished cells of a run scored and needed."""
    engine = open_database(run.ledger_url)
    try:
        latencies = paid_latencies(engine, [cell.id for cell in run.plan.cells], run.generation)
        who = answerers(engine, run.plan.config.name, run.generation)
    finally:
        engine.dispose()
    return [
        Entry(
            table,
            _made_with(run, table),
            {label: _figures(table, label, latencies) for label in table.values},
            who,
        )
        for table in score_tables(run.store, run.plan)
    ]


def accept(run: SweepRun, note: str = "") -> tuple[Baseline, Path]:
    """Make a finished run the baseline of its sweep: a new version beside the old ones."""
    refuse_unfinished(run)
    name = run.plan.config.name
    found = versions(run.store, name)
    commit = dict(git_state()).get("commit")
    accepted = Baseline(
        version=1 + (found[-1][0] if found else 0),
        sweep=name,
        run=run.folder.name,
        accepted_at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        commit=commit,
        note=note,
        entries=results(run),
    )
    path = _folder(run.store, name) / f"v{accepted.version:04d}.json"
    if path.exists():
        raise UserError(f"{path}: another process has just accepted a baseline; look at it, then run again.")
    keep(run, kept_folder(path))
    write_json(path, to_json(accepted))
    return accepted, path


def versions(store: Store, sweep: str) -> list[tuple[int, Path]]:
    """Numbers and files of all baselines of a sweep, oldest first."""
    folder = _folder(store, sweep)
    names = (_VERSION.fullmatch(name) for name in subfolders(folder))
    return sorted((int(found[1]), folder / found[0]) for found in names if found)


def current(store: Store, sweep: str, file: str | None = None) -> Baseline | None:
    """The baseline a run is held against; None if there is none yet."""
    path = current_path(store, sweep, file)
    return None if path is None else read_baseline(path)


def current_path(store: Store, sweep: str, file: str | None = None) -> Path | None:
    """Its file: of the newest version, or the one that the config names."""
    if file is not None:
        path = as_path(file)
        if not path.exists():
            raise UserError(f"gate.baseline: {path} does not exist; `seedbed baseline accept` makes baselines.")
        return path
    found = versions(store, sweep)
    return found[-1][1] if found else None


def read_baseline(path: Path) -> Baseline:
    try:
        data = read_json(path)
        return Baseline(
            **{name: data[name] for name in ("version", "sweep", "run", "accepted_at", "commit", "note")},
            entries=[_read_entry(entry) for entry in data["entries"]],
        )
    except (ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UserError(
            f"{path}: not a baseline ({reason}); restore the file or accept one anew with `seedbed baseline accept`."
        ) from None


def to_json(baseline: Baseline) -> dict[str, Any]:
    data = {name: getattr(baseline, name) for name in Baseline.__dataclass_fields__ if name != "entries"}
    return data | {"entries": [_entry_json(entry) for entry in baseline.entries]}


def _folder(store: Store, sweep: str) -> Path:
    return store.root / "baselines" / sweep


def refuse_unfinished(run: SweepRun, remedy: str = "accept the newest run") -> None:
    """Only a completed run counts, and only while its scores are those on disk."""
    summary = run.folder / "summary.json"
    status = read_json(summary)["status"] if summary.exists() else "unfinished"
    if status != "completed":
        raise UserError(
            f"{run.folder}: this run is {status}, and a baseline needs every cell; go on with `seedbed run` first."
        )
    written = summary.stat().st_mtime + (_TICK_S if is_local(summary) else _STORAGE_TICK_S)
    changed = [cell.title for cell in run.plan.cells if _scored_at(run, cell) > written]
    if changed:
        raise UserError(f"{run.folder}: {changed[0]} was run again since, so this run's scores are gone; {remedy}.")


def _scored_at(run: SweepRun, cell: Cell) -> float:
    """When a cell got its scores; in the future where it has none, as one that is being run."""
    marker = read_json_if_there(run.store.cell_dir(cell) / "done" / "score.json")
    return marker["finished_at"] if marker else math.inf


def _made_with(run: SweepRun, table: ScoreTable) -> dict[str, str]:
    """What must be the same in two runs whose scores are compared."""
    cell = run.plan.cell(next(iter(table.cells.values()))[0].id)
    return {"scoring": hash_json(dict(cell.scoring)), "data": run.plan.data_hash(cell)}


def _figures(table: ScoreTable, label: str, latencies: Mapping[str, Sequence[float]]) -> Figures:
    seeds = table.seeds[label].values()
    took = [latency for cell in table.cells[label] for latency in latencies.get(cell.id, ())]
    return Figures(
        n_seeds=len(seeds),
        n_samples=sum(own["n"] + own["n_errors"] + own["n_skipped"] for own in seeds),
        n_errors=sum(own["n_errors"] for own in seeds),
        tokens=sum(usage["tokens_in"] + usage["tokens_out"] for own in seeds for usage in own["usage"].values()),
        list_usd=_sum_known(usage["list_usd"] for own in seeds for usage in own["usage"].values()),
        latency_s=statistics.median(took) if took else None,
        n_latencies=len(took),
    )


def _sum_known(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def _entry_json(entry: Entry) -> dict[str, Any]:
    table = entry.table
    return {
        "table": list(table.key),
        "made_with": dict(entry.made_with),
        "metrics": [asdict(metric) for metric in table.declared],
        "sample_ids": list(table.sample_ids),
        "clusters": table.clusters.tolist(),
        "values": {label: _undefined_as_null(values.tolist()) for label, values in table.values.items()},
        "by_seed": {
            label: {str(seed): _undefined_as_null(values.tolist()) for seed, values in table.by_seed[label].items()}
            for label in table.values
            if label in table.made_by_seed
        },
        "figures": {label: asdict(figures) for label, figures in entry.figures.items()},
        "answerers": list(entry.answerers),
    }


def _undefined_as_null(rows: Sequence[Sequence[float]]) -> list[list[float | None]]:
    return [[None if math.isnan(value) else value for value in row] for row in rows]


def _metric(data: Mapping[str, Any]) -> Metric:
    ends = data["range"]
    own = {name: value for name, value in data.items() if name != "range"}
    return Metric(**own, range=None if ends is None else (ends[0], ends[1]))


def _read_entry(data: Mapping[str, Any]) -> Entry:
    import numpy as np

    suite, benchmark, model = data["table"]
    key: TableKey = (suite, benchmark, model)
    width = len(data["metrics"])

    def array(rows: Sequence[Sequence[float | None]]) -> NDArray[np.float64]:
        # None becomes nan.
        return np.array(rows, dtype=np.float64).reshape(len(rows), width)

    values = {label: array(rows) for label, rows in data["values"].items()}
    by_seed = data.get("by_seed", {})
    table = ScoreTable(
        key=key,
        baseline=next(iter(values)),
        declared=[_metric(metric) for metric in data["metrics"]],
        reference=frozenset(),
        sample_ids=data["sample_ids"],
        clusters=np.array(data["clusters"], dtype=np.int64),
        values=values,
        seeds={},
        cells={},
        failures=[],
        failure_counts={},
        by_seed={label: {int(seed): array(rows) for seed, rows in own.items()} for label, own in by_seed.items()},
        made_by_seed=frozenset(by_seed),
    )
    figures = {label: Figures(**found) for label, found in data["figures"].items()}
    return Entry(table, data["made_with"], figures, data.get("answerers", ()))
