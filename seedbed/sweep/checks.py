"""Refusing a config before anything runs: names nobody knows, options that do not fit, cells that would clash."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterable

from pydantic import ValidationError

from seedbed.errors import UserError
from seedbed.storage.paths import safe_name
from seedbed.storage.yamlfile import FieldPath, YamlFile
from seedbed.suite import Benchmark, Options, Suite, resolve
from seedbed.sweep.cell import BASELINE, Cell
from seedbed.sweep.config import BenchmarkConfig, Experiment, OptimizerConfig, ScorerConfig, SweepConfig, SystemConfig
from seedbed.sweep.optimizers import OptimizerOptions, find_optimizer, optimizer_names, stoppable
from seedbed.sweep.registry import nearest, scorer_names
from seedbed.sweep.repeats import repeats_of
from seedbed.sweep.resolved import ResolvedCell

Entry = BenchmarkConfig | SystemConfig | OptimizerConfig | ScorerConfig

_LONGEST_FOLDER = 200
"""File systems take names up to 255 bytes; locks, copies set aside and temporary files add some."""
_COMMON_ROLES = ("judge", "reflection", "translator", "embedding", "untrusted")


def missing_keys(config: SweepConfig, source: YamlFile) -> None:
    """Refuse to start where a model that is used names a key variable that is not set."""
    used = {name for experiment in config.experiments for name in experiment.models} | set(config.roles.values())
    for name in sorted(used):
        variable = config.models[name].api_key_env
        if variable and not os.environ.get(variable):
            raise source.error(
                ("models", name, "api_key_env"), f"the environment variable {variable} is not set; export it first."
            )


def check_names(experiment: Experiment, suite: Suite, config: SweepConfig, source: YamlFile, at: FieldPath) -> None:
    """Every name of an experiment is known, and none stands twice."""
    for i, model in enumerate(experiment.models):
        if model not in config.models:
            raise source.error((*at, "models", i), f"unknown model {model!r}; {nearest(model, config.models)}")
    known: tuple[tuple[str, Iterable[Entry], Iterable[str]], ...] = (
        ("benchmarks", experiment.benchmarks, suite.benchmarks),
        ("systems", experiment.systems, suite.systems),
        ("optimizers", experiment.optimizers, optimizer_names()),
        ("scorers", experiment.scorers, scorer_names()),
    )
    for kind, entries, names in known:
        owner = "" if kind in ("scorers", "optimizers") else f" of suite {suite.name!r}"
        for i, entry in enumerate(entries):
            if _own_names(suite, kind):
                _check_own_name(entry, source, (*at, kind, i))
            elif entry.name not in names and not (kind == "optimizers" and find_optimizer(entry.name)):
                what = f"unknown {kind[:-1]} {entry.name!r}{owner}"
                raise source.error((*at, kind, i), f"{what}; {nearest(entry.name, names)}")
        counts = Counter(entry.shown for entry in entries)
        for i, entry in enumerate(entries):
            if counts[entry.shown] > 1:
                raise source.error(
                    (*at, kind, i), f"{entry.shown!r} is named twice; give one of them another label: {{label: ...}}."
                )
    labels = [
        s.shown if o.name == BASELINE else f"{s.shown}+{o.shown}"
        for s in experiment.systems
        for o in experiment.optimizers
    ]
    if experiment.baseline is not None and experiment.baseline not in labels:
        what = f"baseline {experiment.baseline!r} is not among this experiment's {', '.join(labels)}."
        raise source.error((*at, "baseline"), what)


def check_roles(config: SweepConfig, declared: Iterable[str], source: YamlFile) -> None:
    """Models of roles are known. A role may have any name, unless it looks like a slip of a known one."""
    known = sorted({*_COMMON_ROLES, *declared})
    for role, model in config.roles.items():
        if model not in config.models:
            raise source.error(("roles", role), f"unknown model {model!r}; {nearest(model, config.models)}")
        close = difflib.get_close_matches(role, known, n=1, cutoff=0.75)
        if role not in known and close:
            what = f"no part of this sweep asks for a role {role!r}; did you mean {close[0]!r}?"
            raise source.error(("roles", role), what)


def check_metrics(
    suite: Suite, experiment: Experiment, source: YamlFile, at: FieldPath, resolved: ResolvedCell
) -> None:
    """No two metrics of a table share a name, there is one, and an optimizer can learn from one."""
    if not resolved.metrics:
        what = f"suite {suite.name!r} has no metric of its own; name a scorer: [exact]. {nearest('', scorer_names())}"
        raise source.error((*at, "scorers"), what)
    search = next((o.name for o in experiment.optimizers if o.name != BASELINE), None)
    if search is not None and suite.feedback is None and not any(scorer.teaching for scorer in resolved.scorers):
        what = f"no metric of theirs has a range and a direction for {search} to learn from; add one that has: [exact]."
        raise source.error((*at, "scorers"), what)
    repeats = repeats_of(resolved.benchmark_options)
    if repeats is not None and repeats.k and not resolved.passes:
        what = "no metric of theirs says right or wrong of an answer, which pass@k counts; add one that does: [exact]."
        raise source.error((*at, "scorers"), what)
    taken = {metric.name for metric in suite.metrics}
    for i, scorer in enumerate(resolved.scorers):
        for metric in scorer.metrics:
            if metric.name in taken:
                what = f"its metric {metric.name!r} is there already; give the scorer a label: {{label: ...}}."
                raise source.error((*at, "scorers", i), what)
            taken.add(metric.name)
        for metric in scorer.declared:
            if metric.kind == "pooled":
                what = f"its metric {metric.name!r} is declared pooled; a scorer's metrics are rates or means."
                raise source.error((*at, "scorers", i), what)


def _own_names(suite: Suite, kind: str) -> bool:
    """Whether a suite takes names of the user's own."""
    made = {"benchmarks": suite.any_benchmark, "systems": suite.any_system}
    return made.get(kind) is not None


