"""What an optimizer learns where a suite gives no feedback of its own: what the config's scorers say of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from seedbed.errors import UserError
from seedbed.phases.scorers import call_scorer
from seedbed.suite import Case, Feedback, Metric, Scored
from seedbed.sweep.resolved import AddedScorer

if TYPE_CHECKING:
    from seedbed.phases.context import CellContext

Found = tuple[AddedScorer, Scored]


def scorer_feedback(context: CellContext, case: Case, output: Mapping[str, Any]) -> Feedback:
    """The first metric that has a range and a direction is the score; the words are those of all scorers. Called from
    an optimizer's threads. A scorer that fails ends the search: a failure is no score."""
    found = context.runtime.run_until_stop(lambda: _score_all(context, case, output), context.cell.id)
    score = next(_scores(found), None)
    if score is None:
        raise UserError(
            f"{context.cell.title}: no scorer gives case {case.sample_id!r} a value, so there is nothing to learn from "
            "it; give it an answer, or leave it out with `where:`."
        )
    return Feedback(score, " ".join(_words(found)))


async def _score_all(context: CellContext, case: Case, output: Mapping[str, Any]) -> list[Found]:
    teachers = [scorer for scorer in context.resolved.scorers if not scorer.spec.pairs]
    return [(scorer, await call_scorer(context, scorer, case, output)) for scorer in teachers]


def _scores(found: list[Found]) -> Iterator[float]:
    for scorer, said in found:
        for metric in scorer.teaching:
            value = said.values.get(metric.name)
            if value is not None:
                yield _goodness(metric, value)


def _goodness(metric: Metric, value: float) -> float:
    """From 0, the worst, to 1."""
    share = min(1.0, max(0.0, metric.share(value)))
    return share if metric.higher_is_better else 1.0 - share


def _words(found: list[Found]) -> Iterator[str]:
    for scorer, said in found:
        if said.feedback:
            yield said.feedback
        for own, metric in zip(scorer.declared, scorer.metrics, strict=True):
            value = said.values.get(own.name)
            if value is not None:
                yield f"{metric.label}: {value:.{metric.digits}f}{_scale(metric)}."


def _scale(metric: Metric) -> str:
    if metric.range is None:
        return ""
    low, high = metric.range
    return f" (from {low:g} to {high:g}, {'higher' if metric.higher_is_better else 'lower'} is better)"
