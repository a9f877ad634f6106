"""GEPA: reflects on feedback, mutates instructions, keeps a Pareto front of candidates."""

from __future__ import annotations

from typing import Any

import dspy

from seedbed.optimizers import Job, Task, gepa_budget


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

    task = Task(job.name, job.options, len(job.train), len(job.val), len(job.program.predictors()))
    search = dspy.GEPA(
        metric=metric,
        max_metric_calls=gepa_budget(task),
        reflection_minibatch_size=job.options.minibatch,
        reflection_lm=job.reflection_lm,
        use_merge=job.name == "GEPA-MERGE",
        num_threads=job.options.threads,
        warn_on_score_mismatch=False,
        seed=job.seed,
    )
    return search.compile(job.program, trainset=list(job.train), valset=list(job.val))
