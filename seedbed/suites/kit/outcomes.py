"""What became of the samples: the row of one that failed or was left out, how they are counted, means with their n."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from seedbed.analysis.means import mean, sample_std
from seedbed.suite import Case, Failure, Metric, ScoreRow

Outcome = Literal["ok", "error", "skipped"]
Figures = dict[str, float | int | None]

UNREADABLE = "unreadable"
"""Under this name a row's details say why its answer could not be read."""
TRUNCATED = "truncated"
"""Under this name a row's details say how many of its model's answers were cut off at the limit of their tokens."""


def failed_row(case: Case, why: Failure | str, details: Mapping[str, Any] | None = None) -> ScoreRow:
    """The row of a sample on which the system failed: an error, and no score."""
    return _unscored(case, "error", why if isinstance(why, str) else reason_of(why), details)


def unanswered_row(
    case: Case,
    failure: Failure,
    metrics: Iterable[Metric],
    names: Collection[str],
    details: Mapping[str, Any] | None = None,
) -> ScoreRow:
    """The row of a case without an answer: an error, unless it is the system's own fault. Then it has the worst score
    in the metrics named, which are those that any answer to the case would have."""
    if not failure.unreadable:
        return failed_row(case, failure, details)
    scores = worst_scores(metric for metric in metrics if metric.name in names)
    told = {**(details or {}), UNREADABLE: reason_of(failure)}
    return ScoreRow(case.sample_id, "ok", scores, told, cluster=case.cluster)


def worst_scores(metrics: Iterable[Metric]) -> dict[str, float | None]:
    """The worst end of each range; undefined where there is none, or no good side."""
    found: dict[str, float | None] = {}
    for metric in metrics:
        ends = metric.range if metric.higher_is_better is not None and metric.kind != "pooled" else None
        found[metric.name] = None if ends is None else ends[0 if metric.higher_is_better else 1]
    return found


def skipped_row(case: Case, reason: str, details: Mapping[str, Any] | None = None) -> ScoreRow:
    """The row of a sample that nobody was asked."""
    return _unscored(case, "skipped", reason, details)


def told_reason(row: Mapping[str, Any]) -> str:
    """Why a stored row lacks scores: as it says itself, or as the results of its metrics do."""
    if row["reason"]:
        return row["reason"]
    results: Any = row["details"].get("results")
    if not isinstance(results, dict):
        return ""
    own: list[Any] = list(cast("dict[str, Any]", results).values())
    return next((result["reason"] for result in own if isinstance(result, dict) and result.get("reason")), "")


def reason_of(failure: Failure) -> str:
    """Why there is no answer, its kind first."""
    error = failure.error
    return f"{error.get('kind') or 'error'}: {error.get('message') or 'no reason given'}"


def outcome_of(row: ScoreRow) -> Outcome:
    """A row is `ok` where everything asked of it was scored. One that has scores and a reason lacks a score which
    failed, a judge's most often: its other scores stand, and the sample is an error."""
    return "error" if row.status == "ok" and row.reason else row.status


def counts(rows: Sequence[ScoreRow], names: Sequence[str] = ()) -> Figures:
    """n + n_errors + n_skipped is the number of samples: each is counted once; n_unreadable are among the n. Of the
    metrics named, those that other samples than these n have get an `n_METRIC` of their own."""
    found = Counter(map(outcome_of, rows))
    own = {f"n_{name}": sum(row.scores.get(name) is not None for row in rows) for name in names}
    total = {"n": found["ok"], "n_errors": found["error"], "n_skipped": found["skipped"]}
    return {**{name: n for name, n in own.items() if n != total["n"]}, **total, "n_unreadable": n_unreadable(rows)}


def n_unreadable(rows: Sequence[ScoreRow]) -> int:
    """Of the n, the answers that could not be read."""
    return sum(UNREADABLE in row.details for row in rows)


def n_truncated(rows: Sequence[ScoreRow]) -> int:
    """Of all samples, readable or not, those with an answer of a model that was cut off."""
    return sum(TRUNCATED in row.details for row in rows)


def mean_figures(rows: Sequence[ScoreRow], names: Sequence[str]) -> Figures:
    """Mean and sample std of each metric over the samples that have it, and the counts."""
    figures: Figures = {}
    for name in names:
        values = [value for row in rows if (value := row.scores.get(name)) is not None]
        figures[name], figures[f"{name}_std"] = mean(values), sample_std(values)
    return figures | counts(rows, names)


def _unscored(case: Case, status: Outcome, reason: str, details: Mapping[str, Any] | None) -> ScoreRow:
    return ScoreRow(case.sample_id, status, details=dict(details or {}), reason=reason, cluster=case.cluster)
