"""The gate: is a run worse than the accepted baseline? A pass must be earned; what cannot be told is inconclusive."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from seedbed.analysis.answerers import changes_between, changes_within
from seedbed.analysis.comparisons import paired
from seedbed.analysis.families import judged
from seedbed.analysis.gate_rule import MIN_COVERAGE, GateWord, LowerBound, lower_bound
from seedbed.analysis.measured import Measured
from seedbed.analysis.results import Comparison
from seedbed.analysis.score_table import ScoreTable
from seedbed.analysis.system_values import SystemValues, aligned_values, values_of
from seedbed.errors import UserError
from seedbed.nightly.baseline import Baseline, Entry, Figures
from seedbed.nightly.explanation import Explanation
from seedbed.phases.compare import matched
from seedbed.sweep.config import GateConfig

Level = Literal["fail", "inconclusive", "note"]

_FEW_CALLS = 20
_SHORT_S = 0.1
"""Medians of fewer calls, and differences shorter than this, say nothing of a provider."""


@dataclass(frozen=True, slots=True)
class Reason:
    level: Level
    text: str


@dataclass(frozen=True)
class Judged:
    """A comparison with what decides it."""

    comparison: Comparison
    bound: LowerBound | None
    """None where there was no pair."""
    coverage: float
    """Of the baseline's scores, the share that were scored again."""


@dataclass(frozen=True)
class GateResult:
    verdict: GateWord
    reasons: Sequence[Reason]
    comparisons: Sequence[Comparison]
    """Every judged metric of every system against the baseline."""
    baseline: str | None
    """Which baseline it was held against."""
    explanation: Explanation | None = None
    """What moved the figures of a night that does not pass."""

    @property
    def headline(self) -> str:
        """The verdict with its first reason: one line for a state or a message."""
        deciding = [reason.text for reason in self.reasons if reason.level == self.verdict]
        more = f" (and {len(deciding) - 1} more)" if len(deciding) > 1 else ""
        return f"{self.verdict}: {deciding[0]}{more}" if deciding else f"{self.verdict}: no worse than {self.baseline}"

    @classmethod
    def undecided(cls, why: str) -> GateResult:
        """What is said where nothing could be compared."""
        return cls("inconclusive", [Reason("inconclusive", why)], [], None)

    def to_json(self) -> dict[str, Any]:
        own = asdict(replace(self, explanation=None))
        explained = None if self.explanation is None else self.explanation.to_json()
        return {"headline": self.headline, **own, "explanation": explained}


def judge(baseline: Baseline | None, night: Sequence[Entry], status: str, config: GateConfig) -> GateResult:
    """Hold a run (its results and how it ended) against the baseline."""
    if not night:
        return _result([Reason("inconclusive", f"the run is {status} and no cell of it has a result")], [], baseline)
    reasons: list[Reason] = []
    if status != "completed":
        reasons.append(Reason("inconclusive", f"the run is {status}: not all of its cells have a result"))
    if baseline is None:
        text = "there is no accepted baseline; look at this run, then `seedbed baseline accept SWEEP`"
        return _result([*reasons, Reason("inconclusive", text)], [], None)
    pairs = matched_entries(baseline.entries, night)
    reasons += _missing(baseline, pairs)
    usable = [pair for pair in pairs if _same_terms(pair, reasons)]
    comparisons = _comparisons(usable, config)
    if not comparisons:
        reasons.append(Reason("inconclusive", "the run and the baseline share no system on the same samples"))
    for comparison in comparisons:
        reasons += _of_comparison(comparison, config.alpha)
    reasons += _answerers(pairs)
    for base, own in usable:
        for label in shared_labels(base, own):
            place = f"{own.table.key[1]} · {label}"
            reasons += _of_figures(place, base.figures[label], own.figures[label], config)
    return _result(reasons, [judged.comparison for judged in comparisons], baseline)


def _result(reasons: Sequence[Reason], comparisons: Sequence[Comparison], baseline: Baseline | None) -> GateResult:
    levels = {reason.level for reason in reasons}
    verdict: GateWord = "fail" if "fail" in levels else "inconclusive" if "inconclusive" in levels else "pass"
    return GateResult(verdict, list(reasons), list(comparisons), baseline.title if baseline else None)


