"""Scores a sample, a cell and a group of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seedbed.suite import Answer, Case, Failure, PhaseContext, Prediction, ScoreRow
from seedbed.suites.crosslingual import SUITE
from seedbed.suites.crosslingual.gain import by_language, direct_of, paired_figures
from seedbed.suites.crosslingual.metrics import f1_mkqa, score_rows
from seedbed.suites.crosslingual.recall import answer_in_context, char_3gram_recall
from seedbed.suites.kit.outcomes import mean_figures, unanswered_row

PER_SAMPLE = (
    *("em", "f1", "rlc", "rlc_ok", "cost", "semantic_score"),
    *("f1_mkqa", "char_3gram_recall", "answer_in_context"),
)

_OF_ANY_ANSWER = ("f1", "em", "rlc", "rlc_ok", "cost", "f1_mkqa", "char_3gram_recall")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to be scored, wherever it was made."""

    sample_id: str
    lang: str
    question: str
    gold: Sequence[str]
    pred: str
    translation_tokens: float
    evidence: Sequence[str] = ()
    cluster: str | None = None
    semantic_score: float | None = None
    """A judge's, where it was asked elsewhere."""


async def score(context: PhaseContext, cases: Sequence[Case], predictions: Mapping[str, Prediction]) -> list[ScoreRow]:
    """Every case once. A failure that is not the system's leaves an error, not a wrong answer. Where the config has a
    judge, it is asked about every answer; else the semantic score stays undefined."""
    answers = [(case, given) for case in cases if isinstance(given := predictions[case.sample_id], Answer)]
    rows = {row.sample_id: row for row in score_answers([_answered(case, given.output) for case, given in answers])}
    if context.has_role("judge"):
        rows |= await _judged(context, [case for case in cases if case.sample_id in rows], rows)
    names = {*_OF_ANY_ANSWER, *(["semantic_score"] if context.has_role("judge") else [])}
    for case in cases:
        if isinstance(given := predictions[case.sample_id], Failure):
            lang = {"lang": case.inputs["language"]}
            rows[case.sample_id] = unanswered_row(case, given, SUITE.metrics, names, lang)
    return [rows[case.sample_id] for case in cases]


def score_answers(answered: Sequence[Answered]) -> list[ScoreRow]:
    """All scores that need no model, a row an answer."""
    columns = score_rows([a.pred for a in answered], [a.gold for a in answered], [a.lang for a in answered])
    plain = {name: column.tolist() for name, column in columns.items()}
    return [_row(one, {name: plain[name][place] for name in plain}) for place, one in enumerate(answered)]


def _row(one: Answered, scores: dict[str, float | None]) -> ScoreRow:
    scores |= {
        "f1_mkqa": f1_mkqa(one.pred, one.gold, one.lang),
        "char_3gram_recall": char_3gram_recall(one.pred, one.gold),
        "answer_in_context": answer_in_context(one.evidence, one.gold, one.lang),
        "cost": float(one.translation_tokens),
        "semantic_score": one.semantic_score,
    }
    details = {"lang": one.lang, "question": one.question, "gold": one.gold, "pred": one.pred}
    return ScoreRow(one.sample_id, "ok", scores, details, cluster=one.cluster)


async def _judged(context: PhaseContext, cases: Sequence[Case], rows: Mapping[str, ScoreRow]) -> dict[str, ScoreRow]:
    from seedbed.suites.crosslingual.judge import Unjudged, judge

    lm = context.lm("judge")

    async def one(case: Case) -> ScoreRow:
        row = rows[case.sample_id]
        try:
            found = await judge(lm, row.details["question"], case.gold, row.details["pred"], row.details["lang"])
        except Unjudged as error:
            # The other scores of the sample stand: they did not need the judge.
            return replace(row, reason=f"judge: {error}")
        scores = {**row.scores, "semantic_score": found.score}
        return replace(row, scores=scores, details={**row.details, "explanation": found.explanation})

    return {row.sample_id: row for row in await context.each(cases, one)}


def aggregate(rows: Sequence[ScoreRow]) -> dict[str, float | int | None]:
    """Mean and sample standard deviation of each metric over the samples where it is defined. A sample is an error if
    the system failed on it, or the judge did: then it is in every mean but the judge's."""
    unjudged = sum(row.status == "ok" and bool(row.reason) for row in rows)
    return mean_figures(rows, PER_SAMPLE) | {"n_judge_errors": unjudged}


def score_group(
    rows: Mapping[str, Sequence[ScoreRow]], metrics: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Adds what pairs each sample with the `direct` answer to it, undefined in a group without `direct`, and the means
    by language."""
    return {
        label: {
            **own,
            **paired_figures(rows[label], direct_of(label, rows)),
            "by_language": by_language(rows[label], PER_SAMPLE),
        }
        for label, own in metrics.items()
    }


def _answered(case: Case, output: Mapping[str, Any]) -> Answered:
    return Answered(
        sample_id=case.sample_id,
        lang=case.inputs["language"],
        question=case.inputs["question"],
        gold=case.gold,
        pred=str(output.get("answer") or ""),
        translation_tokens=output.get("translation_tokens") or 0,
        evidence=[block["text"] for block in output.get("evidence") or ()],
        cluster=case.cluster,
    )
