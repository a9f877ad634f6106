"""`seedbed.run` and `seedbed.arun`: a sweep from Python, on the engine that `seedbed run` uses."""

from __future__ import annotations

import asyncio
import copy
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from seedbed.api.experiment import Experiment
from seedbed.api.result import Result
from seedbed.lm.usable_models import refuse_unusable
from seedbed.local.launch import get_ready, run_sweep
from seedbed.local.progress_bar import show_progress
from seedbed.phases.budget_check import refuse_small_budget
from seedbed.phases.prepare import prepare
from seedbed.phases.up_to_date import finished_run
from seedbed.storage.paths import as_writable_root, file_mask
from seedbed.storage.redact import redact
from seedbed.storage.yamlfile import YamlFile
from seedbed.sweep.config import SweepConfig, check_config, load_config
from seedbed.sweep.identity import data_hash
from seedbed.sweep.plan import Plan, make_plan

Config: TypeAlias = "str | Path | Mapping[str, Any] | Experiment"
"""The path of a YAML file, the same as a dict, or an experiment made of objects."""


def run(config: Config, *, fresh: bool = False, replay: bool = False, **overrides: Any) -> Result:
    """Run a sweep to its end, or go on with one that was interrupted: what is done is not done again.

    `overrides` replace fields of the config: `seeds=[0]`, and with two underscores fields within fields:
    `budget__max_usd=1.0`. Works in a running event loop too, which waits meanwhile; `arun` does not keep it waiting.
    """
    before = os.umask(file_mask())
    try:
        # A file may have changed since it was read last.
        data_hash.cache_clear()
        loaded, source = _loaded(config, overrides)
        plan = make_plan(loaded, source)
        finished = None if fresh or replay else finished_run(plan, as_writable_root(plan.config.out))
        if finished is not None:
            return Result(finished)
        for warning in [] if replay else refuse_unusable(loaded, source):
            _show_warning(warning)
        for warning in plan.load_benchmarks():
            _show_warning(warning)
        return _run(plan, fresh=fresh, replay=replay)
    finally:
        os.umask(before)


async def arun(config: Config, *, fresh: bool = False, replay: bool = False, **overrides: Any) -> Result:
    """`run` for a notebook or a program with an event loop of its own, which goes on meanwhile."""
    return await asyncio.to_thread(run, config, fresh=fresh, replay=replay, **overrides)


def _run(plan: Plan, *, fresh: bool, replay: bool) -> Result:
    root = as_writable_root(plan.config.out)
    if not replay:
        refuse_small_budget(plan, root, _show_warning, fresh=fresh)
    get_ready(plan.config.runner)
    folder = prepare(plan, root, fresh=fresh, replay=replay)
    with show_progress(folder):
        launched = run_sweep(folder, plan.config.runner)
    return Result(launched.folder)


def _show_warning(warning: str) -> None:
    print(redact(f"warning: {warning}"), file=sys.stderr)


def _loaded(config: Config, overrides: Mapping[str, Any]) -> tuple[SweepConfig, YamlFile]:
    if isinstance(config, Experiment):
        config = config.config(out=overrides.get("out"))
    if isinstance(config, Mapping):
        data: dict[str, Any] = copy.deepcopy(dict(config))
        source = YamlFile(Path("the config"), data, {})
        _apply(data, overrides)
        return check_config(source), source
    if not overrides:
        return load_config(Path(config))
    _, source = load_config(Path(config))
    _apply(source.data, overrides)
    return check_config(source), source


def _apply(data: dict[str, Any], overrides: Mapping[str, Any]) -> None:
    for name, value in overrides.items():
        *way, last = name.split("__")
        target = data
        for part in way:
            target = target.setdefault(part, {})
        target[last] = value
