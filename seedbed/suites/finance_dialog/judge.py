"""The optional LM judge of explanations. Its score stands beside the counted one and never replaces it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seedbed.errors import is_stop
from seedbed.suite import Case, PhaseContext
from seedbed.suites.finance_dialog.turns import Row


class Unrated(ValueError):
    """The judge gave a score that is none."""


async def rated(lm: Any, user_message: str, reply: str, rubric: Sequence[str]) -> float:
    """What the judge gives a reply, from 1 to 5."""
    import dspy

    from seedbed.suites.finance_dialog.agents.prompts import RateExplanation

    answer: Any = await dspy.Predict(RateExplanation).acall(
        user_message=user_message, reply=reply, rubric="\n".join(rubric), lm=lm
    )
    if not 1 <= float(answer.score) <= 5:
        raise Unrated(f"score {answer.score} is not from 1 to 5")
    return float(answer.score)


async def judge_turns(
    context: PhaseContext, cases: Sequence[Case], traces: Sequence[Mapping[str, Any]], rows: Sequence[Row]
) -> None:
    """Adds `lm_judge_score` to every row that M5 counts: a number from 1 to 5, or None where the judge failed."""
    judge = context.lm("judge")
    turns = {(t["dialog_id"], turn["turn_pair_id"]): turn for t in traces for turn in t["turns"]}

    async def work(case: Case) -> None:
        for row in rows:
            if row["dialog_id"] == case.sample_id and row["eligible_m5"]:
                await _rate(judge, row, turns[row["dialog_id"], row["turn_pair_id"]])

    await context.each(cases, work)


async def _rate(judge: Any, row: Row, turn: Mapping[str, Any]) -> None:
    row["lm_judge_score"] = None
    try:
        row["lm_judge_score"] = await rated(
            judge, turn["user_text"], turn["pred_assistant_text"], row["rubric_required"]
        )
    except Unrated as error:
        row["lm_judge_error"] = str(error)
    except Exception as error:
        if is_stop(error):
            raise
        row["lm_judge_error"] = f"{type(error).__name__}: {error}"[:300]
