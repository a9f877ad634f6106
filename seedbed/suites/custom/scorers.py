"""Which samples have an answer. How good it is, the scorers say that the config names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seedbed.suite import Case, Failure, PhaseContext, Prediction, ScoreRow
from seedbed.suites.kit.outcomes import counts, unanswered_row


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    """A row a case, with question, gold and answer to be read in the report."""
    return [_row(case, predictions[case.sample_id]) for case in cases]


def _row(case: Case, given: Prediction) -> ScoreRow:
    if isinstance(given, Failure):
        # What an unreadable answer scores, the scorers' ranges say.
        return unanswered_row(case, given, (), (), {"gold": case.gold})
    return ScoreRow(case.sample_id, "ok", details={"gold": case.gold}, cluster=case.cluster)


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    return counts(rows)
