"""What a cell's results depend on, part by part: names, options, data, code versions, models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from seedbed.storage.hashing import hash_files, hash_json
from seedbed.suite import Benchmark, Case, Options, Suite
from seedbed.sweep.cell import model_identity
from seedbed.sweep.code import code_version, is_built_in
from seedbed.sweep.repeats import repeats_of
from seedbed.sweep.resolved import AddedScorer, ResolvedCell

_NOT_RESULTS = {"threads"}
"""Options of an optimizer that change how it runs, not what it finds."""


def answers_of(resolved: ResolvedCell, seed: int, cases: str | None = None) -> dict[str, str]:
    """The parts that a cell's answers depend on; `cases` is the hash of those of a benchmark that is known by them."""
    suite, models = resolved.suite, resolved.role_models
    parts: dict[str, Any] = {
        "benchmark": _benchmark(resolved, cases),
        "system": [
            resolved.system_name,
            _chosen(resolved.system_options),
            _version(suite, resolved.system_spec.version, resolved.system_spec.build),
            # Where there is a rule, an answer may come from a request that is not quite the same.
            *(rule.model_dump(mode="json") for rule in resolved.normalise),
        ],
        "optimizer": [resolved.optimizer_name],
        "model": model_identity(models["task"]),
        "roles": {role: model_identity(models[role]) for role in resolved.answer_roles},
        "suite": suite.name,
        "seed": seed,
    }
    spec = resolved.optimizer_spec
    if spec is not None:
        code = [] if is_built_in(spec.compile) else [code_version(spec.compile)]
        parts["optimizer"] += [_chosen(resolved.optimizer_options, leave=_NOT_RESULTS), *code]
        learnt = _scorers(resolved) if suite.feedback is None else _version(suite, None, suite.feedback)
        parts["feedback"] = [suite.scoring_version, learnt]
    return {name: hash_json(part) for name, part in parts.items()}


def scoring_of(resolved: ResolvedCell) -> dict[str, str]:
    """The parts that a cell's scores depend on beyond its answers."""
    suite = resolved.suite
    own = [t for t in (suite.score, suite.aggregate, suite.score_group) if t is not None]
    parts: dict[str, Any] = {
        "scoring": [suite.scoring_version, *(_version(suite, None, target) for target in own)],
        "judges": {role: model_identity(resolved.role_models[role]) for role in resolved.score_roles},
    }
    if resolved.scorers:
        parts["scorers"] = _scorers(resolved)
    if (repeats := repeats_of(resolved.benchmark_options)) is not None:
        parts["repeats"] = [repeats.n, repeats.chosen]
    return {name: hash_json(part) for name, part in parts.items()}


def _benchmark(resolved: ResolvedCell, cases: str | None) -> list[Any]:
    spec = resolved.benchmark_spec
    if cases is not None:
        return [resolved.benchmark_name, cases]
    options = _chosen(resolved.benchmark_options, leave={"path"})
    version = _version(resolved.suite, spec.version, spec.load)
    return [resolved.benchmark_name, options, data_hash(resolved.data), version]


def case_hash(benchmark: Benchmark) -> str:
    """Of what systems and scorers can see of the cases, and of the splits they are in."""
    splits = {"train": benchmark.train, "val": benchmark.val, "test": benchmark.test}
    return hash_json({name: [_case(case) for case in cases] for name, cases in splits.items()})


def _case(case: Case) -> list[Any]:
    return [case.sample_id, dict(case.inputs), case.gold, dict(case.meta), case.cluster, case.repeat]


def _scorers(resolved: ResolvedCell) -> list[Any]:
    return [
        [scorer.name, scorer.label, _chosen(scorer.options), _scorer_version(scorer)] for scorer in resolved.scorers
    ]


@lru_cache(maxsize=256)
def data_hash(path: Path) -> str:
    """Of a file or folder of cases; read once a process."""
    return hash_files([path])


def _chosen(options: Options, leave: set[str] | None = None) -> Mapping[str, Any]:
    return options.model_dump(mode="json", exclude_defaults=True, exclude={*(leave or ()), *options.NOT_RESULTS})


def _version(suite: Suite, declared: str | None, target: Callable[..., Any] | str) -> Any:
    """The version that counts for a piece of code: its own, the suite's where it is part of it, else its source."""
    if declared is not None:
        return declared
    if suite.version is not None and _home(target) == _home(suite.score):
        return ["suite", suite.version]
    return code_version(target)


def _scorer_version(scorer: AddedScorer) -> str:
    declared = scorer.spec.version
    if callable(declared):
        return declared(scorer.options)
    return declared if declared is not None else code_version(scorer.spec.score)


def _home(target: Callable[..., Any] | str) -> str:
    """What shares a declared version: a built-in suite's own package, else a module."""
    module = target.partition(":")[0] if isinstance(target, str) else str(getattr(target, "__module__", ""))
    return ".".join(module.split(".")[:3]) if is_built_in(target) else module


def changed_parts(before: Mapping[str, str], now: Mapping[str, str]) -> Sequence[str]:
    """Names of the parts that differ."""
    return [name for name in dict.fromkeys([*before, *now]) if before.get(name) != now.get(name)]
