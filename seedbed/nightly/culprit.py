"""Names what moved the figures of a night: old and new answers, judge, data and model are crossed, and each crossing
pays only for what was exchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seedbed.analysis.attribution import Attribution, Corner, attribute, with_holm
from seedbed.analysis.system_values import aligned_values
from seedbed.errors import BudgetReached, SeedbedError
from seedbed.lm.ledger.answerers import first_answers
from seedbed.lm.ledger.reads import cost_rows
from seedbed.lm.runtime import LMRuntime
from seedbed.nightly.baseline import Entry
from seedbed.nightly.changed import Changed, changed, served_sentences
from seedbed.nightly.explanation import Explanation, MovedFigure
from seedbed.nightly.kept import Kept, same_case, same_inputs
from seedbed.phases.context import SweepRun
from seedbed.phases.crossing import Crossings, Exchanged, values_of_rows
from seedbed.suite import Case, ScoreRow
from seedbed.sweep.cell import Cell, model_identity
from seedbed.sweep.model_config import ModelConfig

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_FEWEST = 30
"""Samples below which a crossing that the cap cuts short is not begun."""
_TOO_FEW = "too few to cross; `gate.explain` or --max-usd raises it"
_OLD = "@baseline"
"""Behind the name of a model whose settings are those of the baseline."""


@dataclass(frozen=True)
class Judging:
    """A system's figures in both runs, and the metrics that are to be explained."""

    base: Entry
    own: Entry
    label: str
    metrics: Sequence[str]


@dataclass
class _Purse:
    """What crossings may still cost, by what the same calls cost in the night."""

    left_usd: float
    notes: list[str] = field(default_factory=list[str])

    def share(self, what: str, price: float | None) -> float:
        """The share of the samples that can be paid for; 0 where the price is unknown."""
        if price is None:
            self.notes.append(f"{what}: not crossed, since the price of its calls is unknown")
            return 0.0
        share = 1.0 if price <= self.left_usd else self.left_usd / price
        self.left_usd = max(0.0, self.left_usd - price)
        return share


def explain(
    run: SweepRun, kept: Kept, judgings: Sequence[Judging], max_usd: float, night_usd: float | None
) -> Explanation:
    """Cross the night with what a baseline kept, for every system and metric that is judged."""
    purse = _Purse(max_usd)
    figures: list[tuple[Judging, Changed, str, Attribution]] = []
    with _crossings(run, kept, max_usd) as crossings:
        for judging in judgings:
            figures += _Crossed(crossings, kept, judging, purse).figures()
        engine = crossings.runtime.ledger.engine
        spent = [row["spent_usd"] for row in cost_rows(engine, crossings.name)]
        first = first_answers(engine, run.plan.config.name, run.generation)
    adjusted = with_holm([found for _, _, _, found in figures])
    moved = [
        MovedFigure(_place(judging, metric), judging.own.table.metric(metric).digits, what.on_record, found)
        for (judging, what, metric, _), found in zip(figures, adjusted, strict=True)
    ]
    served = [
        sentence
        for judging in judgings
        for sentence in served_sentences(
            judging.base.answerers, judging.own.answerers, _as_they_were(run.plan.config.models, kept.models), first
        )
    ]
    known = None if None in spent else sum(usd for usd in spent if usd is not None)
    return Explanation(moved, list(dict.fromkeys(served)), list(dict.fromkeys(purse.notes)), known, night_usd)


def _as_they_were(models: Mapping[str, ModelConfig], before: Mapping[str, ModelConfig]) -> list[str]:
    """Names of models that are asked for as they were: whoever asks for another gets another."""
    return [
        name
        for name, model in models.items()
        if name in before and model_identity(model) == model_identity(before[name])
    ]


def _place(judging: Judging, metric: str) -> str:
    return f"{judging.own.table.key[1]} · {judging.label}: {judging.own.table.metric(metric).label}"


@contextmanager
def _crossings(run: SweepRun, kept: Kept, max_usd: float) -> Iterator[Crossings]:
    """A runtime of their own, closed at the end: a cap that is reached stops them and nothing else."""
    config = run.plan.config
    models = {**config.models, **{f"{name}{_OLD}": model for name, model in kept.models.items()}}
    runtime = LMRuntime(run.ledger_url, models, store_bodies=config.store_bodies)
    try:
        yield Crossings(run, runtime, f"{config.name}.explain.{run.folder.name}", max_usd)
    finally:
        runtime.close()


