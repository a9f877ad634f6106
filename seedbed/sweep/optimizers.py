"""Optimizers: what compiles a system before it is evaluated. This module only names them, so that a plan can be checked
without importing dspy; how each works stands in the modules beside it.

To add one, decorate a function that takes a `Job` and returns the optimised program:

    @optimizer("MyOptimizer", options=MyOptions, budget=lambda size: Budget(metric_calls=2 * size.n_val))
    def mine(job: Job) -> dspy.Module: ...
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from pydantic import Field

from seedbed.suite import Feedback, Options, Target
from seedbed.sweep.cell import BASELINE

if TYPE_CHECKING:
    import dspy


Split = Literal["train", "val"]


class OptimizerOptions(Options):
    """What every optimizer understands."""

    threads: int = Field(default=8, ge=1)
    """Examples put to the program at once."""
    use_cache_from: str | None = None
    """Start after the cell of this optimizer (Baseline, as a rule) with the same seed, so that every answer it paid for
    is there to be reused."""


class StopOptions(Options):
    patience: int = Field(ge=1)
    """Rounds in a row without a better score after which a search ends."""


class StoppableOptions(OptimizerOptions):
    """Of an optimizer that scores every candidate on the same examples, so that it shows when it no longer gains."""

    stop: StopOptions | None = None
    """End the search before its budget is used, where it no longer gains."""


class GepaOptions(StoppableOptions):
    minibatch: int = Field(default=3, ge=1)
    """Examples a reflection looks at."""


class GepaBudgetOptions(GepaOptions):
    max_metric_calls: int = Field(ge=1)
    """Examples scored over the whole search. GEPA ends the round it is in, so it may take a few more."""


class DemoOptions(OptimizerOptions):
    max_bootstrapped_demos: int = Field(default=4, ge=0)
    """Worked examples that the program itself got right, put into a prompt at most."""
    max_labeled_demos: int = Field(default=4, ge=0)
    """Examples of the train split put into a prompt at most."""


class MiproOptions(DemoOptions, StoppableOptions):
    """Options of MIPROv2."""


class BootstrapOptions(DemoOptions):
    max_rounds: int = Field(default=1, ge=1)
    """How often an example is tried, with another sample each time."""
    metric_threshold: float | None = Field(default=1.0, ge=0, le=1)
    """An answer must score this much to become a worked example; null takes any score above 0."""


class SimbaOptions(OptimizerOptions):
    batch: int = Field(default=32, ge=1)
    """Examples a step; at most as many as the train split holds are taken."""
    candidates: int = Field(default=6, ge=2)
    steps: int = Field(default=8, ge=1)
    max_demos: int = Field(default=4, ge=0)


class CoproOptions(StoppableOptions):
    breadth: int = Field(default=10, ge=2)
    """Instructions proposed at each depth."""
    depth: int = Field(default=3, ge=1)


class Judge(Protocol):
    """Score from 0 to 1, and text for optimizers that read it. Calls are logged with the candidate they were made for;
    one that only asks for the text again says so."""

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, *, logged: bool = True) -> Feedback: ...


@dataclass(frozen=True)
class Job:
    """What an optimizer is given. Calls of both LMs are recorded under the cell's optimise phase."""

    name: str
    """As the config names it, for example GEPA-5."""
    options: Any
    program: dspy.Module
    train: Sequence[dspy.Example]
    val: Sequence[dspy.Example]
    judge: Judge
    task_lm: dspy.LM
    reflection_lm: dspy.LM
    seed: int

    def score(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        """`judge` as the metric that most of DSPy's optimizers take."""
        return self.judge(example, prediction).score


@dataclass(frozen=True, slots=True)
class SearchSize:
    """What is known of an optimisation before it starts."""

    name: str
    options: Any
    n_train: int
    n_val: int
    predictors: int


@dataclass(frozen=True, slots=True)
class Budget:
    """How much an optimisation will do, about."""

    metric_calls: int
    """Examples put to the program and scored."""
    reflections: int = 0
    """Calls of the reflection model."""
    fresh: float = 1.0
    """Share of the program's calls that no earlier candidate has made already."""
    longer_prompts: float = 1.0
    """How much longer prompts get by worked examples."""


class Compile(Protocol):
    def __call__(self, job: Job) -> dspy.Module: ...


@dataclass(frozen=True)
class OptimizerSpec:
    shown: str
    """How it is named in messages; N stands for a number."""
    compile: Target[Compile]
    options: type[OptimizerOptions]
    budget: Callable[[SearchSize], Budget]
    roles: tuple[str, ...] = ("reflection",)
    """Roles, beside `task`, whose models it calls; they become part of the cell id."""
    chooses_by: tuple[Split, ...] = ("val",)
    """Splits on whose examples it chooses between candidates; none where it does not choose."""
    most_examples: int | None = None
    """How many of them it takes at most; null for all."""
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(re.escape(self.shown).replace(r"\-N", r"\-(\d+)")))


