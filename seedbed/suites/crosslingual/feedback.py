"""What an optimizer learns from one answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seedbed.suite import Case, Feedback, PhaseContext
from seedbed.suites.crosslingual.languages import language_name
from seedbed.suites.crosslingual.metrics import score_rows


def feedback(context: PhaseContext, case: Case, output: Mapping[str, Any]) -> Feedback:
    """Token F1 as the score; the words say what was accepted and whether the language was right."""
    reply, language = str(output.get("answer") or ""), case.inputs["language"]
    columns = score_rows([reply], [case.gold], [language])
    f1, right_language = float(columns["f1"][0]), float(columns["rlc_ok"][0]) >= 1.0
    told = f"The answer {reply!r} is {'correct' if f1 == 1.0 else 'wrong or not exact'}; expected was {case.gold[0]!r}."
    if not right_language:
        told += f" It must be written in {language_name(language)}."
    return Feedback(f1, f"{told} The score is the share of words in common: {f1:.2f}.")