class _Crossed:
    """The crossings of one system."""

    def __init__(self, crossings: Crossings, kept: Kept, judging: Judging, purse: _Purse) -> None:
        self._crossings, self._kept, self._judging, self._purse = crossings, kept, judging, purse
        self._run = crossings.run
        table = judging.own.table
        own = [self._run.plan.cell(cell.id) for cell in table.cells[judging.label]]
        self._cells = [(cell, old) for cell in own if (old := _old_cell(kept, cell)) is not None]
        self._samples, self._metrics = table.sample_ids, table.metrics
        self._whole = len(own) == len(self._cells)

    def figures(self) -> list[tuple[Judging, Changed, str, Attribution]]:
        judging = self._judging
        if not self._whole:
            self._purse.notes.append(
                f"{judging.own.table.key[1]} · {judging.label}: the baseline keeps no answers of it"
            )
            return []
        what = self._changed()
        parts, corners = what.parts, self._corners(what)
        table = judging.own.table
        found: list[tuple[Judging, Changed, str, Attribution]] = []
        for metric in judging.metrics:
            column = list(self._metrics).index(metric)
            values = {corner: own[:, column] for corner, own in corners.items()}
            if _any_sample(values):
                made = attribute(values, parts, table.clusters, table.metric(metric).range)
                found.append((judging, what, metric, made))
        return found

    def _changed(self) -> Changed:
        cell, old = self._cells[0]
        resolved = self._run.plan.resolve(cell)
        roles = {"task": cell.model, **{role: resolved.model(role)[0] for role in resolved.score_roles}}
        return changed(old, cell, self._judging.base.answerers, self._judging.own.answerers, roles)

    def _corners(self, what: Changed) -> dict[Corner, Floats]:
        table, base = self._judging.own.table, self._judging.base.table
        whole = frozenset(what.parts)
        corners: dict[Corner, Any] = {
            frozenset(): aligned_values(base, self._judging.label, table).values,
            whole: table.values[self._judging.label],
        }
        ways = {
            "old answers": self._old_answers,
            "old judge": self._old_judge,
            "old cases": self._old_cases,
            "old model": self._old_model,
        }
        made = {corner: ways[kind](what.scoring or "") for kind, corner in what.crossings()}
        return corners | {corner: values for corner, values in made.items() if values is not None}

    def _old_answers(self, scoring: str) -> Floats | None:
        """Old answers, scored as tonight."""
        share = self._share(f"old answers with tonight's {scoring}", ("score",))

        def exchanged(cell: Cell, old: Cell) -> Exchanged | None:
            answers = self._kept.read_answers(old)
            cases = [case for case in self._kept.read_cases(old).values() if case.sample_id in answers]
            return Exchanged(_some(cases, share), answers, since=self._run.generation)

        return self._values(f"old answers with tonight's {scoring}", share, exchanged)

    def _old_judge(self, scoring: str) -> Floats | None:
        """Tonight's answers, judged by the models of then; what they once said of an equal answer is reused."""
        if not any(self._judges(cell, was) for cell, was in self._cells):
            return None
        share = self._share(f"tonight's answers with the old {scoring}", ("score",))

        def exchanged(cell: Cell, was: Cell) -> Exchanged | None:
            cases = self._run.plan.benchmark(cell).test
            return Exchanged(_some(cases, share), self._answers(cell), self._judges(cell, was))

        return self._values(f"tonight's answers with the old {scoring}", share, exchanged)

    def _old_cases(self, _: str) -> Floats | None:
        """Tonight's system on the cases of then. What is the same in both is taken from the night; where only the gold
        is another, the answers are."""
        changed_share = self._changed_cases()
        share = self._share("tonight's system on the old cases", ("generate", "score"), changed_share)

        def exchanged(cell: Cell, was: Cell) -> Exchanged | None:
            now = {case.sample_id: case for case in self._run.plan.benchmark(cell).test}
            cases = [c for c in self._kept.read_cases(was).values() if c.sample_id in now]
            moved = [case for case in cases if not same_case(case, now[case.sample_id])]
            given = self._answers(cell)
            answers = {c.sample_id: given[c.sample_id] for c in moved if same_inputs(c, now[c.sample_id])}
            return Exchanged(_some(moved, share), answers, since=self._run.generation) if moved else None

        made = self._values("tonight's system on the old cases", share, exchanged)
        return None if made is None else self._with_unmoved(made)

    def _old_model(self, _: str) -> Floats | None:
        """Tonight's code, with the model of then."""
        share = self._share("tonight's code with the old model", ("generate", "score"))

        def exchanged(cell: Cell, was: Cell) -> Exchanged | None:
            roles = ("task", *self._run.plan.resolve(cell).answer_roles)
            models = {role: found for role in roles if (found := self._old(was, role)) is not None}
            cases = self._run.plan.benchmark(cell).test
            return Exchanged(_some(cases, share), None, models, since=self._run.generation)

        return self._values("tonight's code with the old model", share, exchanged)

    def _with_unmoved(self, made: Floats) -> Floats:
        """The night's own values where the case is what it was."""
        import numpy as np

        cell, was = self._cells[0]
        now = {case.sample_id: case for case in self._run.plan.benchmark(cell).test}
        then = self._kept.read_cases(was)
        same = np.array([s in now and s in then and same_case(now[s], then[s]) for s in self._samples], dtype=bool)
        return np.where(same[:, None], self._judging.own.table.values[self._judging.label], made)

    def _changed_cases(self) -> float:
        cell, was = self._cells[0]
        now = {case.sample_id: case for case in self._run.plan.benchmark(cell).test}
        then = [case for case in self._kept.read_cases(was).values() if case.sample_id in now]
        return sum(not same_case(case, now[case.sample_id]) for case in then) / len(now)

    def _judges(self, cell: Cell, was: Cell) -> dict[str, tuple[str, ModelConfig]]:
        """Models that score and have other settings than then, as they were; none where the code that asks them is
        another too, which is gone."""
        if any(was.scoring.get(part) != cell.scoring.get(part) for part in ("scoring", "scorers", "repeats")):
            return {}
        if was.scoring.get("judges") == cell.scoring.get("judges"):
            return {}
        roles = self._run.plan.resolve(cell).score_roles
        return {role: found for role in roles if (found := self._old(was, role)) is not None}

    def _old(self, was: Cell, role: str) -> tuple[str, ModelConfig] | None:
        name = self._kept.roles.get(was.folder, {}).get(role)
        return None if name is None else (f"{name}{_OLD}", self._kept.models[name])

    def _answers(self, cell: Cell) -> Mapping[str, Any]:
        from seedbed.nightly.kept import kept_of

        return kept_of(self._run).read_answers(cell)

    def _share(self, what: str, phases: Sequence[str], of: float = 1.0) -> float:
        """The share of samples that can be paid for. What no model has a part in is free."""
        usages = [own["usage"][phase] for own in self._judging.own.table.seeds[self._judging.label].values()
                  for phase in phases if phase in own["usage"]]  # fmt: skip
        if not any(usage["calls"] for usage in usages) and all(usage["calls"] is not None for usage in usages):
            return 1.0
        prices = [usage["list_usd"] for usage in usages]
        known = None if None in prices else sum(usd for usd in prices if usd is not None) * of
        share = self._purse.share(what, known)
        n = len(self._samples)
        if share < 1.0 and known is not None:
            told = f"{what}: the cap pays for {int(share * n)} of {n} samples"
            self._purse.notes.append(told if share * n >= _FEWEST else f"{told}, {_TOO_FEW}")
        return share if share * n >= min(_FEWEST, n) else 0.0

    def _values(self, what: str, share: float, exchanged: Any) -> Floats | None:
        if share == 0.0:
            return None
        rows: list[list[ScoreRow]] = []
        for cell, old in self._cells:
            other = exchanged(cell, old)
            try:
                rows.append(self._crossings.rows(cell, other) if other is not None and other.cases else [])
            except BudgetReached:
                self._purse.notes.append(f"{what}: not crossed, since the cap was reached")
                return None
            except SeedbedError as error:
                self._purse.notes.append(f"{what}: not crossed ({error})")
                return None
        return values_of_rows(rows, self._samples, self._metrics)


def _old_cell(kept: Kept, cell: Cell) -> Cell | None:
    """The baseline's cell of the same names; under another name of the model where it has only one of the kind."""
    if cell.folder in kept.cells:
        return kept.cells[cell.folder]
    like = [
        old
        for old in kept.cells.values()
        if (old.benchmark, old.system, old.optimizer, old.seed)
        == (cell.benchmark, cell.system, cell.optimizer, cell.seed)
    ]
    return like[0] if len(like) == 1 else None


def _some(cases: Sequence[Case], share: float) -> list[Case]:
    """A share of the cases, the same each time, clusters kept whole."""

    def drawn(case: Case) -> float:
        text = case.cluster if case.cluster is not None else case.sample_id
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64

    return [case for case in cases if drawn(case) < share]


def _any_sample(values: Mapping[Corner, Floats]) -> bool:
    import numpy as np

    return bool(np.all([~np.isnan(own) for own in values.values()], axis=0).any())
