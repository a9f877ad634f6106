"""What a phase works with: its cell, its files, its models."""

from __future__ import annotations

import os
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from seedbed.errors import CellFailed
from seedbed.lm.current_sample import CURRENT_SAMPLE
from seedbed.lm.ledger import CallScope, Cap
from seedbed.lm.ledger.reads import PhaseUsage, phase_usage
from seedbed.lm.ledger.sample_usage import sample_usage
from seedbed.lm.runtime import Binding, LMRuntime, shared_runtime
from seedbed.phases.predict import read_prediction
from seedbed.phases.progress import report
from seedbed.phases.run_all import run_all
from seedbed.storage.hashing import hash_json
from seedbed.storage.paths import as_path, is_local
from seedbed.storage.store import Store, read_json, read_jsonl
from seedbed.suite import Address, Benchmark, Case, Prediction, SampleUsage, Suite
from seedbed.sweep.cell import Cell
from seedbed.sweep.plan import Plan, read_plan
from seedbed.sweep.resolved import ResolvedCell

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

    from seedbed.lm.embeddings import Embedder
    from seedbed.lm.lm import SeedbedLM

R = TypeVar("R")


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep, as its folder describes it: the plan, and what the command line added."""

    folder: Path
    plan: Plan
    store: Store
    replay: bool
    rescore: bool = False
    """Set where stored answers are scored again: nothing is generated."""
    ledger: str | None = None
    """Where the ledger lies, if elsewhere than the config says."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many samples a benchmark has, by experiment and name: known without reading its files."""

    results: Store | None = None
    """Where other cells' results lie, if elsewhere than the store."""

    def samples(self, cell: Cell) -> int | None:
        return self.sizes.get(size_key(cell))

    @property
    def generation(self) -> int:
        return self.plan.generation

    @property
    def ledger_url(self) -> str:
        return self.ledger or self.plan.config.ledger or self.store.ledger_url

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
    """The run whose plan lies in a folder; read once a process. Its root is found from where the folder lies now."""
    return read_run(as_path(folder))


def read_run(
    folder: Path,
    config_dir: Path | None = None,
    *,
    plugins: bool = True,
    plugins_beside: bool = True,
    moved: Mapping[str, str] | None = None,
    ledger: str | None = None,
) -> SweepRun:
    """The run in a folder as it is now, with its config in `config_dir` where that is known better than by the run."""
    settings = read_json(folder / "run.json")
    root = folder.parent.parent.parent
    beside = config_dir or config_folder(root, settings["config_dir"])
    return SweepRun(
        folder=folder,
        plan=read_plan(
            folder / "plan.json",
            beside,
            settings["generation"],
            plugins=plugins,
            plugins_beside=plugins_beside,
            moved=moved,
        ),
        store=Store(root),
        replay=settings["replay"],
        rescore=settings["rescore"],
        ledger=ledger,
        sizes=settings.get("sizes", {}),
    )


def size_key(cell: Cell) -> str:
    """Under which `sizes` has the cell's benchmark."""
    return f"{cell.experiment}:{cell.benchmark}"


def config_folder(root: Path, stored: str) -> Path:
    """Where the config of a run lies: beside the results as it was then, or where it was where they are objects."""
    return Path(os.path.normpath(root / stored)) if is_local(root) else Path(stored)


