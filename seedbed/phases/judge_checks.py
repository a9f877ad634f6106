"""From labels and stored rows to what is said of every judge of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seedbed.analysis.judge_check import LabelledSystem, LabelledTable, check_judge, with_families
from seedbed.analysis.judge_results import JudgeCheck
from seedbed.analysis.label_draw import draw_numbers, known_sizes
from seedbed.analysis.results import Comparison
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.seeds import seed_spread
from seedbed.analysis.system_values import common_seeds, values_of
from seedbed.phases.judged_answers import JudgedAnswer, drawn_seed, judged_answers, judged_metrics
from seedbed.phases.labels import Draw, DrawKey, Labels
from seedbed.storage.store import Store
from seedbed.suite import Metric
from seedbed.sweep.plan import Plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_VALUES = 12
"""A fact of the samples with more values than this makes no slices."""


@dataclass
class JudgeChecks:
    """Sees every table while it is in memory; the checks are made once all comparisons have their verdicts."""

    store: Store
    plan: Plan
    labels: Labels
    tables: list[LabelledTable] = field(default_factory=list[LabelledTable])

    def watch(self, table: ScoreTable) -> None:
        if not self.labels.marks:
            return
        for metric in judged_metrics(self.plan, table):
            key = (*table.key, metric.name)
            draw = self.labels.draws.get(key)
            if draw is not None and key in self.labels.marks:
                self.tables.append(self._labelled(table, metric, key, draw))

    def made(self, comparisons: Sequence[Comparison]) -> list[JudgeCheck]:
        found = [
            check_judge(
                table,
                [
                    c
                    for c in comparisons
                    if (c.suite, c.benchmark, c.model, c.metric)
                    == (table.suite, table.benchmark, table.model, table.metric.name)
                    and c.difference is not None
                ],
            )
            for table in self.tables
        ]
        return with_families([check for check in found if check.n_labels or check.n_waiting])

    def _labelled(self, table: ScoreTable, metric: Metric, key: DrawKey, draw: Draw) -> LabelledTable:
        facts = self.labels.facts.get(key, {})
        answers = {label: judged_answers(self.store, self.plan, table, metric, label) for label in table.values}
        systems = [self._system(table, metric, key, draw, label, own) for label, own in answers.items() if own]
        places = {sample: place for place, sample in enumerate(table.sample_ids)}
        shown = {(sample, one.answer) for own in answers.values() for sample, each in own.items() for one in each}
        marks = {
            rater: {pair: mark for pair, mark in own.items() if pair in shown}
            for rater, own in self.labels.marks[key].items()
        }
        return LabelledTable(
            *table.key,
            metric=metric,
            clusters=table.clusters,
            numbers=draw_numbers(draw.salt, table.sample_ids),
            sizes=known_sizes(table.sample_ids, draw.sizes),
            # One whose answers nobody has looked at is not among those that were labelled.
            systems=[system for system, n in systems if n],
            facts=_few_valued([facts.get(sample, {}) for sample in table.sample_ids]),
            by_rater={
                rater: {(places[sample], answer): m for (sample, answer), m in own.items() if m is not None}
                for rater, own in marks.items()
            },
            seeds=_seeds(table, metric),
            n_skipped=len({pair for own in marks.values() for pair, mark in own.items() if mark is None}),
        )

    def _system(
        self,
        table: ScoreTable,
        metric: Metric,
        key: DrawKey,
        draw: Draw,
        label: str,
        own: Mapping[str, Sequence[JudgedAnswer]],
    ) -> tuple[LabelledSystem, int]:
        """With how many of its answers were looked at."""
        import numpy as np

        n = len(table.sample_ids)
        labels, judged = np.full(n, np.nan), np.full(n, np.nan)
        settled, certain, by_rule = np.ones(n, dtype=bool), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        names: list[str] = []
        looked_at = 0
        for place, sample in enumerate(table.sample_ids):
            each = own.get(sample, ())
            names.append(" ".join(one.answer for one in each))
            if not each:
                continue
            drawn = drawn_seed(draw.salt, sample, each)
            judged[place] = drawn.score
            if drawn.certain:
                labels[place], by_rule[place] = drawn.score, True
                certain[place] = all(one.certain for one in each)
                continue
            mark, looked = self.labels.mark(key, sample, drawn.answer)
            looked_at += looked
            settled[place] = looked
            if mark is not None:
                labels[place] = mark
        everywhere = table.values[label][:, table.metrics.index(metric.name)]
        return LabelledSystem(label, labels, judged, everywhere, settled, certain, by_rule, names), looked_at


def _few_valued(facts: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    values: dict[str, set[str]] = {}
    for own in facts:
        for fact, value in own.items():
            values.setdefault(fact, set()).add(value)
    chosen = {fact for fact, own in values.items() if 2 <= len(own) <= _MAX_VALUES}
    return [{fact: value for fact, value in own.items() if fact in chosen} for own in facts]


def _seeds(table: ScoreTable, metric: Metric) -> dict[str, tuple[float, float] | None]:
    """Where a seed makes another system: how the difference from the baseline varies with seeds, by the judge."""
    column = table.metrics.index(metric.name)
    base = values_of(table, table.baseline)
    found: dict[str, tuple[float, float] | None] = {}
    for label in table.values:
        own = values_of(table, label)
        if label == table.baseline or not (own.made_by_seed or base.made_by_seed):
            continue
        seeds = common_seeds(own, base)
        found[label] = None
        if len(seeds) > 1:
            differences: NDArray[np.float64] = (own.seeds(seeds) - base.seeds(seeds))[:, :, [column]]
            spread: Any = seed_spread(differences, table.clusters)
            if spread.known:
                cells = float(spread.clusters[0] * spread.seeds[0])
                found[label] = (float(spread.between_seeds[0]) / cells, float(spread.seeds[0]) - 1)
    return found
