"""What labels say of a judge: its agreement with people, its bias, and every figure of it corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from seedbed.analysis.agreement import kappa
from seedbed.analysis.corrected import Corrected, corrected, labels_to_settle
from seedbed.analysis.judge_results import CorrectedContest, CorrectedMean, JudgeBias, JudgeCheck
from seedbed.analysis.label_draw import chances, order
from seedbed.analysis.paired import ALPHA, finite, tidy
from seedbed.analysis.significance import holm
from seedbed.analysis.verdict import verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from seedbed.analysis.results import Comparison
    from seedbed.suite import Metric

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

TOO_FEW = "too few labels"


@dataclass(frozen=True)
class LabelledSystem:
    """A system's answers under one metric, an entry a sample of the table."""

    label: str
    labels: Floats
    """What people gave the answer that was drawn, the mean of the raters; nan without one."""
    judged: Floats
    """What the judge gave that very answer."""
    everywhere: Floats
    """What the judge gave over all seeds; nan where the system has no such score."""
    settled: Flags
    """Where nobody need look: labelled, passed over, certain, or without a score."""
    certain: Flags
    """Where all its scores are a rule's and no judge's, as of answers that cannot be read."""
    by_rule: Flags
    """Where that holds of the answer that was drawn: its label is no person's."""
    answers: Sequence[str]
    """A name of its answers under all seeds: two systems with one name gave the same."""


@dataclass(frozen=True)
class LabelledTable:
    """All that is known of a judged metric in one table of systems."""

    suite: str
    benchmark: str
    model: str
    metric: Metric
    clusters: Ints
    numbers: Floats
    sizes: Floats
    systems: Sequence[LabelledSystem]
    facts: Sequence[Mapping[str, str]]
    """What is known of each labelled sample, for slices; empty for the others."""
    by_rater: Mapping[str, Mapping[tuple[int, str], float]]
    """Marks by rater, of a sample's place and an answer."""
    seeds: Mapping[str, tuple[float, float] | None] = field(default_factory=dict[str, Any])
    """By system that every seed makes anew: variance over seeds of its difference with the degrees of freedom; None
    where one seed says nothing of the next."""
    n_skipped: int = 0


def check_judge(table: LabelledTable, contests: Sequence[Comparison]) -> JudgeCheck:
    """Everything of one table but Holm's p and verdicts, which take all tables of the metric (`with_families`)."""
    by_label = {system.label: system for system in table.systems}
    used = {label: _used(table, [system]) for label, system in by_label.items()}
    rows = [(used[label][0], system, used[label][1]) for label, system in by_label.items()]
    n_labels = sum(int((~(_nan(taken, system.labels) | system.by_rule)).sum()) for taken, system, _ in rows)
    n_any = sum(int((~(_is_nan(system.labels) | system.by_rule)).sum()) for system in table.systems)
    rater_kappa, n_both = _raters_agree(table)
    found = [
        _contest(table, c, by_label[c.label], by_label[c.baseline])
        for c in contests
        if c.label in by_label and c.baseline in by_label
    ]
    return JudgeCheck(
        suite=table.suite,
        benchmark=table.benchmark,
        model=table.model,
        metric=table.metric.name,
        metric_label=table.metric.label,
        digits=table.metric.digits,
        n_labels=n_labels,
        n_waiting=n_any - n_labels,
        n_skipped=table.n_skipped,
        raters={name: len(marks) for name, marks in sorted(table.by_rater.items())},
        kappa=_judge_kappa(rows),
        rater_kappa=rater_kappa,
        n_both=n_both,
        biases=_biases(table, rows),
        means=[_mean(table, system, taken, chance) for taken, system, chance in rows],
        contests=found,
    )


