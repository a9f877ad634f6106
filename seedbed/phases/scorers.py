"""Scorers that a config adds to a suite's own: their values stand in the same rows, behind the suite's."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seedbed.analysis.means import mean, sample_std
from seedbed.errors import is_stop, staying
from seedbed.phases.passes import with_passes
from seedbed.phases.predict import describe
from seedbed.suite import Case, Failure, Prediction, Scored, ScoreRow, ScorerValue, resolve
from seedbed.suites.kit.outcomes import n_truncated, worst_scores
from seedbed.sweep.resolved import AddedScorer, ResolvedCell

if TYPE_CHECKING:
    from seedbed.phases.context import CellContext

ERRORS = "scorer_errors"
"""Under this name a row's details say which scorer failed, and how."""


async def add_scores(
    context: CellContext, cases: Sequence[Case], predictions: Mapping[str, Prediction], rows: Sequence[ScoreRow]
) -> list[ScoreRow]:
    """The rows with what the added scorers say of each answer. Where there is no answer there is nothing to score."""
    scorers = context.resolved.scorers
    if not scorers:
        return list(rows)
    by_id = {row.sample_id: row for row in rows}

    async def one(case: Case) -> ScoreRow:
        row, given = by_id[case.sample_id], predictions[case.sample_id]
        if row.status == "ok" and isinstance(given, Failure) and given.unreadable:
            worst = worst_scores(metric for scorer in scorers for metric in scorer.metrics)
            return replace(row, scores={**row.scores, **worst})
        if row.status != "ok" or isinstance(given, Failure):
            return row
        for scorer in scorers:
            row = await _scored(context, scorer, case, given.output, row)
        return row

    return with_passes(context.resolved.passes, cases, await context.each(cases, one))


async def _scored(
    context: CellContext, scorer: AddedScorer, case: Case, output: Mapping[str, Any], row: ScoreRow
) -> ScoreRow:
    own = [metric.name for metric in scorer.declared]
    try:
        with staying():
            found = await call_scorer(context, scorer, case, output)
        # Two judges of one sample must not take each other's reasons away.
        details = {scorer.label: found.details} if scorer.label and found.details else found.details
    except Exception as error:
        if is_stop(error):
            raise
        found = Scored(dict.fromkeys(own))
        details = {ERRORS: {**row.details.get(ERRORS, {}), scorer.label or scorer.name: describe(error)}}
    values = {scorer.metric_name(name): found.values.get(name) for name in own}
    return replace(row, scores={**row.scores, **values}, details={**row.details, **details})


async def call_scorer(context: CellContext, scorer: AddedScorer, case: Case, output: Mapping[str, Any]) -> Scored:
    """What a scorer says of an answer, checked against what it declares; by the scorer's own names of its metrics."""
    return _as_scored(await _call(context, scorer, case, output), [metric.name for metric in scorer.declared])


async def _call(context: CellContext, scorer: AddedScorer, case: Case, output: Mapping[str, Any]) -> ScorerValue:
    score = resolve(scorer.spec.score)
    if inspect.iscoroutinefunction(score):
        return await score(context, case, output, scorer.options)
    return await asyncio.to_thread(score, context, case, output, scorer.options)  # type: ignore[arg-type]


def _as_scored(value: ScorerValue, metrics: Sequence[str]) -> Scored:
    if isinstance(value, Scored):
        found = value
    elif isinstance(value, Mapping):
        found = Scored(value)
    elif value is None:
        found = Scored(dict.fromkeys(metrics))
    elif len(metrics) == 1:
        found = Scored({metrics[0]: float(value)})
    else:
        raise TypeError(f"a scorer of {len(metrics)} metrics must return a mapping with a value each")
    unknown = sorted(set(found.values) - set(metrics))
    if unknown:
        raise ValueError(f"the scorer did not declare {', '.join(unknown)}; its metrics are {', '.join(metrics)}")
    return found


def cell_metrics(resolved: ResolvedCell, rows: Sequence[ScoreRow]) -> dict[str, Any]:
    """The flat metrics of a cell: the suite's, and mean, std and n of each metric that was added."""
    metrics: dict[str, Any] = {**resolve(resolved.suite.aggregate)(rows), "n_truncated": n_truncated(rows)}
    added = [metric for scorer in resolved.scorers for metric in scorer.metrics]
    for metric in (*added, *(figure.metric for figure in resolved.passes)):
        values = [v for row in rows if row.status == "ok" and (v := row.scores.get(metric.name)) is not None]
        metrics |= {
            metric.name: mean(values),
            f"{metric.name}_std": sample_std(values),
            f"n_{metric.name}": len(values),
        }
    return metrics