@dataclass(frozen=True)
class CellContext:
    """A cell in a phase. Systems and scorers see it as `seedbed.PhaseContext`."""

    run: SweepRun
    cell: Cell
    phase: str
    execution: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    asked: int | None = None
    """How many cases of the order are asked, where a cell is looked at while it grows; None: all."""
    kept: Mapping[str, Prediction] = field(default_factory=dict[str, Prediction], repr=False)
    """Answers of earlier looks, which are not asked again."""

    @cached_property
    def resolved(self) -> ResolvedCell:
        """What the cell's names stand for."""
        return self.run.plan.resolve(self.cell)

    @property
    def suite(self) -> Suite:
        return self.resolved.suite

    @property
    def seed(self) -> int:
        return self.cell.seed

    @property
    def cache_dir(self) -> Path:
        return self.run.store.cache_dir

    @property
    def folder(self) -> Path:
        return self.run.store.cell_dir(self.cell)

    @property
    def benchmark(self) -> Benchmark:
        return self._benchmark

    @cached_property
    def _benchmark(self) -> Benchmark:
        whole, looks = self.run.plan.benchmark(self.cell), self.run.plan.looks(self.cell)
        if self.asked is None or looks is None:
            return whole
        return replace(whole, test=looks.first(whole.test, self.asked))

    @property
    def runtime(self) -> LMRuntime:
        return self.run.runtime()

    def lm(self, role: str = "task") -> SeedbedLM:
        bound = self.binding(role)
        return self.runtime.lm(bound.scope, bound.caps)

    def has_role(self, role: str) -> bool:
        return role in self.run.plan.config.roles

    def embedder(self, role: str = "embedding") -> Embedder:
        bound = self.binding(role)
        return self.runtime.embedder(bound.scope, bound.caps)

    def client(self, role: str = "task") -> AsyncOpenAI:
        from seedbed.lm.gateway.clients import async_client

        return async_client(self.runtime, self.binding, role)

    def sync_client(self, role: str = "task") -> OpenAI:
        from seedbed.lm.gateway.clients import sync_client

        return sync_client(self.runtime, self.binding, role)

    def address(self, role: str = "task") -> Address:
        from seedbed.lm.gateway import gateway_of

        gateway = gateway_of(self.runtime)
        grant = gateway.grant(self.binding, role, CURRENT_SAMPLE.get())
        return Address(f"http://127.0.0.1:{gateway.port}", grant.key)

    async def release(self, address: Address) -> None:
        from seedbed.lm.gateway import gateway_of

        grant = gateway_of(self.runtime).end(address.key)
        if grant is not None:
            await grant.settled()

    def revoke(self, address: Address) -> None:
        from seedbed.lm.gateway import gateway_of

        gateway_of(self.runtime).end(address.key)

    def close(self) -> None:
        """The phase has ended: no key that was given for it is good any more."""
        from seedbed.lm.gateway import gateway_of

        if self.runtime.keeps("gateway"):
            gateway_of(self.runtime).end_phase(self.execution)

    def binding(self, role: str) -> Binding:
        """For whom a role's calls are made, with which model and under which caps."""
        name, model = self.resolved.model(role)
        config = self.run.plan.config
        scope = CallScope(
            sweep=config.name,
            cell=self.cell.id,
            phase=self.phase,
            role=role,
            execution=self.execution,
            model=name,
            seed=self.cell.seed,
            generation=self.run.generation,
            draws=self.run.plan.draws(self.cell),
        )
        caps: list[Cap] = []
        if config.budget.max_usd is not None:
            caps.append(Cap(f"sweep:{config.name}", config.budget.max_usd))
        if config.budget.max_usd_per_cell is not None:
            caps.append(Cap(f"cell:{self.cell.id}", config.budget.max_usd_per_cell))
        return Binding(scope, model, tuple(caps), self.resolved.normalise)

    async def each(self, cases: Sequence[Case], work: Callable[[Case], Awaitable[R]]) -> list[R]:
        done = count(1)
        return await self.each_telling(cases, work, lambda: report(self.cell, self.phase, next(done), len(cases)))

    async def each_telling(
        self, cases: Sequence[Case], work: Callable[[Case], Awaitable[R]], tell: Callable[[], None]
    ) -> list[R]:
        """`each`, for who tells on their own how far it has come: `tell` is called after every case."""
        results: dict[str, R] = {}

        async def one(case: Case) -> None:
            token = CURRENT_SAMPLE.set((case.sample_id, case.repeat))
            try:
                results[case.sample_id] = await work(case)
            finally:
                CURRENT_SAMPLE.reset(token)
            tell()

        models = [self.resolved.model(role)[1] for role in self._roles()]
        at_once = max(m.batch.max_waiting if m.is_batched(self.phase) else m.limits.concurrency for m in models)
        await run_all(self.runtime, cases, one, calls_at_once=at_once, cell=self.cell.id)
        return [results[case.sample_id] for case in cases]

    def account(self) -> dict[str, Any]:
        """Which rows of the ledger are this phase's, for its marker."""
        looked = {} if self.asked is None else {"asked": self.asked}
        return {"execution": self.execution, "generation": self.run.generation, **looked}

    def usage(self) -> PhaseUsage:
        """What this phase of the cell has used so far."""
        return phase_usage(self.runtime.ledger.engine, self.cell.id, self.phase, self.execution, self.run.generation)

    def answers_of_rival(self, against: str | None) -> Mapping[str, Prediction]:
        if against not in self._rivals:
            rival = self.run.plan.rival(self.cell, against)
            path = None if rival is None else self._results.cell_dir(rival) / "predictions.jsonl"
            rows = read_jsonl(path) if path is not None and path.exists() else ()
            self._rivals[against] = {row["sample_id"]: read_prediction(row) for row in rows}
        return self._rivals[against]

    def need_rivals(self) -> None:
        """Refuse to score before the answers are there that scorers compare with: nothing would score them later."""
        for scorer in self.resolved.scorers:
            rival = self.run.plan.rival(self.cell, scorer.options.against) if scorer.spec.pairs else None
            if rival and not self._results.done(rival, "generate", rival.key("generate"), self.run.generation):
                raise CellFailed(f"{self.cell.title}: {rival.title!r}, which it is compared with, has no answers")

    @cached_property
    def _rivals(self) -> dict[str | None, Mapping[str, Prediction]]:
        return {}

    @property
    def _results(self) -> Store:
        """Where the results of other cells lie."""
        return self.run.results or self.run.store

    def sample_usage(self) -> Mapping[str, SampleUsage]:
        marker = self.folder / "done" / "generate.json"
        if not marker.exists():
            return {}
        execution = read_json(marker)["result"]["execution"]
        found = sample_usage(self.runtime.ledger.engine, self.cell.id, "generate", execution)
        if self.resolved.model()[1].simulated:  # how long a program took says nothing of a model
            return {sample: replace(usage, latency_s=None) for sample, usage in found.items()}
        return found

    def _roles(self) -> tuple[str, ...]:
        return ("task",) if self.phase != "score" else (self.resolved.score_roles or ("task",))
