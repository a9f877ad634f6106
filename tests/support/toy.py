"""A small suite for tests of what every suite gets: means, a rate, a composed figure, errors, clusters, nasty text."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.analysis.means import mean
from seedbed.storage.store import write_jsonl
from seedbed.suite import (
    Benchmark,
    BenchmarkOptions,
    BenchmarkSpec,
    Case,
    CellResult,
    Failure,
    Figure,
    Metric,
    Options,
    PhaseContext,
    Prediction,
    ScoreRow,
    Suite,
    SystemSpec,
    Table,
)
from seedbed.sweep.registry import register_suite

NASTY = (
    "</script><script>document.title='planted'</script>"
    "<img src=x onerror=\"document.title='planted'\"><b onmouseover=1>planted</b>\u2028"
)
"""What a model might say to whoever reads its answers."""


class ToyOptions(BenchmarkOptions):
    n: int = 24
    nasty: bool = False


class GuessOptions(Options):
    skill: float = 0.5


def load(options: ToyOptions) -> Benchmark:
    texts = [f"第{i}题: what is {i} + {i}?" for i in range(options.n)]
    if options.nasty:
        texts[0] = f"{texts[0]} {NASTY}"
    cases = [
        Case(
            f"q{i:05d}",
            {"question": text, "number": i},
            gold=str(2 * i),
            meta={"lang": ("zh", "en", "ja")[i % 3]},
            cluster=f"c{i // 2:05d}",
        )
        for i, text in enumerate(texts)
    ]
    return Benchmark("toy", cases, resources={"nasty": options.nasty})


def build_guess(context: PhaseContext, options: GuessOptions) -> Any:
    nasty = context.benchmark.resources["nasty"]

    async def guess(question: str, number: int) -> Mapping[str, Any]:
        await asyncio.sleep(0)
        rng = random.Random(f"{context.seed} {options.skill} {number}")
        if rng.random() < 0.04:
            raise ValueError("no idea")
        answer = str(2 * number) if rng.random() < options.skill else str(2 * number + 1)
        return {"answer": answer, "why": NASTY if nasty else "因为"}

    return guess


def build_ask(context: PhaseContext, options: Options) -> Any:
    import dspy

    asked = dspy.Predict("question -> answer")

    async def ask(question: str, number: int) -> Mapping[str, Any]:
        return {"answer": str((await asked.acall(question=question)).answer)}

    return ask


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    rows: list[ScoreRow] = []
    write_jsonl(context.folder / "toy_answers.jsonl", [{"sample": case.sample_id} for case in cases])
    for case in cases:
        given = predictions[case.sample_id]
        if isinstance(given, Failure):
            rows.append(ScoreRow(case.sample_id, "error", reason="ValueError: no idea", cluster=case.cluster))
            continue
        output = given.output
        right = float(output["answer"] == case.gold)
        digits = mean([float(a == b) for a, b in zip(output["answer"], case.gold, strict=False)]) or 0.0
        rows.append(
            ScoreRow(case.sample_id, "ok", {"digits": digits, "right": right}, dict(output), None, case.cluster)
        )
    return rows


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    good = [row for row in rows if row.status == "ok"]
    right = sum(row.scores["right"] or 0.0 for row in good)
    return {
        "digits": mean([row.scores["digits"] or 0.0 for row in good]),
        "right": mean([row.scores["right"] or 0.0 for row in good]),
        "f1": 2 * right / (len(good) + len(rows)) if rows else None,
        "n": len(good),
        "n_errors": len(rows) - len(good),
        "n_skipped": 0,
    }


def report(cells: Sequence[CellResult]) -> Sequence[Table | Figure]:
    drawing = "<text x='5' y='20'>汉字</text><script>top.document.title='planted'</script>"
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40">{drawing}</svg>'
    return [
        Table("Cells <seen>", ["system", "text"], [[cell.label, NASTY] for cell in cells[:3]]),
        Figure("A suite's own drawing", svg),
    ]


TOY = Suite(
    name="toy",
    title="Toy & sums",
    version="1",
    benchmarks={"sums": BenchmarkSpec(load, ToyOptions, Path(__file__))},
    systems={
        "guess": SystemSpec(build_guess, GuessOptions, calls_per_case=0),
        "ask": SystemSpec(build_ask),
        # Says that it calls a model; whichever it calls, it is not by the ledger.
        "own_client": SystemSpec(build_guess, GuessOptions),
    },
    score=score,
    aggregate=aggregate,
    metrics=(Metric("digits", "Digits"), Metric("right", "Right_%", kind="rate"), Metric("f1", "F1", kind="pooled")),
    report=report,
)

register_suite(TOY)


_SWEEP = """
name: toys
seeds: [0, 1]
plugins: [tests.support.toy]
models:
  reader: {{model: offline/reader}}
experiments:
  - suite: toy
    models: [reader]
    benchmarks: [{{name: sums, label: sums, n: {n}, nasty: {nasty}}}]
    systems:
      - {{name: guess, label: weak, skill: 0.3}}
      - {{name: guess, label: middle, skill: 0.6}}
      - {{name: guess, label: strong, skill: 0.95}}
{more}
"""


def finished_run(folder: Path, *, n: int = 24, nasty: bool = False, ask: bool = False, also: str = "") -> Path:
    """A sweep of the toy suite, run phase by phase without Prefect; returns the folder of its run."""
    from tests.support.cells import prepared

    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "toys.yaml"
    more = "\n".join(f"      - {name}" for name in (["ask"] if ask else []) + ([also] if also else []))
    config.write_text(_SWEEP.format(n=n, nasty=str(nasty).lower(), more=more), encoding="utf-8")
    return prepared(config, folder / "out").finish()
