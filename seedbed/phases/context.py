"""What a phase works with: its cell, its files, its models."""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.cell import Cell
from seedbed.hashing import hash_json
from seedbed.lm.ledger import CallScope, Cap
from seedbed.lm.runtime import LMRuntime, shared_runtime
from seedbed.plan import Plan, read_plan
from seedbed.registry import get_suite
from seedbed.store import Store, read_json
from seedbed.suite import Benchmark, Suite, resolve

if TYPE_CHECKING:
    from seedbed.lm.lm import SeedbedLM


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep, as its folder describes it: the plan, and what the command line added."""

    folder: Path
    plan: Plan
    store: Store
    fresh_since: float
    replay: bool

    @property
    def ledger_url(self) -> str:
        return self.plan.config.ledger or self.store.ledger_url

    def runtime(self) -> LMRuntime:
        """The LM runtime of this process for this sweep's models."""
        config = self.plan.config
        models = hash_json({name: model.model_dump(mode="json") for name, model in config.models.items()})
        return shared_runtime(
            (self.ledger_url, models, self.replay),
            lambda: LMRuntime(self.ledger_url, config.models, store_bodies=config.store_bodies, replay=self.replay),
        )


@lru_cache(maxsize=8)
def open_run(folder: str) -> SweepRun:
    """The run whose plan lies in a folder; read once a process."""
    path = Path(folder)
    settings = read_json(path / "run.json")
    return SweepRun(
        folder=path,
        plan=read_plan(path / "plan.json"),
        store=Store(Path(settings["root"])),
        fresh_since=settings["fresh_since"],
        replay=settings["replay"],
    )


@dataclass(frozen=True)
class CellContext:
    """A cell in a phase. Systems and scorers see it as `seedbed.PhaseContext`."""

    run: SweepRun
    cell: Cell
    phase: str
    execution: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    @property
    def suite(self) -> Suite:
        return get_suite(self.cell.suite)

    @property
    def seed(self) -> int:
        return self.cell.seed

    @property
    def cache_dir(self) -> Path:
        return self.run.store.cache_dir

    @cached_property
    def benchmark(self) -> Benchmark:
        return _load_benchmark(self.run, self.cell)

    @cached_property
    def runtime(self) -> LMRuntime:
        return self.run.runtime()

    def lm(self, role: str = "task") -> SeedbedLM:
        name, _ = self.run.plan.model(self.cell, role)
        config = self.run.plan.config
        scope = CallScope(
            sweep=config.name,
            cell=self.cell.id,
            phase=self.phase,
            role=role,
            execution=self.execution,
            model=name,
            seed=self.cell.seed,
            fresh_since=self.run.fresh_since,
        )
        caps: list[Cap] = []
        if config.budget.max_usd is not None:
            caps.append(Cap(f"sweep:{config.name}", config.budget.max_usd))
        if config.budget.max_usd_per_cell is not None:
            caps.append(Cap(f"cell:{self.cell.id}", config.budget.max_usd_per_cell))
        return self.runtime.lm(scope, tuple(caps))


_benchmarks: dict[tuple[str, str, str], Benchmark] = {}
_benchmarks_lock = threading.Lock()


def _load_benchmark(run: SweepRun, cell: Cell) -> Benchmark:
    """Loaded once a process: cells of all systems and seeds share it."""
    key = (str(run.folder), cell.suite, cell.benchmark)
    with _benchmarks_lock:
        if key not in _benchmarks:
            _benchmarks[key] = resolve(run.plan.benchmark_spec(cell).load)(run.plan.benchmark_options(cell))
        return _benchmarks[key]
