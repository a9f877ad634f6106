"""One's own experiment, all of it in the YAML: cases from a file, prompts as templates over its columns, scorers of the
kit or of one's own."""

from seedbed.suite import BenchmarkSpec, Suite, SystemSpec

_HERE = "seedbed.suites.custom"

SUITE = Suite(
    name="custom",
    title="One's own",
    version="1",
    scoring_version="2",
    benchmarks={},
    systems={},
    any_benchmark=BenchmarkSpec(f"{_HERE}.cases:load", f"{_HERE}.options:CaseOptions", known_by_cases=True),
    any_system=SystemSpec(f"{_HERE}.programs:build", f"{_HERE}.options:PromptOptions", predictors=1),
    score=f"{_HERE}.scorers:score",
    aggregate=f"{_HERE}.scorers:aggregate",
    metrics=(),
    meta=f"{_HERE}.meta:judge_the_judge",
    offline=f"{_HERE}.offline",
)
