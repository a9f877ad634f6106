"""From a config to the list of cells: every name checked, every id computed, nothing run."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from seedbed.cell import Cell, cell_id
from seedbed.config import BenchmarkConfig, Experiment, ModelConfig, OptimizerConfig, SweepConfig, SystemConfig
from seedbed.errors import UserError
from seedbed.hashing import hash_files, hash_json
from seedbed.optimizers import BASELINE, OptimizerSpec, find_optimizer, optimizer_names
from seedbed.registry import get_suite, import_plugins, nearest, suite_names
from seedbed.suite import Benchmark, BenchmarkOptions, BenchmarkSpec, Options, Suite, SystemSpec, resolve
from seedbed.yamlfile import FieldPath, YamlFile

PLAN_SCHEMA_VERSION = 1

NamedT = TypeVar("NamedT", BenchmarkConfig, SystemConfig, OptimizerConfig)


@dataclass(frozen=True, eq=False)
class Plan:
    """What a sweep will do. It is written to plan.json, from which every task reads its part."""

    config: SweepConfig
    config_dir: str
    cells: tuple[Cell, ...]
    _loaded: dict[tuple[int, str], Benchmark] = field(default_factory=dict[tuple[int, str], Benchmark], repr=False)
    _loading: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def cell(self, cell_id: str) -> Cell:
        return self._by_id[cell_id]

    def benchmark(self, cell: Cell) -> Benchmark:
        """The cases a cell is asked, loaded once: cells of all systems and seeds share them."""
        key = (cell.experiment, cell.benchmark)
        with self._loading:
            if key not in self._loaded:
                self._loaded[key] = resolve(self.benchmark_spec(cell).load)(self.benchmark_options(cell))
            return self._loaded[key]

    def load_benchmarks(self) -> None:
        """Read every file of cases now, so that a broken one is refused before anything runs."""
        for cell in self.cells:
            self.benchmark(cell)

    def experiment(self, cell: Cell) -> Experiment:
        return self.config.experiments[cell.experiment]

    def benchmark_options(self, cell: Cell) -> BenchmarkOptions:
        config = _shown(self.experiment(cell).benchmarks, cell.benchmark)
        return _benchmark_options(self.benchmark_spec(cell), config, Path(self.config_dir))

    def benchmark_spec(self, cell: Cell) -> BenchmarkSpec:
        return get_suite(cell.suite).benchmarks[_shown(self.experiment(cell).benchmarks, cell.benchmark).name]

    def data_hash(self, cell: Cell) -> str:
        """The hash of the files the cell's benchmark is read from."""
        path = self.benchmark_options(cell).path or self.benchmark_spec(cell).data
        assert path is not None
        return _data_hash(path)

    def system_options(self, cell: Cell) -> Options:
        config = _shown(self.experiment(cell).systems, cell.system)
        return resolve(self.system_spec(cell).options)(**config.options)

    def system_spec(self, cell: Cell) -> SystemSpec:
        return get_suite(cell.suite).systems[_shown(self.experiment(cell).systems, cell.system).name]

    def optimizer(self, cell: Cell) -> OptimizerConfig:
        return _shown(self.experiment(cell).optimizers, cell.optimizer)

    def optimizer_spec(self, cell: Cell) -> OptimizerSpec | None:
        """None for Baseline."""
        return find_optimizer(self.optimizer(cell).name)

    def optimizer_options(self, cell: Cell) -> Options:
        spec = self.optimizer_spec(cell)
        return spec.options(**self.optimizer(cell).options) if spec else Options()

    def cache_source(self, cell: Cell) -> Cell | None:
        """The cell that must be done before this one, as its optimizer's `use_cache_from` asks."""
        wanted = getattr(self.optimizer_options(cell), "use_cache_from", None)
        twins = (other for other in self.cells if other.group == cell.group and other.system == cell.system)
        return next((other for other in twins if other.optimizer == wanted), None) if wanted else None

    def pool(self, cell: Cell) -> str:
        """Whose random draws a cell shares: an optimised cell makes its own unless `use_cache_from` names another's."""
        source = self.cache_source(cell)
        if source is not None:
            return self.pool(source)
        return cell.optimizer if self.optimizer_spec(cell) else ""

    def roles(self, cell: Cell) -> tuple[str, ...]:
        """Roles beside `task` whose models have a part in the cell's figures."""
        return _roles(self.config, get_suite(cell.suite), self.system_spec(cell), self.optimizer_spec(cell))

    def score_roles(self, cell: Cell) -> tuple[str, ...]:
        """Roles whose models the scorer calls for a cell."""
        suite = get_suite(cell.suite)
        return tuple(role for role in suite.score_roles if _is_played(self.config, suite, role))

    def model(self, cell: Cell, role: str = "task") -> tuple[str, ModelConfig]:
        """Name and settings of the model that plays a role for a cell; a role without one is played by the cell's."""
        name = cell.model if role == "task" else self.config.roles.get(role, cell.model)  # type: ignore[call-overload]
        return name, self.config.models[name]

    def groups(self) -> dict[tuple[str, str, str, int], list[Cell]]:
        grouped: dict[tuple[str, str, str, int], list[Cell]] = {}
        for cell in self.cells:
            grouped.setdefault(cell.group, []).append(cell)
        return grouped

    @property
    def simulated(self) -> bool:
        """Whether any figure of this sweep comes from the offline model."""
        return any(model.simulated for model in self.config.models.values())

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": PLAN_SCHEMA_VERSION,
            "config": self.config.model_dump(mode="json"),
            "config_dir": self.config_dir,
            "cells": [asdict(cell) for cell in self.cells],
        }

    @cached_property
    def _by_id(self) -> dict[str, Cell]:
        return {cell.id: cell for cell in self.cells}


