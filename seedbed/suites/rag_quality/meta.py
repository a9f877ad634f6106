"""Judges the judge: planted cases, of which every verdict is known, are put to it one judgement at a time.

Statements are planted too, so that what verification gets wrong is not blamed on decomposition, which is measured by
itself: how many statements the judge finds in a text that is known to make so many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from seedbed.analysis.means import mean
from seedbed.lm.session import Session, open_session
from seedbed.storage.store import write_json, write_jsonl
from seedbed.suites.kit.rows import read_rows
from seedbed.suites.rag_quality.asking import Account, AskError
from seedbed.suites.rag_quality.evalcase import METRICS
from seedbed.suites.rag_quality.judge import Judge
from seedbed.suites.rag_quality.matching import relevant_places
from seedbed.suites.rag_quality.options import JudgeOptions
from seedbed.suites.rag_quality.score_file import judge_model

PLANTED = Path(__file__).parent / "data" / "meta" / "planted.jsonl"
ROWS = (*METRICS, "decomposition")


class Labelled(BaseModel):
    """A text with what is true of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    supported: bool = False
    """The contexts entail it."""
    agrees: bool = False
    """The other answer says the same."""
    relevant: bool = False
    gold: bool = False
    """It is one of the ground-truth contexts, though perhaps cut or set otherwise than there."""


class Planted(BaseModel):
    """A case whose every verdict is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    language: str
    question: str
    contexts: list[Labelled]
    truth_contexts: list[str]
    answer: str
    answer_statements: list[Labelled]
    truth: str
    truth_statements: list[Labelled]
    answers: bool
    """The answer answers the question, rightly or wrongly."""


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
            "errors": self.errors,
        }


def judge_the_judge(out: Path, options: JudgeOptions) -> str:
    """Writes meta.json and the ledger into `out`; returns the table."""
    planted = read_planted(PLANTED)
    name = options.judge.replace("/", "-")
    with open_session("meta", f"rag_quality:{options.judge}", judge_model(options), out / "ledger.sqlite") as session:
        tallies, rows = session.run(examine(planted, Judge(session.lm("judge")), session, options.match_threshold))
        usage = session.usage().to_json()
    results = {metric: tallies[metric].to_json() for metric in ROWS}
    write_json(
        out / f"{name}.meta.json",
        {"judge": options.judge, "simulated": options.judge.startswith("offline/"), "metrics": results, "usage": usage},
    )
    write_jsonl(out / f"{name}.verdicts.jsonl", rows)
    note = " (simulated)" if options.judge.startswith("offline/") else ""
    return (
        f"{_table(results)}\n\n{len(planted)} planted cases, judge {options.judge}{note}, {usage['calls']} calls\n{out}"
    )


def read_planted(path: Path) -> list[Planted]:
    return [row.checked(Planted) for row in read_rows(path)]


async def examine(
    planted: Sequence[Planted], judge: Judge, session: Session, threshold: float
) -> tuple[dict[str, Tally], list[dict[str, Any]]]:
    """All planted cases under all judgements; a failed one is counted as an error and in nothing else."""
    tallies = {metric: Tally() for metric in ROWS}
    judged = await session.each({case.id: case for case in planted}, lambda case: _examine(case, judge, threshold))
    rows: list[dict[str, Any]] = []
    for case, outcomes in zip(planted, judged, strict=True):
        for metric, outcome in outcomes.items():
            tally = tallies[metric]
            if isinstance(outcome, AskError):
                tally.errors.append(f"{case.id}: {outcome}")
                continue
            verdicts, labels, difference = outcome
            tally.add(verdicts, labels)
            tally.differences.append(difference)
            rows.append({"id": case.id, "metric": metric, "judged": list(verdicts), "planted": list(labels)})
    return tallies, rows


Outcome = tuple[Sequence[bool], Sequence[bool], float]


async def _examine(case: Planted, judge: Judge, threshold: float) -> Mapping[str, Outcome | AskError]:
    contexts = [context.text for context in case.contexts]
    answer = [statement.text for statement in case.answer_statements]
    truth = [statement.text for statement in case.truth_statements]

    async def supported(statements: Sequence[Labelled], texts: Sequence[str]) -> Outcome:
        verdicts = await judge.verify(Account(), texts, contexts)
        return _shares(verdicts.holds, [statement.supported for statement in statements])

    async def relevance() -> Outcome:
        verdicts = await judge.relevance(Account(), case.question, contexts)
        return _shares(verdicts.holds, [context.relevant for context in case.contexts])

    async def precision() -> Outcome:
        labels = [context.gold for context in case.contexts]
        return _shares(relevant_places(contexts, case.truth_contexts, threshold), labels)

    async def relevancy() -> Outcome:
        judged = await judge.relevancy(Account(), case.question, case.answer)
        return [judged.score >= 0.5], [case.answers], judged.score - float(case.answers)

    async def correctness() -> Outcome:
        ours, theirs = await judge.compare(Account(), case.question, answer, truth)
        labels = [statement.agrees for statement in (*case.answer_statements, *case.truth_statements)]
        return _shares((*ours.holds, *theirs.holds), labels)

    async def decomposition() -> Outcome:
        found = await judge.decompose(Account(), case.question, case.answer)
        return [len(found) == len(answer)], [True], float(len(found) - len(answer))

    work = (
        supported(case.answer_statements, answer),
        relevance(),
        supported(case.truth_statements, truth),
        precision(),
        relevancy(),
        correctness(),
        decomposition(),
    )
    done = await asyncio.gather(*work, return_exceptions=True)
    outcomes: dict[str, Outcome | AskError] = {}
    for metric, outcome in zip(ROWS, done, strict=True):
        if isinstance(outcome, BaseException) and not isinstance(outcome, AskError):
            raise outcome
        outcomes[metric] = outcome
    return outcomes


def _shares(verdicts: Sequence[bool], labels: Sequence[bool]) -> Outcome:
    return verdicts, labels, sum(verdicts) / len(verdicts) - sum(labels) / len(labels)


def wilson(hits: int, n: int) -> tuple[float | None, float | None]:
    """95% interval of a rate; none without cases."""
    if not n:
        return None, None
    from scipy.stats import binomtest

    interval = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)


def _table(results: Mapping[str, Mapping[str, Any]]) -> str:
    head = ("metric", "n", "accuracy", "95% CI", "bias", "TP", "FP", "FN", "TN", "errors")
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
                *(str(own[key]) for key in ("tp", "fp", "fn", "tn")),
                str(own["n_errors"]),
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ("  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)