_HERE = "seedbed.phases.optimizers"
_ACCEPTED = 0.35
"""Share of GEPA's proposals that improve their minibatch and are then scored on the whole val split, about."""
_MIPRO = {"MIPROv2-Light": 6, "MIPROv2-Heavy": 18}
"""Candidates that DSPy's `auto` modes take."""
_MIPRO_VAL = {"MIPROv2-Light": 100, "MIPROv2-Heavy": 1000}
"""Val examples that they take at most."""
_MIPRO_NEW = 0.65
"""Share of MIPROv2's trials that are not a combination it had before, about."""
_MIPRO_FULL_VAL = 50
"""Up to so many val examples MIPROv2 scores all of them in every trial, else minibatches of 35."""


def full_evaluations(name: str) -> int | None:
    """The N of GEPA-N: so many evaluations of the whole val split, the base program's included; None for the others,
    which count metric calls."""
    found = re.fullmatch(r"GEPA-(\d+)", name)
    return int(found[1]) if found else None


def _gepa(size: SearchSize) -> Budget:
    wanted, batch = full_evaluations(size.name), 2 * size.options.minibatch
    if wanted is not None:
        rounds = max(0, wanted - 1) / _ACCEPTED
        return Budget(round(wanted * size.n_val + rounds * batch), math.ceil(rounds), fresh=_downstream(size))
    total = size.options.max_metric_calls
    rounds = max(0.0, total - size.n_val) / (batch + _ACCEPTED * size.n_val)
    return Budget(max(total, size.n_val), math.ceil(rounds), fresh=_downstream(size))


def _downstream(size: SearchSize) -> float:
    """Where one prompt of several changes, the calls before it are the same as before: about half of them."""
    return (1 + 1 / size.predictors) / 2


def _mipro(size: SearchSize) -> Budget:
    n = _MIPRO[size.name]
    demos = size.options.max_bootstrapped_demos + size.options.max_labeled_demos > 0
    variables = size.predictors * (2 if demos else 1)
    trials = int(max(2 * variables * math.log2(n), 1.5 * n))
    val = min(size.n_val, _MIPRO_VAL[size.name])
    bootstraps = min(size.n_train, 12) * (n - 2) // 2 if demos else 0
    scored = (trials + 1) * val if val <= _MIPRO_FULL_VAL else 35 * trials + val * (trials // 5 + 2)
    proposals = size.predictors * (n // 2 if demos else n) * 3 + min(10, math.ceil(size.n_train / 10)) + 1
    return Budget(
        bootstraps + scored, proposals, fresh=_MIPRO_NEW * _downstream(size), longer_prompts=2.0 if demos else 1.0
    )


def _bootstrap(size: SearchSize) -> Budget:
    tried = min(size.n_train, 4 * size.options.max_bootstrapped_demos) * size.options.max_rounds
    return Budget(tried, longer_prompts=2.0)


def _simba(size: SearchSize) -> Budget:
    batch, n, steps = min(size.options.batch, size.n_train), size.options.candidates, size.options.steps
    return Budget(2 * batch * n * steps + size.n_train * n, steps * n // 2)


def _copro(size: SearchSize) -> Budget:
    b, d = size.options.breadth, size.options.depth
    return Budget(b * d * size.predictors * size.n_train, b * d * size.predictors, fresh=_downstream(size))


_KNOWN: dict[str, OptimizerSpec] = {
    spec.shown: spec
    for spec in (
        OptimizerSpec("GEPA-N", f"{_HERE}.gepa:gepa", GepaOptions, _gepa),
        OptimizerSpec("GEPA", f"{_HERE}.gepa:gepa", GepaBudgetOptions, _gepa),
        OptimizerSpec("GEPA-MERGE", f"{_HERE}.gepa:gepa", GepaBudgetOptions, _gepa),
        *(
            OptimizerSpec(name, f"{_HERE}.others:mipro", MiproOptions, _mipro, most_examples=most)
            for name, most in _MIPRO_VAL.items()
        ),
        OptimizerSpec(
            "BootstrapFewShot", f"{_HERE}.others:bootstrap", BootstrapOptions, _bootstrap, roles=(), chooses_by=()
        ),
        OptimizerSpec("SIMBA", f"{_HERE}.others:simba", SimbaOptions, _simba, chooses_by=("train", "val")),
        OptimizerSpec("COPRO", f"{_HERE}.others:copro", CoproOptions, _copro, chooses_by=("train",)),
    )
}

CompileT = TypeVar("CompileT", bound=Compile)


def optimizer(
    name: str,
    *,
    options: type[OptimizerOptions] = OptimizerOptions,
    budget: Callable[[SearchSize], Budget],
    roles: tuple[str, ...] = ("reflection",),
    chooses_by: tuple[Split, ...] = ("val",),
) -> Callable[[CompileT], CompileT]:
    """Decorator: add an optimizer, or replace one of the same name. `-N` at the end of a name takes any number."""

    def register(function: CompileT) -> CompileT:
        _KNOWN[name] = OptimizerSpec(name, function, options, budget, roles, chooses_by)
        return function

    return register


def optimizer_names() -> list[str]:
    """All names a config may use, `GEPA-N` standing for every N."""
    return [BASELINE, *_KNOWN]


def stoppable() -> list[str]:
    """Names of the optimizers that take `stop`."""
    return [name for name, spec in _KNOWN.items() if "stop" in spec.options.model_fields]


def find_optimizer(name: str) -> OptimizerSpec | None:
    """The optimizer of that name; None for an unknown one and for Baseline."""
    return next((spec for spec in _KNOWN.values() if spec.pattern.fullmatch(name)), None)