def _check_own_name(entry: Entry, source: YamlFile, at: FieldPath) -> None:
    try:
        safe_name(entry.shown)
    except ValueError as error:
        raise source.error((*at, "name"), f"{error}.") from None


def check_optimizable(suite: Suite, experiment: Experiment, source: YamlFile, at: FieldPath) -> None:
    """An optimizer needs feedback from the suite, and may wait only for one that waits for nobody."""
    number = next((i for i, o in enumerate(experiment.optimizers) if o.name != BASELINE), None)
    if number is None:
        return
    labels = [o.shown for o in experiment.optimizers if "use_cache_from" not in o.options]
    for i, entry in enumerate(experiment.optimizers):
        wanted = entry.options.get("use_cache_from")
        if wanted is not None and (wanted not in labels or wanted == entry.shown):
            what = f"{wanted!r} is no other optimizer of this experiment; {nearest(str(wanted), labels)}"
            raise source.error((*at, "optimizers", i, "use_cache_from"), what)
    if suite.feedback is None and not experiment.scorers:
        name = experiment.optimizers[number].name
        what = f"suite {suite.name!r} gives no feedback that {name} could learn from; name scorers, or use Baseline."
        raise source.error((*at, "optimizers", number), what)


def check_splits(cell: Cell, resolved: ResolvedCell, loaded: Benchmark, config: SweepConfig, source: YamlFile) -> None:
    """A search needs train and val cases, and reads them as texts."""
    shown = [benchmark.shown for benchmark in config.experiments[cell.experiment].benchmarks]
    at: FieldPath = ("experiments", cell.experiment, "benchmarks", shown.index(cell.benchmark))
    if getattr(resolved.benchmark_options, "images", None):
        what = f"{resolved.optimizer_name} reads cases as texts, and these have images; use Baseline."
        raise source.error((*at, "images"), what)
    if loaded.train and loaded.val:
        return
    fields = resolve(resolved.benchmark_spec.options).model_fields
    remedy = "set `split: true`" if "split" in fields else "give it such cases"
    counts = f"{len(loaded.train)} and {len(loaded.val)}"
    raise source.error(
        at,
        f"{resolved.optimizer_name} needs train and val cases, and {resolved.benchmark_name!r} has {counts} of them; "
        f"{remedy}.",
    )


def option_error(error: ValidationError, kind: type[Options], owner: str, source: YamlFile, at: FieldPath) -> UserError:
    """The first option that does not fit, as a sentence."""
    first = error.errors(include_url=False)[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    if field == "stop" and issubclass(kind, OptimizerOptions) and first["type"] == "extra_forbidden":
        what = f"{owner} has no rounds whose scores can be compared, so it cannot be ended by them"
        return source.error((*at, field), f"{what}; remove stop, or take one of {', '.join(stoppable())}.")
    if first["type"] == "extra_forbidden":
        return source.error((*at, field), f"unknown option of {owner}; {nearest(field, ['label', *kind.model_fields])}")
    message = first["msg"].removeprefix("Value error, ")
    return source.error((*at, *first["loc"]), f"{message} (got {first['input']!r}).")


def refuse_clash(cell: Cell, at: FieldPath, cells: Iterable[Cell], source: YamlFile) -> None:
    """Two cells may neither share a folder nor be the same experiment, and a folder's name has an end."""
    if len(cell.folder.rpartition("/")[2]) > _LONGEST_FOLDER:
        raise source.error(at, f"the folder of {cell.title!r} would have too long a name; give shorter labels.")
    for other in cells:
        if cell.folder == other.folder:
            raise source.error(
                at, f"its cell {cell.title!r} would share the folder {cell.folder} with another; give one a label."
            )
        if cell.id == other.id:
            raise source.error(
                at, f"its cell {cell.title!r} is the same experiment as {other.title!r} under another name; remove one."
            )