def with_families(checks: Sequence[JudgeCheck], alpha: float = ALPHA) -> list[JudgeCheck]:
    """With Holm's p over all corrected tests of a metric (reference systems apart), and verdicts by it."""
    places: dict[tuple[str, str, bool], list[tuple[int, int]]] = {}
    for i, check in enumerate(checks):
        for j, contest in enumerate(check.contests):
            places.setdefault((check.suite, check.metric, contest.reference), []).append((i, j))
    changed: dict[tuple[int, int], CorrectedContest] = {}
    for own in places.values():
        adjusted = holm([checks[i].contests[j].p for i, j in own])
        for (i, j), p in zip(own, adjusted, strict=True):
            changed[i, j] = _with_p(checks[i].contests[j], p, alpha)
    return [
        replace(check, contests=[changed[i, j] for j in range(len(check.contests))]) for i, check in enumerate(checks)
    ]


def _with_p(contest: CorrectedContest, p: float | None, alpha: float) -> CorrectedContest:
    if p is None:
        return contest
    said = verdict(
        difference=contest.difference,
        interval=(contest.ci_low, contest.ci_high),
        p=p,
        margin=contest.margin,
        higher_is_better=contest.higher_is_better,
        alpha=alpha,
    )
    return replace(contest, p_holm=tidy(p), verdict=said, survives=said == contest.judged_verdict)


def _is_nan(values: Floats) -> Flags:
    import numpy as np

    return np.isnan(values)


def _used(table: LabelledTable, systems: Sequence[LabelledSystem]) -> tuple[Flags, Floats]:
    """Which samples count for these systems, and with which chance each was among them: all that come, in the order of
    the draw, before the first that somebody has yet to look at. What was labelled beyond it is no random draw."""
    import numpy as np

    ordered = order(table.numbers, table.sizes)
    done = np.logical_and.reduce([system.settled for system in systems])[ordered]
    taken = int(np.argmin(done)) if not done.all() else len(done)
    flags = np.zeros(len(ordered), dtype=bool)
    flags[ordered[:taken]] = True
    return flags, chances(table.numbers, table.sizes, taken)


def _nan(taken: Flags, labels: Floats) -> Flags:
    return _is_nan(labels) | ~taken


def _ends(metric: Metric) -> tuple[tuple[float, float], float | None]:
    if metric.range is None:
        return (-math.inf, math.inf), None
    return metric.range, metric.range[1] - metric.range[0]


def _mean(table: LabelledTable, system: LabelledSystem, taken: Flags, chance: Floats) -> CorrectedMean:
    import numpy as np

    labels = np.where(taken, system.labels, np.nan)
    ends, step = _ends(table.metric)
    found = corrected(
        labels, system.judged, system.everywhere, chance, table.clusters,
        certain=system.certain, ends=ends, step=step, two_marks=table.metric.kind == "rate",
    )  # fmt: skip
    known = system.everywhere[~np.isnan(system.everywhere)]
    n_labels = int((~(np.isnan(labels) | system.by_rule)).sum())
    low, high = (None, None) if found is None else map(finite, found.interval())
    return CorrectedMean(
        label=system.label,
        n_labels=n_labels,
        n_samples=len(known),
        judged=tidy(float(known.mean())) if len(known) else math.nan,
        mean=None if found is None else tidy(found.mean),
        ci_low=low,
        ci_high=high,
        worth=None if found is None else _worth(table, system, labels, chance, found),
    )


def _worth(
    table: LabelledTable, system: LabelledSystem, labels: Floats, chance: Floats, found: Corrected
) -> float | None:
    """By the error of the same labels had nobody listened to the judge."""
    import numpy as np

    silent = np.where(np.isnan(system.everywhere), np.nan, np.where(system.certain, system.everywhere, 0.0))
    alone = corrected(labels, silent, silent, chance, table.clusters, certain=system.certain)
    return None if alone is None or not found.variance else tidy(alone.variance / found.variance)