def read_plan(path: Path) -> Plan:
    """The plan of a sweep as it was written; its plugins are imported."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if data["schema_version"] != PLAN_SCHEMA_VERSION:
        raise UserError(
            f"{path}: schema_version is {data['schema_version']}, this Seedbed reads {PLAN_SCHEMA_VERSION}."
        )
    config = SweepConfig.model_validate(data["config"])
    import_plugins(config.plugins, Path(data["config_dir"]))
    return Plan(config, data["config_dir"], tuple(Cell(**cell) for cell in data["cells"]))


def make_plan(config: SweepConfig, source: YamlFile) -> Plan:
    """Check every name and option of a config against the registry and lay out its cells."""
    folder = source.path.resolve().parent
    import_plugins(config.plugins, folder)
    _check_roles(config, source)
    cells: list[Cell] = []
    seen: dict[str, Cell] = {}
    for index, experiment in enumerate(config.experiments):
        at: FieldPath = ("experiments", index)
        for cell in _cells(config, index, experiment, source, at, folder):
            _refuse_clash(cell, at, [c for c in (seen.get(cell.folder), seen.get(cell.id)) if c], source)
            seen[cell.folder] = seen[cell.id] = cell
            cells.append(cell)
    whole = _with_standing_systems(config)
    for index, experiment in enumerate(whole.experiments):
        for cell in _standing_cells(whole, index, config.experiments[index], experiment, source, folder):
            if cell.folder not in seen and cell.id not in seen:
                seen[cell.folder] = seen[cell.id] = cell
                cells.append(cell)
    return Plan(whole, str(folder), tuple(cells))


def _with_standing_systems(config: SweepConfig) -> SweepConfig:
    """The config with the systems that each suite wants in every table, behind those it names itself."""
    experiments: list[Experiment] = []
    for experiment in config.experiments:
        taken = {name for s in experiment.systems for name in (s.name, s.shown)}
        missing = [name for name in get_suite(experiment.suite).standing_systems if name not in taken]
        systems = [*experiment.systems, *(SystemConfig(name=name) for name in missing)]
        experiments.append(experiment.model_copy(update={"systems": systems}))
    return config.model_copy(update={"experiments": experiments})


def _standing_cells(
    config: SweepConfig, index: int, named: Experiment, whole: Experiment, source: YamlFile, folder: Path
) -> Iterator[Cell]:
    """Cells of the systems that `whole` has beyond `named`; there is nothing in them to optimise."""
    added = whole.model_copy(
        update={
            "systems": whole.systems[len(named.systems) :],
            "optimizers": [o for o in whole.optimizers if o.name == BASELINE],
        }
    )
    return _cells(config, index, added, source, ("experiments", index), folder)


def missing_keys(config: SweepConfig, source: YamlFile) -> None:
    """Refuse to start where a model that is used names a key variable that is not set."""
    used = {name for experiment in config.experiments for name in experiment.models} | set(config.roles.values())
    for name in sorted(used):
        variable = config.models[name].api_key_env
        if variable and not os.environ.get(variable):
            raise source.error(
                ("models", name, "api_key_env"), f"the environment variable {variable} is not set; export it first."
            )


def _cells(
    config: SweepConfig, index: int, experiment: Experiment, source: YamlFile, at: FieldPath, folder: Path
) -> Iterator[Cell]:
    if experiment.suite not in suite_names():
        raise source.error(
            (*at, "suite"), f"unknown suite {experiment.suite!r}; {nearest(experiment.suite, suite_names())}"
        )
    suite = get_suite(experiment.suite)
    _check_names(experiment, suite, config, source, at)
    benchmarks = {b.shown: _benchmark_identity(suite, b, source, (*at, "benchmarks", i), folder)
                  for i, b in enumerate(experiment.benchmarks)}  # fmt: skip
    systems = {
        s.shown: _system_identity(suite, s, source, (*at, "systems", i)) for i, s in enumerate(experiment.systems)
    }
    optimizers = {
        o.shown: _optimizer_identity(o, source, (*at, "optimizers", i)) for i, o in enumerate(experiment.optimizers)
    }
    _check_optimizable(suite, experiment, source, at, folder)
    for seed in config.seeds:
        for model in experiment.models:
            for benchmark in experiment.benchmarks:
                for system in experiment.systems:
                    for optimizer in experiment.optimizers:
                        needed = _roles(config, suite, suite.systems[system.name], find_optimizer(optimizer.name))
                        roles = {role: config.models[config.roles.get(role, model)] for role in needed}  # type: ignore[call-overload]
                        identity = cell_id(
                            suite=suite.name,
                            suite_version=suite.version,
                            benchmark=benchmarks[benchmark.shown],
                            system=systems[system.shown],
                            optimizer=optimizers[optimizer.shown],
                            model=config.models[model],
                            roles=roles,
                            seed=seed,
                        )
                        yield Cell(
                            identity, index, suite.name, benchmark.shown, system.shown, optimizer.shown, model, seed
                        )


def _check_names(experiment: Experiment, suite: Suite, config: SweepConfig, source: YamlFile, at: FieldPath) -> None:
    for i, model in enumerate(experiment.models):
        if model not in config.models:
            raise source.error((*at, "models", i), f"unknown model {model!r}; {nearest(model, config.models)}")
    known: tuple[tuple[str, Iterable[BenchmarkConfig | SystemConfig | OptimizerConfig], Iterable[str]], ...] = (
        ("benchmarks", experiment.benchmarks, suite.benchmarks),
        ("systems", experiment.systems, suite.systems),
        ("optimizers", experiment.optimizers, optimizer_names()),
    )
    for kind, entries, names in known:
        for i, entry in enumerate(entries):
            if entry.name not in names and not (kind == "optimizers" and find_optimizer(entry.name)):
                what = f"unknown {kind[:-1]} {entry.name!r} of suite {suite.name!r}"
                raise source.error((*at, kind, i), f"{what}; {nearest(entry.name, names)}")
        counts = Counter(entry.shown for entry in entries)
        for i, entry in enumerate(entries):
            if counts[entry.shown] > 1:
                raise source.error(
                    (*at, kind, i), f"{entry.shown!r} is named twice; give one of them another label: {{label: ...}}."
                )


def _check_roles(config: SweepConfig, source: YamlFile) -> None:
    for role, model in config.roles.items():
        if model not in config.models:
            raise source.error(("roles", role), f"unknown model {model!r}; {nearest(model, config.models)}")


def _benchmark_identity(
    suite: Suite, config: BenchmarkConfig, source: YamlFile, at: FieldPath, folder: Path
) -> Mapping[str, Any]:
    spec = suite.benchmarks[config.name]
    try:
        options = _benchmark_options(spec, config, folder)
    except ValidationError as error:
        raise _option_error(error, resolve(spec.options), f"benchmark {config.name!r}", source, at) from None
    data = options.path or spec.data
    if data is None:
        raise source.error((*at, "path"), f"benchmark {config.name!r} ships no data; give the path of a file.")
    if not data.exists():
        raise source.error((*at, "path"), f"{data} does not exist; paths are taken from the folder of the config file.")
    chosen = options.model_dump(mode="json", exclude_defaults=True, exclude={"path"})
    return {"name": config.name, "options": chosen, "data": _data_hash(data)}


def _system_identity(suite: Suite, config: SystemConfig, source: YamlFile, at: FieldPath) -> Mapping[str, Any]:
    kind = resolve(suite.systems[config.name].options)
    try:
        options = kind(**config.options)
    except ValidationError as error:
        raise _option_error(error, kind, f"system {config.name!r}", source, at) from None
    return {"name": config.name, "options": options.model_dump(mode="json", exclude_defaults=True)}


def _optimizer_identity(config: OptimizerConfig, source: YamlFile, at: FieldPath) -> Mapping[str, Any]:
    spec = find_optimizer(config.name)
    kind = spec.options if spec else Options
    try:
        options = kind(**config.options)
    except ValidationError as error:
        raise _option_error(error, kind, f"optimizer {config.name!r}", source, at) from None
    # How many threads ask at once changes nothing that is found.
    return {"name": config.name, **options.model_dump(mode="json", exclude_defaults=True, exclude={"threads"})}


def _check_optimizable(suite: Suite, experiment: Experiment, source: YamlFile, at: FieldPath, folder: Path) -> None:
    """An optimizer needs feedback from the suite, and train and val cases from the benchmark."""
    number = next((i for i, o in enumerate(experiment.optimizers) if o.name != BASELINE), None)
    if number is None:
        return
    name = experiment.optimizers[number].name
    # Only what waits for nobody can be waited for.
    labels = [o.shown for o in experiment.optimizers if "use_cache_from" not in o.options]
    for i, entry in enumerate(experiment.optimizers):
        wanted = entry.options.get("use_cache_from")
        if wanted is not None and (wanted not in labels or wanted == entry.shown):
            what = f"{wanted!r} is no other optimizer of this experiment; {nearest(str(wanted), labels)}"
            raise source.error((*at, "optimizers", i, "use_cache_from"), what)
    if suite.feedback is None:
        what = f"suite {suite.name!r} gives no feedback that {name} could learn from; leave it to Baseline."
        raise source.error((*at, "optimizers", number), what)
    for i, config in enumerate(experiment.benchmarks):
        spec = suite.benchmarks[config.name]
        loaded = resolve(spec.load)(_benchmark_options(spec, config, folder))
        if not loaded.train or not loaded.val:
            remedy = "set `split: true`" if "split" in resolve(spec.options).model_fields else "give it such cases"
            counts = f"{len(loaded.train)} and {len(loaded.val)}"
            what = f"{name} needs train and val cases, and {config.name!r} has {counts} of them; {remedy}."
            raise source.error((*at, "benchmarks", i), what)


def _roles(config: SweepConfig, suite: Suite, system: SystemSpec, optimizer: OptimizerSpec | None) -> tuple[str, ...]:
    """Roles beside `task`: the system's, the scorer's and the optimizer's; optional ones where a model is named."""
    played = [role for role in (*system.roles, *suite.score_roles) if _is_played(config, suite, role)]
    return tuple(dict.fromkeys((*played, *(optimizer.roles if optimizer else ()))))


