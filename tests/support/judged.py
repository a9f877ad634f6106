"""A sweep whose metric a judge gave, with errors planted: for tests of labels, which know the truth."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.analysis.means import mean
from seedbed.suite import (
    Answer,
    Benchmark,
    BenchmarkOptions,
    BenchmarkSpec,
    Case,
    Judged,
    Metric,
    Options,
    PhaseContext,
    Prediction,
    ScoreRow,
    Suite,
    SystemSpec,
    scale_marks,
)
from seedbed.sweep.registry import register_suite


class WordsOptions(BenchmarkOptions):
    n: int = 40
    said: str = ""


class TalkOptions(Options):
    kind: float = 3.0


def load(options: WordsOptions) -> Benchmark:
    cases = [
        Case(f"w{i:04d}", {"question": f"How is number {i}?\n{options.said}", "number": i}, meta={"half": i % 2})
        for i in range(options.n)
    ]
    return Benchmark("words", cases, resources={"said": options.said})


def build(context: PhaseContext, options: TalkOptions) -> Any:
    async def talk(question: str, number: int) -> Mapping[str, Any]:
        rng = random.Random(f"{number} {options.kind} {context.seed}")
        truth = min(5, max(1, round(options.kind + rng.gauss(0, 1) + random.Random(number).gauss(0, 1))))
        return {"answer": f"{'kind ' * truth}{number} {context.benchmark.resources['said']}", "made by": options.kind}

    return talk


def truth_of(answer: str) -> float:
    """What a person says of an answer."""
    return float(answer.count("kind "))


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    """A judge that is lenient, and more so to whoever is gentle."""
    rows: list[ScoreRow] = []
    for case in cases:
        given = predictions[case.sample_id]
        assert isinstance(given, Answer)
        truth = truth_of(given.output["answer"])
        noise = random.Random(f"judge {given.output['answer']}").gauss(0, 0.4)
        lenient = 0.4 + (0.4 if given.output["made by"] > 3 else 0.0)
        judged = min(5.0, max(1.0, truth + lenient + noise))
        details = {"told": "the judge's reason"}
        rows.append(ScoreRow(case.sample_id, "ok", {"kindness": judged}, details, cluster=case.cluster))
    return rows


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    values = [value for row in rows if (value := row.scores["kindness"]) is not None]
    return {"kindness": mean(values), "n": len(values), "n_errors": 0, "n_skipped": 0}


_KIND = Judged("How kind is the answer?", scale_marks(1, 5), ("answer",), inputs=("question",))
SUITE = Suite(
    name="judged",
    title="Judged",
    version="1",
    benchmarks={"words": BenchmarkSpec(load, WordsOptions, Path(__file__))},
    systems={"talk": SystemSpec(build, TalkOptions, calls_per_case=0)},
    score=score,
    aggregate=aggregate,
    metrics=(Metric("kindness", "Kindness", range=(1.0, 5.0), judged=_KIND),),
)
register_suite(SUITE)

_SWEEP = """
name: judges
seeds: [0, 1]
plugins: [tests.support.judged]
models:
  reader: {{model: offline/reader}}
experiments:
  - suite: judged
    models: [reader]
    benchmarks: [{{name: words, n: {n}, said: {said}}}]
    systems:
      - {{name: talk, label: harsh, kind: 3.0}}
      - {{name: talk, label: gentle, kind: {gentle}}}
"""


def judged_run(folder: Path, *, n: int = 40, said: str = "", gentle: float = 3.3) -> Path:
    """A finished run of two systems; returns its folder."""
    import json

    from tests.support.cells import prepared

    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "judges.yaml"
    config.write_text(_SWEEP.format(n=n, said=json.dumps(said), gentle=gentle), encoding="utf-8")
    return prepared(config, folder / "out").finish()
