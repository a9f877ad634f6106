"""An experiment made of Python objects: a table of cases, functions and DSPy modules as systems."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from seedbed.errors import UserError
from seedbed.storage.hashing import hash_json
from seedbed.storage.store import write_text
from seedbed.sweep.given import give

if TYPE_CHECKING:
    import pandas as pd

    from seedbed.api.result import Result

Part: TypeAlias = "str | Mapping[str, Any] | Callable[..., Any]"
"""A name or a prompt, options as in a YAML file, or an object."""


@dataclass(frozen=True)
class Experiment:
    """The suite `custom` without YAML. Everything that its YAML can say can be said here with the same words."""

    benchmark: pd.DataFrame | Sequence[Mapping[str, Any]] | str | Path
    """Rows with a column an input, or the path of a file."""
    systems: Sequence[Part] | Mapping[str, Part]
    """Functions (plain or async) that take the columns they name, DSPy modules, prompts with {columns}, or options as
    in YAML; a mapping gives them names."""
    scorers: Sequence[Part] = ("exact",)
    """Names, options, or functions that take those of `answer`, `output`, `gold`, `inputs` and `case` they name; with
    options: {"name": "polite", "code": polite, "kind": "rate"}."""
    name: str = "notebook"
    answer: str | Sequence[str] | None = None
    """The column with the right answer; null takes `answer` where there is one."""
    inputs: Sequence[str] | Mapping[str, str] | None = None
    models: str | Mapping[str, Any] = "offline/reader"
    """A litellm name, or name -> name or settings, as in YAML. The default is the offline model."""
    seeds: Sequence[int] = (0,)
    optimizers: Sequence[str | Mapping[str, Any]] = ("Baseline",)
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    baseline: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further options of the benchmark: where, sample, split, cluster, id, limit."""
    out: str = "experiment_runs_data"

    def run(self, **overrides: Any) -> Result:
        """Run it, as `seedbed.run` does."""
        from seedbed.api.run import run

        return run(self, **overrides)

    async def arun(self, **overrides: Any) -> Result:
        from seedbed.api.run import arun

        return await arun(self, **overrides)

    def config(self, out: str | None = None) -> dict[str, Any]:
        """The config that it stands for. The cases are written below `out`, so that the sweep can go on later."""
        models = _models(self.models)
        made: dict[str, Any] = {
            "suite": "custom",
            "models": list(models),
            "benchmarks": [self._benchmark(out or self.out)],
            "systems": _systems(self.systems),
            "optimizers": [dict(o) if isinstance(o, Mapping) else o for o in self.optimizers],
            "scorers": [_scorer(scorer) for scorer in self.scorers],
        }
        if self.baseline is not None:
            made["baseline"] = self.baseline
        return {
            "name": self.name,
            "seeds": list(self.seeds),
            "models": models,
            "roles": dict(self.roles),
            "experiments": [made],
            "out": out or self.out,
        }

    def _benchmark(self, out: str) -> dict[str, Any]:
        if isinstance(self.benchmark, str | Path):
            path, columns, name = Path(self.benchmark), list[str](), Path(self.benchmark).stem
        else:
            text, columns = _lines(self.benchmark)
            name = "cases"
            path = Path(out) / "inputs" / f"{self.name}-{hash_json(text)[:12]}.jsonl"
            if not path.exists():
                write_text(path, text)
        answer = self.answer or ("answer" if "answer" in columns else None)
        given: dict[str, Any] = {"name": _safe(name), "path": os.path.relpath(path), **self.options}
        if answer is not None:
            given["answer"] = answer if isinstance(answer, str) else list(answer)
        if self.inputs is not None:
            given["inputs"] = dict(self.inputs) if isinstance(self.inputs, Mapping) else list(self.inputs)
        return given


def _lines(rows: Any) -> tuple[str, list[str]]:
    """The rows as JSON lines, and their columns."""
    if hasattr(rows, "to_json") and hasattr(rows, "columns"):
        columns = [str(column) for column in rows.columns]
        return rows.to_json(orient="records", lines=True, date_format="iso", force_ascii=False), columns
    listed = [dict(row) for row in cast("Sequence[Mapping[str, Any]]", rows)]
    if not listed:
        raise UserError("benchmark: holds no row; give a DataFrame or a list of dicts with at least one.")
    try:
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in listed)
    except TypeError as error:
        raise UserError(f"benchmark: its rows must hold texts, numbers, lists and dicts ({error}).") from None
    return text, [str(column) for column in listed[0]]


def _models(models: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(models, str):
        return {_safe(models.rpartition("/")[2]): {"model": models}}
    return {name: {"model": own} if isinstance(own, str) else dict(own) for name, own in models.items()}


def _systems(systems: Sequence[Part] | Mapping[str, Part]) -> list[dict[str, Any]]:
    if isinstance(systems, Mapping):
        return [_system(part, name) for name, part in systems.items()]
    made = [_system(part, None, number) for number, part in enumerate(systems, start=1)]
    names = [entry["name"] for entry in made]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"systems: two are called {twice!r}; give them names: systems={{'one': ..., 'two': ...}}.")
    return made


def _system(part: Part, name: str | None, number: int = 1) -> dict[str, Any]:
    if isinstance(part, str):
        return {"name": name or f"prompt{number}", "prompt": part}
    if isinstance(part, Mapping):
        return {**({"name": name} if name else {}), **cast("Mapping[str, Any]", part)}
    shown = name or _name_of(part)
    return {"name": shown, "python": give(shown, part)}


def _scorer(part: Part) -> Any:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping):
        own = dict(cast("Mapping[str, Any]", part))
        if callable(own.get("code")):
            own["code"] = _scorer(own["code"])["code"]
        return own
    name = _name_of(part)
    return {"name": name, "code": f"python:{give(name, part)}"}


def _name_of(target: Any) -> str:
    """A function's own name, a module's class."""
    name = getattr(target, "__name__", type(target).__name__)
    if name == "<lambda>" or not callable(target):
        what = "a function without a name" if callable(target) else f"{type(target).__name__} object"
        raise UserError(f"{what} stands among the systems or scorers; give a function with a name, or systems={{...}}.")
    return _safe(name)


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "cases"
