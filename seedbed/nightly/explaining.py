"""When something is explained, and for how much: a bad night against its baseline, or one run against another."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from seedbed.analysis.results import Comparison
from seedbed.errors import UserError
from seedbed.nightly import baseline
from seedbed.nightly.baseline import Baseline, Entry
from seedbed.nightly.culprit import Judging, explain
from seedbed.nightly.explanation import Explanation
from seedbed.nightly.gate import GateResult, changed_terms, judged_metrics, matched_entries, shared_labels
from seedbed.nightly.kept import Kept, kept_folder, kept_of, read_kept
from seedbed.phases.context import SweepRun
from seedbed.phases.predict import describe
from seedbed.sweep.config import ExplainConfig, GateConfig

logger = logging.getLogger("seedbed.nightly")


def explain_night(run: SweepRun, accepted: Baseline, night: Sequence[Entry], result: GateResult) -> Explanation | None:
    """What moved the figures that fail, and those that other data or another judge keep from being compared. None where
    there are none, where the baseline kept nothing to cross with, or where the config does not want it."""
    config = run.plan.config.gate
    path = baseline.current_path(run.store, run.plan.config.name, config.baseline)
    kept = None if path is None else read_kept(kept_folder(path))
    if config.explain is None or kept is None:
        return None
    judgings = list(_judgings(accepted.entries, night, config, result.comparisons))
    if not judgings:
        return None
    try:
        return _explained(run, kept, judgings, night, config.explain)
    except Exception as error:
        # A verdict stands whether or not it can be explained; what went wrong is said with it.
        logger.exception("the night could not be explained")
        return Explanation([], [], [f"it could not be explained: {describe(error)['message']}"], None, None)


def explain_latest(run: SweepRun, max_usd: float | None = None) -> Explanation:
    """The newest run of a sweep against its baseline, whether or not it passed."""
    name = run.plan.config.name
    path = baseline.current_path(run.store, name, run.plan.config.gate.baseline)
    if path is None:
        raise UserError(f"{name}: no baseline yet; `seedbed baseline accept {name}` makes one.")
    kept = read_kept(kept_folder(path))
    if kept is None:
        raise UserError(f"{path}: keeps no answers to cross with; accept a baseline anew.")
    return _of_entries(run, baseline.read_baseline(path).entries, kept, max_usd)


def explain_runs(old: SweepRun, new: SweepRun, max_usd: float | None = None) -> Explanation:
    """One run against another, both with their answers still on disk."""
    keep = "accept a run as baseline before the next, or run the other with another --out, and explain those"
    baseline.refuse_unfinished(old, keep)
    return _of_entries(new, baseline.results(old), kept_of(old), max_usd)


def _of_entries(run: SweepRun, entries: Sequence[Entry], kept: Kept, max_usd: float | None) -> Explanation:
    baseline.refuse_unfinished(run)
    night = baseline.results(run)
    config = run.plan.config.gate
    judgings = list(_judgings(entries, night, config, None))
    if not judgings:
        raise UserError(f"{run.plan.config.name}: the two runs share no system on the same benchmark.")
    wanted = config.explain or ExplainConfig()
    return _explained(run, kept, judgings, night, wanted if max_usd is None else ExplainConfig(max_usd=max_usd))


def _explained(
    run: SweepRun, kept: Kept, judgings: Sequence[Judging], night: Sequence[Entry], config: ExplainConfig
) -> Explanation:
    cost = _sum_known(figures.list_usd for entry in night for figures in entry.figures.values())
    cap = config.max_usd if config.max_usd is not None else config.share * (cost or 0.0)
    return explain(run, kept, judgings, cap, cost)


def _judgings(
    entries: Sequence[Entry], night: Sequence[Entry], config: GateConfig, compared: Sequence[Comparison] | None
) -> Iterable[Judging]:
    """Of a night, the figures that got worse and those that could not be compared; without a verdict, all."""
    worse = None if compared is None else {(c.suite, c.benchmark, c.model, c.label, c.metric) for c in compared
                                           if _moved(c, config.alpha)}  # fmt: skip
    for base, own in matched_entries(entries, night):
        wanted = [metric for metric in judged_metrics(base.table, own.table, config) if metric in base.table.metrics]
        for label in shared_labels(base, own):
            chosen = [
                metric
                for metric in wanted
                if worse is None or changed_terms(base, own) or (*own.table.key, label, metric) in worse
            ]
            if chosen:
                yield Judging(base, own, label, chosen)


def _moved(c: Comparison, alpha: float) -> bool:
    if not c.significant_at(alpha) or c.difference is None:
        return False
    return c.higher_is_better is None or (c.difference < 0) == c.higher_is_better


def _sum_known(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)
