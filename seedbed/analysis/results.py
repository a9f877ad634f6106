"""The summary of a sweep as data: one table model, from which every file of figures is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from seedbed.analysis.judge_results import JudgeCheck
from seedbed.analysis.means import OverSeeds
from seedbed.analysis.paired import ALPHA, Method, Test
from seedbed.analysis.verdict import Verdict
from seedbed.suite import Metric

SIMULATED_NOTE = "Simulated: made with the offline model. Figures show how Seedbed works, not how a model does."
MARGIN = 0.05
"""Differences up to this are taken as none: a share of the metric's range, or of the baseline where it has none."""
_UNEQUAL = 1.5
"""Clusters are very unequal where so many times as many of one size would say as much."""
_FEW_CLUSTERS = 50


@dataclass(frozen=True, slots=True)
class OverSamples:
    """A figure over samples, each counted once: the mean of its seeds. The interval is for other samples of the kind,
    with the seeds that were run."""

    n_samples: int
    n_clusters: int
    std: float | None
    ci_low: float | None
    ci_high: float | None
    method: Method | None
    equal_clusters: float = 0.0
    """How many clusters of one size would say as much."""
    n_missing: int = 0
    """Answers (samples x seeds) without this score because something failed that is not the system's fault."""
    bound_low: float | None = None
    """The mean with all that is missing at the low end of the range; None where nothing is, or there is no end."""
    bound_high: float | None = None
    common: float | None = None
    """The mean on the samples that all systems of the table have: what the best is chosen by."""
    n_common: int = 0

    @property
    def unequal_clusters(self) -> bool:
        """Whether the interval covers less often than it says, because few clusters hold most of the samples."""
        return self.equal_clusters * _UNEQUAL < self.n_clusters

    @property
    def few_clusters(self) -> bool:
        """Whether samples lie in so few clusters that their being alike may not show."""
        return 0 < self.n_clusters < min(_FEW_CLUSTERS, self.n_samples)


@dataclass(frozen=True, slots=True)
class Row:
    """One benchmark, system, optimizer and model, over all its seeds."""

    suite: str
    benchmark: str
    system: str
    optimizer: str
    model: str
    label: str
    is_baseline: bool
    metrics: Mapping[str, OverSeeds]
    samples: Mapping[str, OverSamples]
    n_seeds: int
    n_seeds_planned: int
    n: int
    n_errors: int
    n_skipped: int
    n_unreadable: int
    """Of the n, answers that could not be read, scored at the worst end of every range."""
    n_truncated: int
    """Of all samples x seeds, those with an answer of a model that was cut off at the limit of its tokens."""
    tokens_in: int
    tokens_out: int
    list_usd: float | None
    spent_usd: float | None
    uncounted: bool = False
    """Whether calls were made that no ledger knows: tokens and dollars are then unknown."""
    by_seed: Mapping[int, Mapping[str, float | None]] = field(default_factory=dict[int, Mapping[str, float | None]])
    """By seed, the value of every metric."""

    @property
    def name(self) -> tuple[str, str, str, str]:
        return self.benchmark, self.system, self.optimizer, self.model

    @property
    def key(self) -> tuple[str, str, str]:
        """What it may be compared within."""
        return self.suite, self.benchmark, self.model


@dataclass(frozen=True, slots=True)
class Comparison:
    """A system against the baseline in one metric, paired by sample."""

    suite: str
    benchmark: str
    model: str
    label: str
    baseline: str
    metric: str
    metric_label: str = ""
    digits: int = 3
    higher_is_better: bool | None = True
    reference: bool = False
    """Whether it is about a system that every table of the suite has; such tests make no other harder."""
    n_pairs: int = 0
    n_clusters: int = 0
    n_seeds: int = 0
    n_missing: int = 0
    """Samples with an answer missing on either side."""
    mean: float | None = None
    baseline_mean: float | None = None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    test: Test | None = None
    effect_size: float | None = None
    detectable: float | None = None
    """The smallest true difference that this test, at the level Holm leaves it, would show four times in five; None
    where it could show none."""
    margin: float | None = None
    """A difference up to this is taken as none."""
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    stopped: str | None = None
    """How it ended, where it was looked at while it grew: `stopped at 140 of 400: decided (better)`."""
    verdict: Verdict = "too small to tell"
    reason: str | None = None
    """Why there is no verdict, or no pair at all, where the number of samples does not tell it."""

    @property
    def significant(self) -> bool:
        return self.significant_at(ALPHA)

    def significant_at(self, alpha: float) -> bool:
        return self.p_holm is not None and self.p_holm < alpha


@dataclass(frozen=True, slots=True)
class Summary:
    sweep: str
    status: str
    """completed | partial | budget_reached | interrupted"""
    simulated: bool
    n_cells: int
    margin: float
    rows: Sequence[Row]
    comparisons: Sequence[Comparison]
    missing: Sequence[Mapping[str, str]]
    costs: Sequence[Mapping[str, Any]]
    metrics: Mapping[str, Sequence[Metric]]
    """By suite, what its tables show: its own metrics, then those of added scorers."""
    answerers: Sequence[Mapping[str, Any]] = ()
    """Who answered, by model of the config, with the number of answers."""
    notes: Sequence[str] = ()
    """What a reader must know of the calls before the figures, a sentence each."""
    judges: Sequence[JudgeCheck] = ()
    """What people's labels say of the models that judge, where there are labels."""


def as_data(summary: Summary) -> dict[str, Any]:
    """What summary.json holds. orjson knows dataclasses and takes a hundredth of the time of `asdict`."""
    # Names of columns of the ledger are texts of a kind of their own.
    return orjson.loads(orjson.dumps(summary, option=orjson.OPT_NON_STR_KEYS))
