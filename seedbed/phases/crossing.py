"""A cell with one part exchanged: other answers, other cases, or other models than in its run.

What that costs is recorded under a name of its own: the account of the sweep that is looked at stays what it was.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from seedbed.lm.ledger import Cap
from seedbed.lm.runtime import Binding, LMRuntime
from seedbed.phases.answer import answer_cases
from seedbed.phases.context import CellContext, SweepRun
from seedbed.phases.optimise import PROGRAM
from seedbed.phases.score import score_answers
from seedbed.storage.store import Store
from seedbed.suite import Benchmark, Case, Prediction, SampleUsage, ScoreRow
from seedbed.sweep.cell import Cell
from seedbed.sweep.model_config import ModelConfig

PHASE = "explain"
"""Under which the calls of crossings stand in the ledger."""


@dataclass(frozen=True)
class Exchanged:
    """What is another than in the run; what is None is as it was."""

    cases: Sequence[Case]
    answers: Mapping[str, Prediction] | None = None
    """By sample; cases that are not among them are put to the system."""
    models: Mapping[str, tuple[str, ModelConfig]] = field(default_factory=dict[str, tuple[str, ModelConfig]])
    """By role, the model that plays it and the name it has here."""
    since: int = 0
    """The fresh start from which on replies on record may stand for calls."""


@dataclass(frozen=True)
class Crossings:
    """Where crossings of a run are made: their runtime, and the name and cap under which calls are recorded."""

    run: SweepRun
    runtime: LMRuntime
    name: str
    max_usd: float

    def rows(self, cell: Cell, exchanged: Exchanged) -> list[ScoreRow]:
        """Answer what has no answer yet, and score; a row a case. Nothing of the run's own files is touched."""
        with tempfile.TemporaryDirectory(prefix="seedbed-") as folder:
            aside = replace(self.run, store=Store(Path(folder)))
            own = aside.store.cell_dir(cell)
            own.mkdir(parents=True)
            if (program := self.run.store.cell_dir(cell) / PROGRAM).exists():
                shutil.copyfile(program, own / PROGRAM)
            context = _Crossed(aside, cell, PHASE, crossings=self, exchanged=exchanged)
            try:
                return self._rows(context, exchanged)
            finally:
                context.close()

    def _rows(self, context: _Crossed, exchanged: Exchanged) -> list[ScoreRow]:
        answers = dict(exchanged.answers or {})
        unasked = [case for case in exchanged.cases if case.sample_id not in answers]
        if unasked:
            made = self.runtime.run(answer_cases(context, unasked))
            answers |= {given.sample_id: given for given in made}
        return self.runtime.run(score_answers(context, exchanged.cases, answers))


@dataclass(frozen=True)
class _Crossed(CellContext):
    crossings: Crossings | None = None
    exchanged: Exchanged = Exchanged(())

    @property
    def _here(self) -> Crossings:
        assert self.crossings is not None
        return self.crossings

    @property
    def runtime(self) -> LMRuntime:
        return self._here.runtime

    @property
    def benchmark(self) -> Benchmark:
        return replace(self.run.plan.benchmark(self.cell), test=list(self.exchanged.cases))

    @property
    def _results(self) -> Store:
        return self._here.run.store

    def binding(self, role: str) -> Binding:
        bound = super().binding(role)
        name, model = self.exchanged.models.get(role, (bound.scope.model, bound.model))
        scope = replace(bound.scope, sweep=self._here.name, model=name, generation=self.exchanged.since)
        return replace(bound, scope=scope, model=model, caps=(Cap(f"sweep:{scope.sweep}", self._here.max_usd),))

    def sample_usage(self) -> Mapping[str, SampleUsage]:
        """Nothing: tokens and times of exchanged parts are nobody's."""
        return {}

    def _roles(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("task", *self.resolved.score_roles)))


def values_of_rows(rows_by_seed: Sequence[Sequence[ScoreRow]], samples: Sequence[str], metrics: Sequence[str]) -> Any:
    """Samples x metrics, each the mean of the seeds that have it; nan where none has."""
    import numpy as np

    from seedbed.analysis.columns import over_columns

    places = {sample: place for place, sample in enumerate(samples)}
    values = np.full((len(samples), len(metrics), len(rows_by_seed)), np.nan)
    for seed, rows in enumerate(rows_by_seed):
        for row in rows:
            if row.status == "ok" and row.sample_id in places:
                own = [row.scores.get(metric) for metric in metrics]
                values[places[row.sample_id], :, seed] = [np.nan if value is None else value for value in own]
    return np.stack([over_columns(values[:, number, :]) for number in range(len(metrics))], axis=1)