def _is_played(config: SweepConfig, suite: Suite, role: str) -> bool:
    return role in config.roles or role not in suite.optional_roles


def _benchmark_options(spec: BenchmarkSpec, config: BenchmarkConfig, folder: Path) -> BenchmarkOptions:
    options = resolve(spec.options)(**config.options)
    if options.path is None or options.path.is_absolute():
        return options
    return options.model_copy(update={"path": folder / options.path})


def _option_error(
    error: ValidationError, kind: type[Options], owner: str, source: YamlFile, at: FieldPath
) -> UserError:
    first = error.errors(include_url=False)[0]
    field = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        return source.error((*at, field), f"unknown option of {owner}; {nearest(field, ['label', *kind.model_fields])}")
    return source.error((*at, *first["loc"]), f"{first['msg']} (got {first['input']!r}).")


def _refuse_clash(cell: Cell, at: FieldPath, cells: Iterable[Cell], source: YamlFile) -> None:
    for other in cells:
        if cell.folder == other.folder:
            raise source.error(
                at, f"its cell {cell.title!r} would share the folder {cell.folder} with another; give one a label."
            )
        if cell.id == other.id:
            raise source.error(
                at, f"its cell {cell.title!r} is the same experiment as {other.title!r} under another name; remove one."
            )


@lru_cache(maxsize=256)
def _data_hash(path: Path) -> str:
    return hash_files([path])


def _shown(entries: Iterable[NamedT], label: str) -> NamedT:
    return next(entry for entry in entries if entry.shown == label)


def plan_hash(plan: Plan) -> str:
    """Changes when any cell does; names the sweep's state beyond its name."""
    return hash_json(sorted(cell.id for cell in plan.cells))
