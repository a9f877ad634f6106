"""What a paper may say of a figure: numbers at the digits printed, words by the verdict, and how a mistake is told."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.analysis.addressed import PrintedFigure
from seedbed.analysis.results import Comparison
from seedbed.phases.verification.paper_claims import disagreement, plain_text, shown
from tests.unit.phases.verification.printed import verdict


def figure(**changed: Any) -> PrintedFigure:
    fields: dict[str, Any] = {"kind": "value", "values": (0.6125,), "digits": 3, "share": True, "spread": 0.021}
    return PrintedFigure(**{**fields, **changed})


def signed(value: float, higher_is_better: bool | None = None, **changed: Any) -> PrintedFigure:
    c = Comparison("s", "b", "m", "x", "base", "f", higher_is_better=higher_is_better)
    return figure(kind="signed", values=(value,), comparison=c, **changed)


def plain(*values: float | None, **changed: Any) -> PrintedFigure:
    """One that is no share."""
    return figure(values=values, share=False, **changed)


@pytest.mark.parametrize(
    ("text", "figure", "right"),
    [
        # A share may be printed as a percentage; one and less can only be itself.
        ("1.0", figure(values=(1.0,)), True), ("1%", figure(values=(0.01,)), True),
        ("1", figure(values=(0.01,)), False),
        ("1.01", figure(values=(0.0101,)), True), ("-61", signed(-0.61), True), ("3.0%", plain(3.0), True),
        ("300%", plain(3.0), False), ("3 points", figure(values=(0.03,)), True), ("3pp", figure(values=(0.03,)), True),
        # Rounded to the last digit printed, up or down where it lies in the middle.
        ("0.6", plain(0.65), True), ("0.7", plain(0.65), True), ("0.6", plain(0.651), False), ("1", plain(1.5), True),
        ("100000000.2", plain(100000000.25), True), ("200000000.3", plain(200000000.25), True),
        ("100000000.1", plain(100000000.05), True), ("1", plain(1.51), False), ("2e3", plain(2400.0), True),
        ("2e3", plain(2600.0), False), ("2.0e3", plain(2040.0), True), ("2.0e3", plain(2060.0), False),
        ("3.0e-2", plain(0.0304), True), ("3.0e-2", plain(0.0306), False), ("1,234.5", plain(1234.54), True),
        ("1,234.5", plain(1234.56), False), ("12,345,678", plain(12345678.0), True),
        # A digit of a name is no number.
        ("an F1 of 0.61", figure(), True), ("an F1 of 0.62", figure(), False), ("F12 is 0.61", figure(), True),
        ("at top-5 0.61", figure(), False), ("seed_1.5: .61", figure(), True), ("F1为0.61", figure(), True),
        # Bounds.
        ("< 0.03", plain(0.03), False), ("<= 0.03", plain(0.03), True), ("<= 0.03", plain(0.04), False),
        ("< 0.03", plain(0.02), True), ("<= 0.03", plain(0.02), True), ("< 0.03", plain(0.04), False),
        ("> 0.03", plain(0.03), False), (">= 0.03", plain(0.03), True), (">= 0.03", plain(0.02), False),
        ("> 0.03", plain(0.04), True), (">= 0.03", plain(0.04), True), ("> 0.03", plain(0.02), False),
        # A spread stands behind one mean that has one, with its sign.
        ("0.61 ± 0.02", figure(), True), ("0.61 ± 0.02", figure(spread=None), False), ("0.61 0.02", figure(), False),
        ("0.61 0.02 ± 0.02", figure(), False), ("[0.40, 0.61] ± 0.02", figure(values=(0.4, 0.61)), False),
        ("[0.40, 0.61]", figure(values=(0.4, 0.61)), True), ("[0.41, 0.61]", figure(values=(0.4, 0.61)), False),
        ("0.40", figure(values=(0.4, 0.61)), False),
        # A difference without a sign has the direction of the words beside it.
        ("gains 0.031", signed(0.031), True), ("gains 0.031", signed(-0.031), False),
        ("drops by 3.1%", signed(-0.031), True),
        ("gains 0.000", signed(0.0), True), ("improves, then drops, by 0.031", signed(-0.031), True),
        ("improves, then drops, by 0.031", signed(0.031), True),
        ("drops by -0.031", signed(-0.031), True), ("drops by +0.031", signed(-0.031), False),
        ("better by 0.031", signed(-0.031, False), True), ("better by 0.031", signed(0.031, False), False),
        ("worse by 0.031", signed(0.031, False), True), ("better by 0.031", signed(0.031, True), True),
        ("better by 0.031", signed(0.031, None), True), ("0.031", signed(-0.031), False),
        ("higher 0.61", figure(), True),
        ("gains 0.031", figure(kind="signed", values=(0.031,)), True), ("lower 0.61", figure(), True),
        ("gains 0.031", figure(kind="signed", values=(-0.031,)), False),
    ],
)  # fmt: skip
def test_a_number_agrees_or_not(text: str, figure: PrintedFigure, right: bool) -> None:
    assert (disagreement(text, figure) is None) is right


@pytest.mark.parametrize(
    ("text", "figure", "right"),
    [
        ("significantly better and higher", verdict(), True), ("better, that is higher", verdict(), True),
        ("significantly better, that is lower", verdict("better", -0.1, 0.01, False), True),
        ("significantly worse, that is lower", verdict("worse", -0.1), True), ("worse", verdict("worse", -0.1), True),
        ("significantly worse, that is higher", verdict("worse", 0.1, 0.01, False), True),
        ("better", verdict("higher", 0.1, 0.01, None), True), ("worse", verdict("lower", -0.1, 0.01, None), True),
        ("better", verdict("better", 0.0), False), ("better", verdict("better", None), False),
        ("better", verdict("better", 0.1, 0.2), False), ("higher", verdict("too many missing"), False),
        ("significantly better, that is no difference", verdict(), False),
        ("better and inconclusive", verdict(), False),
        ("insignificantly better", verdict("too small to tell", 0.1, 0.2), True), ("insignificant", verdict(), False),
        ("better (p < 0.05)", verdict(), True), ("better (p < 0.01)", verdict(), False),
        ("better (p <= 0.01)", verdict(), True), ("better, p-value of 0.010", verdict(), True),
        ("better, p is 0.02", verdict(), False), ("better (p = 0.010) and (p = 0.011)", verdict(), False),
        ("better (p = 0.01)", verdict("better", 0.1, None), False),
        ("too small to tell", verdict(), False), ("inconclusive", verdict("too small to tell", 0.1, 0.2), False),
        ("no difference, or undecided", verdict("no difference", 0.0, 0.9), False),
        ("no verdict", verdict("no verdict", None, None), True),
        ("equivalent", verdict("no difference", 0.0, 0.9), True), ("equivalent", verdict(), False),
    ],
)  # fmt: skip
def test_words_agree_or_not(text: str, figure: PrintedFigure, right: bool) -> None:
    assert (disagreement(text, figure) is None) is right


def test_a_word_without_a_test_must_stand_there() -> None:
    named = PrintedFigure("word", word="direct")
    assert disagreement("held against direct", named) is None
    assert disagreement("held against multi", named) == "says 'held against multi', the stored rows give 'direct'"


@pytest.mark.parametrize(
    ("text", "figure", "said"),
    [
        ("0.61", figure(values=(None,)), "says '0.61', and the figure is undefined"),
        ("0.61", PrintedFigure("word"), "says '0.61', and the figure is undefined"),
        ("a lot", figure(), "says 'a lot', which is no number; the stored rows give 0.6125"),
        ("0.61 of 0.7", figure(), "says 2 numbers ('0.61 of 0.7'); the stored rows give 0.6125"),
        ("0.5", figure(), "says '0.5', the stored rows give 0.6125"),
        ("0.5", figure(digits=5), "says '0.5', the stored rows give 0.612500"),
        ("0.5", figure(digits=1), "says '0.5', the stored rows give 0.6125"),
        ("12", figure(kind="count", values=(1234,)), "says '12', the stored rows give 1234"),
        ("0.5, 0.7", signed(0.1), "says 2 numbers ('0.5, 0.7'); the stored rows give +0.1000"),
        ("0.5, 0.7", figure(values=(0.25, 0.75)), "says '0.5, 0.7', the stored rows give [0.2500, 0.7500]"),
        ("x" * 80, figure(), f"says '{'x' * 80}', which is no number; the stored rows give 0.6125"),
        ("x" * 81, figure(), f"says '{'x' * 79}…', which is no number; the stored rows give 0.6125"),
        ("worse", verdict(), "says 'worse', the stored rows give 'better' (difference +0.100, p 0.010 after Holm)"),
        (
            "worse",
            verdict("too small to tell", None, None),
            "says 'worse', the stored rows give 'too small to tell' (no difference known, p - after Holm)",
        ),
        ("better (p = 0.02)", verdict(), "says 'p = 0.02', the stored rows give p 0.010 after Holm"),
        ("better (p = 0.02)", verdict("better", 0.1, None), "says 'p = 0.02', the stored rows give p - after Holm"),
        ("better by 0.3", verdict(), "says 'better by 0.3': a number other than p needs an address of its own"),
        (
            "rather nice",
            verdict(),
            "says 'rather nice', which is no claim that can be checked; the verdict is 'better': say '(not) "
            "significantly', 'better', 'worse', 'higher', 'lower', 'no difference' or the verdict itself",
        ),
    ],
)
def test_a_mistake_is_told_with_what_the_rows_give(text: str, figure: PrintedFigure, said: str) -> None:
    assert disagreement(text, figure) == said


def test_a_figure_is_shown_with_more_digits_than_a_paper_has() -> None:
    assert shown(figure(values=(None, 0.5))) == "nothing: it is undefined"
    assert shown(PrintedFigure("word", word="direct")) == "'direct'"
    assert shown(figure(kind="dollars", values=(1.5,), digits=4)) == "1.50000"
    assert shown(signed(-0.25)) == "-0.2500"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (r"$0.61 \pm 0.02$", "0.61 ± 0.02"), (r"\textbf{61}\,\%", "61 %"), (r"1{,}234", "1,234"), (r"1\,234", "1,234"),
        (r"$3.0 \times 10^{-2}$", "3.0e-2"), (r"$p \leq 0.05$", "p <= 0.05"), (r"$p \geq 0.05$", "p >= 0.05"),
        (r"$p \lt 0.05$", "p < 0.05"), (r"$p \gt 0.05$", "p > 0.05"), ("$-$3.1", "-3.1"), ("--3", "-3"), ("a~b", "a b"),
        ("− 0.5", "-0.5"), ("≤ 1", "<= 1"),
    ],
)  # fmt: skip
def test_latex_is_read_as_a_reader_sees_it(text: str, meant: str) -> None:
    assert plain_text(text) == meant
