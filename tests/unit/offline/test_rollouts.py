"""A rollout is another answer of the offline model, all the way from DSPy to its dice."""

from __future__ import annotations

from pathlib import Path

import dspy

from seedbed.lm.ledger.database import sqlite_url
from seedbed.lm.runtime import LMRuntime
from seedbed.sweep.model_config import ModelConfig
from tests.support.lm import scope

TOWNS = ("Corby", "Elham", "Alby")
INPUTS = {
    "question": "How high is the tower of Corby?",
    "context": [f"The tower of {town} is {50 + n} metres high." for n, town in enumerate(TOWNS)],
}


def test_rollouts_are_answers_of_their_own(tmp_path: Path) -> None:
    unsure = ModelConfig(model="offline/unsure", temperature=1.0, options={"ability": 0.5})
    made = LMRuntime(sqlite_url(tmp_path / "ledger.sqlite"), {"m": unsure})
    ask = dspy.Predict("question, context: list[str] -> answer")
    wanted = [*range(8), *range(8)]
    try:
        with dspy.context(lm=made.lm(scope())):
            answers = [ask(**INPUTS, config={"rollout_id": n, "temperature": 1.0}).answer for n in wanted]
    finally:
        made.close()
    assert len(set(answers)) > 1
    assert answers[:8] == answers[8:], "the same rollout is the same answer"
