"""The other optimizers of DSPy behind the same job."""

from __future__ import annotations

from typing import Any

import dspy

from seedbed.phases.optimizers.plateau import until_flat
from seedbed.sweep.optimizers import Job


def mipro(job: Job) -> dspy.Module:
    """Proposes instructions and demos, then searches their combinations. The reflection model writes the proposals."""
    options = job.options
    search = dspy.MIPROv2(
        metric=job.score,
        prompt_model=job.reflection_lm,
        task_model=job.task_lm,
        auto="heavy" if job.name.endswith("Heavy") else "light",
        max_bootstrapped_demos=options.max_bootstrapped_demos,
        max_labeled_demos=options.max_labeled_demos,
        num_threads=options.threads,
        seed=_seed(job),
    )
    train, val = list(job.train), list(job.val)
    return until_flat(job, lambda: search.compile(job.program, trainset=train, valset=val, seed=_seed(job)))


def bootstrap(job: Job) -> dspy.Module:
    """Puts what the program got right on the train split into its prompts. It has no randomness of its own beyond the
    order of the labelled examples."""
    options = job.options
    search = dspy.BootstrapFewShot(
        metric=job.score,
        metric_threshold=options.metric_threshold,
        max_bootstrapped_demos=options.max_bootstrapped_demos,
        max_labeled_demos=options.max_labeled_demos,
        max_rounds=options.max_rounds,
    )
    return search.compile(job.program, trainset=list(job.train))


def simba(job: Job) -> dspy.Module:
    """Contrasts good and bad runs of the same example and adds rules or demos. Works on train and val together, as it
    takes one set only."""
    options, examples = job.options, [*job.train, *job.val]
    metric: Any = job.score  # DSPy says dict where it gives a prediction
    search = dspy.SIMBA(
        metric=metric,
        bsize=min(options.batch, len(examples)),
        num_candidates=options.candidates,
        max_steps=options.steps,
        max_demos=options.max_demos,
        prompt_model=job.reflection_lm,
        num_threads=options.threads,
    )
    return search.compile(job.program, trainset=examples, seed=job.seed)


def copro(job: Job) -> dspy.Module:
    """Climbs by rewriting instructions, scored on the train split. A round is a depth: the program as it was written is
    the last to be scored at the first."""
    options = job.options
    search = dspy.COPRO(prompt_model=job.reflection_lm, metric=job.score, breadth=options.breadth, depth=options.depth)
    kwargs = {"num_threads": options.threads, "display_progress": False, "display_table": 0}
    train = list(job.train)
    return until_flat(
        job, lambda: search.compile(job.program, trainset=train, eval_kwargs=kwargs), proposer=job.reflection_lm
    )


def _seed(job: Job) -> int:
    """MIPROv2 takes seed 0 for none given."""
    return job.seed + 1