def _contest(table: LabelledTable, c: Comparison, own: LabelledSystem, base: LabelledSystem) -> CorrectedContest:
    import numpy as np

    taken, chance = _used(table, [own, base])
    alike = np.array([a == b and bool(a) for a, b in zip(own.answers, base.answers, strict=True)])
    everywhere = own.everywhere - base.everywhere
    everywhere = np.where(alike & ~np.isnan(everywhere), 0.0, everywhere)
    labels = np.where(taken, own.labels - base.labels, np.nan)
    _, length = _ends(table.metric)
    found = corrected(
        labels, own.judged - base.judged, everywhere, chance, table.clusters,
        certain=alike | (own.certain & base.certain),
        ends=(-math.inf, math.inf) if length is None else (-length, length),
        step=length, two_marks=table.metric.kind == "rate",
    )  # fmt: skip
    blank = CorrectedContest(
        c.label, c.baseline, 0 if found is None else found.n_labels, c.reference, c.difference, c.verdict,
        None, None, None, None, None, None, None, None, c.margin or 0.0, c.higher_is_better,
    )  # fmt: skip
    if found is None:
        return replace(blank, reason=TOO_FEW)
    if c.label in table.seeds:
        spread = table.seeds[c.label]
        if spread is None:
            return replace(blank, difference=tidy(found.mean), reason=c.reason)
        found = found.with_seeds(*spread)
    low, high = found.interval()
    return replace(
        blank,
        difference=tidy(found.mean),
        ci_low=finite(low),
        ci_high=finite(high),
        p=tidy(found.p),
        more_labels=labels_to_settle(found, blank.margin),
    )


Row = tuple["Flags", LabelledSystem, "Floats"]


def _labelled(rows: Sequence[Row]) -> tuple[Floats, Floats, Floats, Ints]:
    """Labels, the judge's marks, weights and places of all that count."""
    import numpy as np

    parts = [
        (system.labels[own], system.judged[own], 1 / chance[own], np.flatnonzero(own))
        for taken, system, chance in rows
        for own in [~(_nan(taken, system.labels) | _is_nan(system.judged) | system.by_rule)]
    ]
    if not parts:
        none = np.zeros(0)
        return none, none, none, none.astype(np.int64)
    y, f, w, at = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return y, f, w, at


def _judge_kappa(rows: Sequence[Row]) -> float | None:
    y, f, w, _ = _labelled(rows)
    found = kappa(y, f, w)
    return None if found is None else tidy(found)


def _raters_agree(table: LabelledTable) -> tuple[float | None, int]:
    """Of the two raters with most labels in common."""
    import numpy as np

    best: tuple[float | None, int] = (None, 0)
    names = sorted(table.by_rater)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            common = sorted(table.by_rater[one].keys() & table.by_rater[other].keys())
            if len(common) > best[1]:
                marks = [np.array([table.by_rater[name][key] for key in common]) for name in (one, other)]
                found = kappa(*marks)
                best = (None if found is None else tidy(found), len(common))
    return best


def _biases(table: LabelledTable, rows: Sequence[Row]) -> list[JudgeBias]:
    found = [_bias(table, [row], "system", row[1].label, None) for row in rows]
    facts = sorted({fact for own in table.facts for fact in own})
    for fact in facts:
        values = sorted({own[fact] for own in table.facts if fact in own})
        found += [_bias(table, rows, fact, value, fact) for value in values if len(values) > 1]
    return [bias for bias in found if bias.n]


def _bias(table: LabelledTable, rows: Sequence[Row], of: str, value: str, fact: str | None) -> JudgeBias:
    import numpy as np

    y, f, w, at = _labelled(rows)
    if fact is not None:
        own = np.array([table.facts[place].get(fact) == value for place in at.tolist()], dtype=bool)
        y, f, w, at = y[own], f[own], w[own], at[own]
    if not len(y):
        return JudgeBias(of, value, 0, None, None, None)
    errors = f - y
    found = corrected(errors, np.zeros(len(y)), np.zeros(len(y)), 1 / w, table.clusters[at])
    ends = (None, None) if found is None else (finite(found.interval()[0]), finite(found.interval()[1]))
    return JudgeBias(of, value, len(y), tidy(float(np.average(errors, weights=w))), *ends)
