"""What labels say of a judge, as data: agreement, bias, corrected figures, and what is left of each verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seedbed.analysis.verdict import Verdict


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """The judge's score less people's, over labelled answers; a system's, or a slice's over all systems."""

    of: str
    value: str
    n: int
    bias: float | None
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    label: str
    n_labels: int
    n_samples: int
    judged: float
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    worth: float | None
    """How many labels without a judge would say as much as one with it."""


@dataclass(frozen=True, slots=True)
class CorrectedContest:
    """A verdict of the judge's, and what is left of it."""

    label: str
    baseline: str
    n_labels: int
    reference: bool
    judged: float | None
    judged_verdict: Verdict
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_holm: float | None
    verdict: Verdict | None
    survives: bool | None
    """Whether the verdict is the same; None where it cannot be said."""
    more_labels: int | None
    """How many further labelled samples would settle it, if the rest are like these; None where no number would."""
    margin: float
    higher_is_better: bool | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """A judged metric of one benchmark and model."""

    suite: str
    benchmark: str
    model: str
    metric: str
    metric_label: str
    digits: int
    n_labels: int
    """Answers with a label that count."""
    n_waiting: int
    """Answers with a label that count once every sample drawn before them has one."""
    n_skipped: int
    raters: Mapping[str, int]
    kappa: float | None
    rater_kappa: float | None
    n_both: int
    biases: Sequence[JudgeBias]
    means: Sequence[CorrectedMean]
    contests: Sequence[CorrectedContest]
