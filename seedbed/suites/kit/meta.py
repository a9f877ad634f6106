"""Judges a judge: cases whose verdict is planted are put to it as a sweep would put them.

A suite with a judge gives its planted cases and how one is put; what is counted, printed and kept is here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import Field

from seedbed.analysis.means import mean
from seedbed.errors import is_stop
from seedbed.storage.store import write_json, write_jsonl
from seedbed.suite import Options

if TYPE_CHECKING:
    from seedbed.lm.session import Session

T = TypeVar("T")
Outcome = tuple[Sequence[bool], Sequence[bool], float]
"""Verdicts, what they should be, and the judge's score less the planted one."""


class MetaOptions(Options):
    """Which model judges; of every `seedbed meta SUITE`."""

    judge: str
    """A litellm name such as openai/gpt-4.1-mini, or offline/NAME."""
    judge_base: str | None = None
    """Address of an OpenAI-compatible endpoint."""
    judge_key_env: str | None = None
    """Name of the environment variable that holds the key."""
    judge_ability: float | None = Field(default=None, ge=0, le=1)
    """Ability of an offline judge, to see what a worse one does."""
    concurrency: int = Field(default=8, ge=1)
    """Calls at once."""

    def model(self) -> Any:
        """The judge's model."""
        from seedbed.lm.session import model_of

        ability = {} if self.judge_ability is None else {"ability": self.judge_ability}
        return model_of(
            self.judge,
            option="--judge",
            api_base=self.judge_base,
            key_env=self.judge_key_env,
            concurrency=self.concurrency,
            options=ability if self.judge.startswith("offline/") else {},
        )


@dataclass(slots=True)
class Tally:
    """Verdicts against labels. `differences` holds, a case, the judge's score less the planted one."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    differences: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])

    def add(self, judged: Sequence[bool], planted: Sequence[bool]) -> None:
        for verdict, label in zip(judged, planted, strict=True):
            name = ("tp" if label else "fp") if verdict else ("fn" if label else "tn")
            setattr(self, name, getattr(self, name) + 1)

    @property
    def n(self) -> int:
        return self.tp + self.fp + self.fn + self.tn

    def to_json(self) -> dict[str, Any]:
        right = self.tp + self.tn
        low, high = wilson(right, self.n)
        return {
            **{key: value for key, value in asdict(self).items() if key in ("tp", "fp", "fn", "tn")},
            "n": self.n,
            "n_errors": len(self.errors),
            "accuracy": right / self.n if self.n else None,
            "accuracy_low": low,
            "accuracy_high": high,
            "bias": mean(self.differences),
            "off": mean([abs(difference) for difference in self.differences]),
            "errors": self.errors,
        }


Questions = Mapping[str, Callable[[], Awaitable[Outcome]]]
"""What is asked of a case, by the name of the judgement."""


def judge_planted(
    suite: str,
    planted: Mapping[str, T],
    names: Sequence[str],
    questions: Callable[[Any, T], Questions],
    out: Path,
    options: MetaOptions,
) -> str:
    """Put all planted cases, by id, to a judge's model; `questions` makes of that model and a case what is asked.
    Writes what came of it and the ledger into `out`; returns the table."""
    from seedbed.lm.session import open_session

    name = options.judge.replace("/", "-")
    name = name if suite == "rag_quality" else f"{suite}-{name}"
    with open_session("meta", f"{suite}:{options.judge}", options.model(), out / "ledger.sqlite") as session:
        lm = session.lm("judge")
        tallies, rows = session.run(examine(planted, names, lambda case: questions(lm, case), session))
        usage = session.usage().to_json()
    simulated = options.judge.startswith("offline/")
    results = {metric: tallies[metric].to_json() for metric in names}
    about = {"suite": suite, "judge": options.judge, "simulated": simulated}
    write_json(out / f"{name}.meta.json", {**about, "metrics": results, "usage": usage})
    write_jsonl(out / f"{name}.verdicts.jsonl", rows)
    note = " (simulated)" if simulated else ""
    return (
        f"{_table(results)}\n\n{len(planted)} planted cases, judge {options.judge}{note}, {usage['calls']} calls\n{out}"
    )


async def examine(
    planted: Mapping[str, T], names: Sequence[str], questions: Callable[[T], Questions], session: Session
) -> tuple[dict[str, Tally], list[dict[str, Any]]]:
    """All planted cases under all judgements; a failed one is counted as an error and in nothing else."""
    tallies = {metric: Tally() for metric in names}
    judged = await session.each(planted, lambda case: _asked(questions(case)))
    rows: list[dict[str, Any]] = []
    for key, outcomes in zip(planted, judged, strict=True):
        for metric, outcome in outcomes.items():
            tally = tallies[metric]
            if isinstance(outcome, Exception):
                tally.errors.append(f"{key}: {outcome}")
                continue
            verdicts, labels, difference = outcome
            tally.add(verdicts, labels)
            tally.differences.append(difference)
            rows.append({"id": key, "metric": metric, "judged": list(verdicts), "planted": list(labels)})
    return tallies, rows


async def _asked(questions: Questions) -> dict[str, Outcome | Exception]:
    done = await asyncio.gather(*(ask() for ask in questions.values()), return_exceptions=True)
    outcomes: dict[str, Outcome | Exception] = {}
    for metric, outcome in zip(questions, done, strict=True):
        if isinstance(outcome, BaseException) and (not isinstance(outcome, Exception) or is_stop(outcome)):
            raise outcome
        outcomes[metric] = outcome
    return outcomes


def shares(verdicts: Sequence[bool], labels: Sequence[bool]) -> Outcome:
    """Verdicts of which the score is the share that holds."""
    return verdicts, labels, sum(verdicts) / len(verdicts) - sum(labels) / len(labels)


def wilson(hits: int, n: int) -> tuple[float | None, float | None]:
    """95% interval of a rate; none without cases."""
    if not n:
        return None, None
    from scipy.stats import binomtest

    interval = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)


def _table(results: Mapping[str, Mapping[str, Any]]) -> str:
    head = ("metric", "n", "accuracy", "95% CI", "bias", "off", "TP", "FP", "FN", "TN", "errors")
    rows: list[tuple[str, ...]] = [head]
    for metric, own in results.items():
        known = own["accuracy"] is not None
        interval = f"{own['accuracy_low']:.2f}-{own['accuracy_high']:.2f}" if known else "-"
        rows.append(
            (
                metric,
                str(own["n"]),
                f"{own['accuracy']:.3f}" if known else "-",
                interval,
                "-" if own["bias"] is None else f"{own['bias']:+.3f}",
                "-" if own["off"] is None else f"{own['off']:.3f}",
                *(str(own[key]) for key in ("tp", "fp", "fn", "tn")),
                str(own["n_errors"]),
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ("  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)
