"""GEPA: reflects on feedback, mutates instructions, keeps a Pareto front of candidates."""

from __future__ import annotations

import math
from typing import Any

import dspy

from seedbed.sweep.optimizers import Job, full_evaluations

_NO_LIMIT = 1_000_000_000
_IN_VAIN = 10
"""A search of N evaluations gives up once every train example has been looked at so many times without a candidate that
was worth one: where the program is perfect on train, there is nothing to reflect on and the search would never end."""


def gepa(job: Job) -> dspy.Module:
    """GEPA keeps no state of its own here: a resumed search finds every earlier answer in the ledger and takes the same
    path, whereas GEPA's own checkpoints lead elsewhere."""

    def metric(
        gold: dspy.Example,
        pred: dspy.Prediction,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> dspy.Prediction:
        # With a predictor's name GEPA asks again for what it has scored already.
        verdict = job.judge(gold, pred, logged=pred_name is None)
        return dspy.Prediction(score=verdict.score, feedback=verdict.text)

    wanted = full_evaluations(job.name)
    search = dspy.GEPA(
        metric=metric,
        # DSPy's own max_full_evals is a number of metric calls again, minibatches included.
        max_metric_calls=job.options.max_metric_calls if wanted is None else _NO_LIMIT,
        reflection_minibatch_size=job.options.minibatch,
        reflection_lm=job.reflection_lm,
        use_merge=job.name == "GEPA-MERGE",
        num_threads=job.options.threads,
        warn_on_score_mismatch=False,
        # Else a model whose answers cannot be read gives the search nothing to learn from.
        add_format_failure_as_feedback=True,
        seed=job.seed,
        gepa_kwargs={"stop_callbacks": stops} if (stops := _stops(job, wanted)) else {},
    )
    return search.compile(job.program, trainset=list(job.train), valset=list(job.val))


def _stops(job: Job, wanted: int | None) -> list[Any]:
    """What may end the search, beside the number of metric calls."""
    by_size = [] if wanted is None else [FullEvaluations(wanted, _patience(job))]
    return [*by_size, *([Plateau(job.options.stop.patience)] if job.options.stop else [])]


def _patience(job: Job) -> int:
    return _IN_VAIN * math.ceil(len(job.train) / job.options.minibatch)


class FullEvaluations:
    """Ends a search after so many evaluations of all of val, the base program's included, whatever the minibatches
    between them took; or after so many proposals in a row of which none came that far."""

    def __init__(self, wanted: int, patience: int) -> None:
        self._wanted = wanted
        self._patience = patience
        self._seen = 0
        self._since = -1

    def __call__(self, gepa_state: Any) -> bool:
        done = gepa_state.num_full_ds_evals
        if done > self._seen:
            self._seen, self._since = done, gepa_state.i
        return done >= self._wanted or gepa_state.i - self._since >= self._patience


class Plateau:
    """Ends a search after so many rounds (a proposal each) in which the best val score has not risen. It counts rounds,
    not how often it is asked: a search that goes on after a crash ends at the same one."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._best: float | None = None
        self._since = -1

    def __call__(self, gepa_state: Any) -> bool:
        scores: list[float] = gepa_state.program_full_scores_val_set
        best = max(scores, default=None)
        if best is not None and (self._best is None or best > self._best):
            self._best, self._since = best, gepa_state.i
        return gepa_state.i - self._since >= self._patience