def matched_entries(baseline: Sequence[Entry], night: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """Tables of the baseline with those of the night that hold the same systems on the same benchmark."""
    ours = {entry.table.key: entry for entry in baseline}
    theirs = {entry.table.key: entry for entry in night}
    found = matched({k: e.table for k, e in ours.items()}, {k: e.table for k, e in theirs.items()})
    return [(ours[base.key], theirs[own.key]) for base, own in found]


def _missing(baseline: Baseline, pairs: Sequence[tuple[Entry, Entry]]) -> Iterator[Reason]:
    seen = {(base.table.key, label) for base, own in pairs for label in shared_labels(base, own)}
    for entry in baseline.entries:
        for label in entry.table.values:
            if (entry.table.key, label) not in seen:
                place = f"{entry.table.key[1]} · {label} · {entry.table.key[2]}"
                yield Reason("inconclusive", f"{place} is in the baseline and has no result in this run")


def changed_terms(base: Entry, own: Entry) -> list[str]:
    """Of scoring and data, what is another than in the baseline: scores under other terms do not compare."""
    return [name for name in ("scoring", "data") if base.made_with.get(name) != own.made_with.get(name)]


def _same_terms(pair: tuple[Entry, Entry], reasons: list[Reason]) -> bool:
    base, own = pair
    words = {"scoring": "the scoring of suite", "data": "the data of benchmark"}
    changed = changed_terms(base, own)
    for name in changed:
        what = own.table.key[0 if name == "scoring" else 1]
        text = f"{words[name]} {what} has changed since the baseline; look at a run, then accept it anew"
        reasons.append(Reason("inconclusive", text))
    return not changed


def _comparisons(pairs: Sequence[tuple[Entry, Entry]], config: GateConfig) -> list[Judged]:
    made: list[Measured] = []
    expected: list[int] = []
    for base, own in pairs:
        wanted = judged_metrics(base.table, own.table, config)
        sides = [(_values(own, label), _baseline_values(base, label, own)) for label in shared_labels(base, own)]
        new = paired(own.table, sides, "baseline", config.min_effect, wanted)
        made += new
        expected += [_scored(base.table, m.comparison.label, m.comparison.metric) for m in new]
    found = judged(made, config.alpha)
    return [
        Judged(comparison, _bound(m, config.alpha), comparison.n_pairs / n if n else 0.0)
        for comparison, m, n in zip(found, made, expected, strict=True)
    ]


def _values(entry: Entry, label: str) -> SystemValues:
    return replace(values_of(entry.table, label), n_seeds=entry.figures[label].n_seeds)


def _baseline_values(base: Entry, label: str, own: Entry) -> SystemValues:
    return replace(aligned_values(base.table, label, own.table), n_seeds=base.figures[label].n_seeds)


def _scored(table: ScoreTable, label: str, metric: str) -> int:
    """Samples of the baseline with a score."""
    if metric not in table.metrics:
        return 0
    column = table.values[label][:, table.metrics.index(metric)]
    return int((column == column).sum())


def _bound(m: Measured, alpha: float) -> LowerBound | None:
    """What the difference is at least; of a figure without a good side, how far it may lie from none."""
    if m.columns is None:
        return None
    signs = {True: (1,), False: (-1,), None: (1, -1)}[m.comparison.higher_is_better]
    value_range = None if math.isinf(m.most) else (0.0, m.most)
    return min((lower_bound(m.columns, value_range, m.spread, alpha, sign) for sign in signs), key=lambda b: b.lowest)


def judged_metrics(base: ScoreTable, own: ScoreTable, config: GateConfig) -> Sequence[str]:
    """Those the config names for the suite, or the first that is declared as a mean of samples. A pooled figure is
    judged by what its samples scored, where they score it at all."""
    suite, known = own.key[0], [metric for metric in own.metrics if metric in own.means]
    if suite not in config.metrics:
        return known[:1]
    for name in config.metrics[suite]:
        if name not in own.metrics:
            raise UserError(f"gate.metrics.{suite}: no metric {name!r}; known: {', '.join(own.metrics)}.")
        if name not in known and not (own.has_samples(name) or base.has_samples(name)):
            raise UserError(
                f"gate.metrics.{suite}: {name!r} is a figure of the whole run that samples do not have, and cannot be "
                f"paired; take {', '.join(known)}."
            )
    return config.metrics[suite]


def _of_comparison(judged: Judged, alpha: float) -> Iterator[Reason]:
    c, bound = judged.comparison, judged.bound
    place = f"{c.benchmark} · {c.label}: {c.metric_label}"
    if c.difference is None or c.mean is None or c.baseline_mean is None or c.margin is None or bound is None:
        yield Reason("inconclusive", f"{place} has {c.n_pairs} pairs of samples, too few to compare")
        return
    p = "no test" if c.p_holm is None else f"p = {c.p_holm:.2g} after Holm"
    shown = (
        f"{place} {c.mean:.{c.digits}f} against {c.baseline_mean:.{c.digits}f} "
        f"(difference {c.difference:+.{c.digits}f}, {p}, n = {c.n_pairs})"
    )
    word = bound.word(c.p_holm, c.margin, judged.coverage, alpha)
    if word == "fail":
        yield Reason("fail", f"{shown} is worse")
    elif word == "pass":
        if c.significant_at(alpha):
            less = " by less than min_effect" if c.verdict == "worse" else ""
            yield Reason("note", f"{shown} is {_direction(c)}{less}")
    elif judged.coverage < MIN_COVERAGE:
        text = f"{place}: only {judged.coverage:.0%} of the baseline's samples have a score in this run ({c.n_pairs})"
        yield Reason("inconclusive", text)
    else:
        yield Reason("inconclusive", f"{shown} {_undecided(c, bound)}")


def _direction(c: Comparison) -> str:
    rises = (c.difference or 0.0) > 0
    if c.higher_is_better is None:
        return "higher" if rises else "lower"
    return "better" if rises == c.higher_is_better else "worse"


def _undecided(c: Comparison, bound: LowerBound) -> str:
    """Why a figure neither passes nor fails, and what would decide it."""
    margin = c.margin or 0.0
    if c.reason is not None and c.p is None:
        return f"cannot be judged: {c.reason}"
    needed = bound.samples_to_decide(margin)
    how = f"some {needed} samples would decide it" if needed is not None else "more seeds would decide it, not samples"
    return (
        f"is too small a test to rule out a drop of {margin:.2g} (it may be {-bound.lowest:.2g}); "
        f"with a difference and a spread like these {how}"
    )


def _answerers(pairs: Sequence[tuple[Entry, Entry]]) -> list[Reason]:
    """A model that is not what it was explains much; it is said, and decides nothing."""
    told = [text for base, own in pairs for text in changes_between(base.answerers, own.answerers)]
    told += [text.rstrip(".") for _, own in pairs for text in changes_within(own.answerers)]
    return [Reason("note", text) for text in dict.fromkeys(told)]


def _of_figures(place: str, base: Figures, own: Figures, config: GateConfig) -> Iterator[Reason]:
    if config.max_error_share is not None and own.error_share is not None:
        allowed = config.max_error_share + (base.error_share or 0.0)
        if own.error_share > allowed:
            yield Reason(
                "fail",
                f"{place}: {own.n_errors} of {own.n_samples} samples failed "
                f"({own.error_share:.1%}, {allowed:.1%} allowed)",
            )
    if config.max_cost_growth is not None:
        yield from _cost(place, base, own, config.max_cost_growth)
    if config.max_latency_growth is not None:
        yield from _latency(place, base, own, config.max_latency_growth)


def _cost(place: str, base: Figures, own: Figures, allowed: float) -> Iterator[Reason]:
    """By dollars as if fresh; by tokens where a price is unknown, or was nothing."""
    priced = bool(base.list_usd) and own.list_usd is not None
    before = base.list_usd if priced else base.tokens
    after = own.list_usd if priced else own.tokens
    if not before or after is None or not base.n_samples or not own.n_samples:
        return
    growth = (after / own.n_samples) / (before / base.n_samples) - 1
    if growth > allowed:
        unit = "dollars" if priced else "tokens"
        yield Reason("fail", f"{place}: a sample costs {growth:+.0%} in {unit} ({allowed:+.0%} allowed)")


def _latency(place: str, base: Figures, own: Figures, allowed: float) -> Iterator[Reason]:
    if base.latency_s is None or own.latency_s is None or min(base.n_latencies, own.n_latencies) < _FEW_CALLS:
        return
    if own.latency_s - base.latency_s > max(_SHORT_S, base.latency_s * allowed):
        yield Reason(
            "fail",
            f"{place}: the median call takes {own.latency_s:.2f} s instead of {base.latency_s:.2f} s "
            f"({allowed:+.0%} allowed, n = {own.n_latencies})",
        )


def shared_labels(base: Entry, own: Entry) -> list[str]:
    return [label for label in own.table.values if label in base.table.values]
