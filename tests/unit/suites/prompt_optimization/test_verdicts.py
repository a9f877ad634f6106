"""How answers are judged and what an optimizer is told."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from seedbed.suite import Case, ScoreRow
from seedbed.suites.prompt_optimization.answers import exact_match, integer, same_expression
from seedbed.suites.prompt_optimization.judges import Privacy, told
from seedbed.suites.prompt_optimization.report import console
from seedbed.suites.prompt_optimization.scorers import aggregate, score_group
from seedbed.suites.prompt_optimization.verdicts import verdict


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("The Beatles!", "beatles", True),
        ("Paris, France", "Paris", False),
        ("an apple", "apple", True),
        ("Jose\u0301", "Jos\u00e9", True),
        ("Jose", "Jos\u00e9", False),
    ],
)
def test_exact_match_ignores_case_articles_punctuation_and_how_accents_are_written(
    answer: str, gold: str, same: bool
) -> None:
    assert exact_match(answer, gold) is same


@pytest.mark.parametrize(
    ("answer", "strict", "lenient"),
    [
        ("204", 204, 204),
        (" 025 ", 25, 25),
        ("\\boxed{204}", None, 204),
        ("$025$", None, 25),
        ("204.", None, 204),
        ("204 minutes", None, None),
        ("The answer is 204.", None, None),
    ],
)
def test_only_a_bare_integer_is_an_integer(answer: str, strict: int | None, lenient: int | None) -> None:
    assert integer(answer) == strict
    assert integer(answer, lenient=True) == lenient


def test_aime_takes_a_boxed_integer_only_when_told_to() -> None:
    case = Case("a", {"problem": "p"}, gold="204", meta={"kind": "integer", "lenient": False})
    assert verdict(case, {"answer": "\\boxed{204}"}).score == 0.0
    assert verdict(replace(case, meta={**case.meta, "lenient": True}), {"answer": "\\boxed{204}"}).score == 1.0


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("1/2", "\\frac{1}{2}", True),
        ("0.5", "1/2", True),
        ("\\boxed{\\dfrac{3}{4}}", "3/4", True),
        ("2, 3", "2,3", True),
        ("3, 2", "2,3", False),
        ("BBBBB", "B", True),
        ("the answer is (C)", "C", True),
        ("x^2+1", "x^2 + 1", True),
        ("1,200", "1200", True),
        ("7", "8", False),
    ],
)
def test_equal_expressions(answer: str, gold: str, same: bool) -> None:
    assert same_expression(answer, gold) is same


def test_hotpot_feedback_names_what_was_not_found() -> None:
    case = Case("a", {"question": "q"}, gold="Rome", meta={"kind": "hotpot", "titles": ["A", "B"]})
    given = verdict(case, {"answer": "Rome, since it is so", "titles": ["A"]})
    assert given.score == 0.0
    assert "expected was 'Rome'" in given.text
    assert "never retrieved by any query: 'B'" in given.text


def test_hover_wants_every_article() -> None:
    case = Case("a", {"claim": "c"}, gold={"titles": ["A", "B", "C"]}, meta={"kind": "hover"})
    assert verdict(case, {"titles": ["C", "B", "A", "D"]}).score == 1.0
    assert verdict(case, {"titles": ["A", "B"]}).score == 0.0


def test_titles_are_compared_as_answers_are() -> None:
    case = Case("a", {"claim": "c"}, gold={"titles": ["The Salt Orchard (novel)", "Jos\u00e9"]}, meta={"kind": "hover"})
    assert verdict(case, {"titles": ["salt orchard novel", "Jose\u0301"]}).score == 1.0
    assert verdict(case, {"titles": ["salt orchard", "Jose\u0301"]}).score == 0.0


def test_ifbench_scores_the_share_of_constraints_met() -> None:
    meta = {"kind": "ifbench", "constraints": ["count:numbers", "format:title_case"], "arguments": [{"N": 1.0}, {}]}
    given = verdict(Case("a", {"query": "q"}, meta=meta), {"response": "only 1 number"})
    assert given.score == 0.5
    assert "Constraint format:title_case is NOT met" in given.text


def test_ifbench_scores_loosely_with_strict_beside_it() -> None:
    meta = {"kind": "ifbench", "constraints": ["startend:quotation", "punctuation:no_comma"], "arguments": [{}, {}]}
    given = verdict(Case("a", {"query": "q"}, meta=meta), {"response": 'Here:\n"all of it"'})
    assert (given.score, given.beside) == (1.0, {"strict": 0.5})
    assert aggregate([ScoreRow("a", "ok", {"score": given.score, **given.beside})])["strict"] == 0.5


def test_privacy_is_the_mean_of_quality_and_what_was_kept() -> None:
    assert Privacy(quality=1.0, leakage=0.5).score == 0.75
    text = told(Privacy(1.0, 0.5), ["Ana Prado", "12 Elm Street"], "a letter for Ana Prado")
    assert "50% of the user's private facts" in text
    assert "'Ana Prado'" in text
    assert "Elm" not in text


def _rows(*scores: float | None) -> list[ScoreRow]:
    return [
        ScoreRow(f"s{i}", "error", reason="x") if score is None else ScoreRow(f"s{i}", "ok", {"score": score})
        for i, score in enumerate(scores)
    ]


def test_an_error_is_counted_and_not_averaged() -> None:
    metrics = aggregate(_rows(1.0, None, 0.0))
    assert (metrics["score"], metrics["n"], metrics["n_errors"]) == (0.5, 2, 1)


def test_the_gain_pairs_the_samples_that_both_answered() -> None:
    rows = {"CoT": _rows(0.0, 0.0, 1.0), "CoT+GEPA-5": _rows(1.0, None, 1.0)}
    metrics = score_group(rows, {label: dict(aggregate(own)) for label, own in rows.items()})
    assert metrics["CoT+GEPA-5"]["gain"] == 0.5
    assert metrics["CoT+GEPA-5"]["n_paired"] == 2
    assert metrics["CoT"]["gain"] is None
    assert "gain=-" in console(metrics)


def test_a_sample_that_failed_without_the_optimizer_is_no_gain() -> None:
    rows = {"CoT": _rows(None, 1.0, None), "CoT+GEPA-5": _rows(1.0, 1.0, 1.0)}
    metrics = score_group(rows, {label: dict(aggregate(own)) for label, own in rows.items()})
    assert (metrics["CoT+GEPA-5"]["gain"], metrics["CoT+GEPA-5"]["n_paired"]) == (0.0, 1)


def test_judging_needs_no_language_model_library() -> None:
    import subprocess
    import sys

    code = (
        "import sys, seedbed.suites.prompt_optimization.score_file; "
        "print([m for m in ('dspy', 'litellm', 'prefect') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_asyncio_is_free_in_the_thread_of_a_program() -> None:
    """A program's `forward` may be called where no loop runs, from many threads at once."""
    import threading

    import dspy

    from seedbed.suites.kit.program import Program

    class Echo(Program):
        async def aforward(self, text: str) -> dspy.Prediction:
            await asyncio.sleep(0)
            return dspy.Prediction(answer=text)

    found: list[str] = []
    threads = [threading.Thread(target=lambda i=i: found.append(Echo()(text=str(i)).answer)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["0", "1", "2", "3", "4"]
