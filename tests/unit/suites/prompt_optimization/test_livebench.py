"""LiveBench's math judged as LiveBench judges it: by algebra, letter, padded integer and order of steps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seedbed.suite import Case
from seedbed.suites.prompt_optimization.algebra import Algebra
from seedbed.suites.prompt_optimization.latex import UnreadableLatex, read_latex
from seedbed.suites.prompt_optimization.livebench import choice, digits, edit_distance, expression, judge_of, order
from seedbed.suites.prompt_optimization.verdicts import verdict

CHOICES = r"Which? $\textbf{(A) } 14 \qquad \textbf{(B)} ~36 \qquad \textbf{(C) } \frac{7}{2}$"


@pytest.mark.parametrize(
    ("task", "subtask", "judge"),
    [
        ("math_comp", "amc_12a_2023", choice),
        ("math_comp", "updated_amc_12b_2023", choice),
        ("math_comp", "smc", choice),
        ("math_comp", "aime_ii_2024", digits),
        ("olympiad", "usamo", order),
        ("olympiad", "imo", order),
        ("AMPS_Hard", "amps_hard_gcd", expression),
        ("AMPS_Hard", "", expression),
        ("sample", None, None),
        (None, None, None),
    ],
)
def test_the_subtask_tells_how_a_question_is_judged(task: str | None, subtask: str | None, judge: object) -> None:
    assert judge_of(task, subtask) is judge


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("It is B. BBBBB", 1),
        ("BBBB", 1),
        ("<solution>BBBBB</solution>", 1),
        ("<solution>b</solution>", 1),
        ("\\boxed{\\text{B}}", 1),
        ("So\n**B**", 1),
        ("The answer is (B).", 1),
        ("which leaves 36.", 1),
        ("<think>BBBBB</think> CCCCC", 0),
        ("B, I think", 0),
        ("<solution>AAAAA</solution>", 0),
        ("The answer is (C)", 0),
        ("36 is too much, for a number of reasons that I will not list", 0),
    ],
)
def test_a_choice_is_taken_where_livebench_looks_for_it(answer: str, score: int) -> None:
    assert choice("B", answer, CHOICES).score == score


@pytest.mark.parametrize(
    ("answer", "score"),
    [("025", 1), ("The answer is **025**.", 1), ("25", 0), ("025" + " and then some more words" * 3, 0), ("250", 0)],
)
def test_an_integer_is_padded_and_stands_near_the_end(answer: str, score: int) -> None:
    assert digits("025", answer, "").score == score


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("Reasons.\n\nAnswer: 2, 4, 1, 3", 1.0),
        ("answer: $\\boxed{2,4,1,3}$.", 1.0),
        ("**Answer:**\n2, 4, 1, 3", 1.0),
        ("So \\boxed{2, 4, 1, 3}", 1.0),
        ("2, 4, 1, 3", 1.0),
        ("<2>, <4>, <1>, <3>", 1.0),
        ("Answer: 2,4,3,1", 0.5),
        ("Answer: 2,4,1", 0.75),
        ("Answer: 2,4,1,3,5", 0.8),
        ("Answer: first 2, then x, 1, 3", 0.75),
        ("Answer: 5,6,7,8", 0.0),
        ("I cannot tell.", 0.0),
    ],
)
def test_an_order_of_steps_earns_what_is_right_of_it(answer: str, score: float) -> None:
    assert order("2,4,1,3", answer, "").score == pytest.approx(score)


def test_the_edit_distance_counts_insertions_deletions_and_replacements() -> None:
    assert edit_distance([1, 2, 3], [2, 3, 4]) == 2
    assert edit_distance([], [1, 2]) == 2
    assert edit_distance("kitten", "sitting") == 3


@pytest.mark.parametrize(
    ("truth", "answer", "score"),
    [
        (r"6 \left(x-\frac{1}{3}\right)^2+\frac{4}{3}", r"\boxed{6(x - \dfrac{1}{3})^2 + \dfrac{4}{3}}", 1),
        (r"-5 (-x-26) (x-8)", r"so $\boxed{5(x+26)(x-8)}$.", 1),
        (r"5 \sec ^2(5 x+1)-8 \sin (7-8 x)", r"\boxed{5\sec^2(5x+1) + 8\sin(8x-7)}", 1),
        (r"\cos (5) \cos (x)-\sin (5) \sin (x)", r"\boxed{\cos(x+5) + C}", 1),
        (r"20\ 2^{3/5} 5^{2/5}", r"\boxed{20 \cdot 2^{3/5} \cdot 5^{2/5}}", 1),
        (r"\frac{\sqrt{\frac{8599}{14}}}{2}", r"\boxed{\sqrt{\frac{8599}{56}}}", 1),
        (r"\sqrt{\frac{1877}{10}}", r"s = \boxed{13.7004}", 1),
        (r"\lambda ^2-11 \lambda -\frac{95}{4}", r"$p(\lambda) = \lambda^2 - 11\lambda - \frac{95}{4}$", 1),
        (r"4 i \sqrt{5}", r"\boxed{4\sqrt{5}\,i}", 1),
        ("1000", r"\boxed{1,000}", 1),
        (r"\frac{2}{9}", r"the divisor is \frac{2}{9}.", 1),
        (r"\frac{2}{2 x+1}", r"\boxed{\frac{2}{2x-1}}", 0),
        ("33", r"\boxed{-33}", 0),
        ("33", "33 or so", 0),
        ("x^2", r"\boxed{\text{none}}", 0),
        ("x^2", r"\boxed{x^2, x^3}", 0),
    ],
)
def test_an_expression_is_compared_by_algebra(truth: str, answer: str, score: int) -> None:
    assert expression(truth, answer, "").score == score


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"\frac12", "1/2"),
        (r"2x^2y", "2*x**2*y"),
        (r"\sin 2x\cos x", "sin(2*x)*cos(x)"),
        (r"\sin^{-1} x", "asin(x)"),
        (r"\sqrt[3]{5-8 x^2}^2", "(5 - 8*x**2)**(2/3)"),
        (r"e^{-x^10}", "exp(-x**10)"),
        (r"\log_2 8", "3"),
        (r"\left| -3 \right|", "3"),
        (r"2 - -3/4 x", "3*x/4 + 2"),
        (r"x_1 + \mathrm{e}", "x_1 + E"),
        ("2πr", "2*pi*r"),
    ],
)
def test_latex_is_read_as_it_is_meant(text: str, plain: str) -> None:
    assert str(read_latex(text)) == plain


@pytest.mark.parametrize("text", ["", "(x", "x)", "1,000", "x = 3", r"\frac{1}", "x +", "a & b"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(UnreadableLatex):
        read_latex(text)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["9^{9^{9^9}}", "10^{10^{10}}!", "(" * 1500 + "x", "\\sqrt{" * 900 + "x"])
def test_an_input_that_would_take_for_ever_ends_in_time_and_harms_nothing(text: str) -> None:
    algebra = Algebra(limit_s=2)
    try:
        assert not algebra.equal("5", text)
        assert algebra.equal("5", r"\frac{10}{2}"), "the next pair finds a process that works"
    finally:
        algebra.close()


def test_the_verdict_says_what_was_read() -> None:
    case = Case("a", {"problem": "p"}, gold="2,1,3", meta={"kind": "math", "task": "olympiad", "subtask": "imo"})
    given = verdict(case, {"answer": "Answer: 2,3,1"})
    assert given.score == pytest.approx(1 / 3)
    assert "expected was '2,1,3'" in given.text
    assert "the order [2, 3, 1]" in given.text


@pytest.mark.slow
def test_ctrl_c_does_not_reach_the_process_that_compares() -> None:
    """It would break off a comparison, which then counted as unequal."""
    algebra = Algebra()
    before = _children()
    assert algebra.equal("1/2", "0.5")
    (worker,) = _children() - before
    assert os.getpgid(worker) != os.getpgid(0)
    algebra.close()
    assert worker not in _children()


def _children() -> set[int]:
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text(encoding="ascii").split()}
