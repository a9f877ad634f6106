"""A paper of a few lines against a sweep: what is held against the rows, what is told, what is not looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from seedbed.analysis.addressed import PrintedFigure, addressed_rows
from seedbed.analysis.results import Summary
from seedbed.phases.context import read_run
from seedbed.phases.verification.paper import CheckedPaper, check_paper, summary_again
from seedbed.report.latex import to_latex
from seedbed.report.numbers import to_numbers

BARE = "decimals or claims of significance without an address"


@pytest.fixture(scope="module")
def summary(toy_run: Path) -> Summary:
    return summary_again(read_run(toy_run))


@pytest.fixture(scope="module")
def figures(summary: Summary) -> Mapping[str, PrintedFigure]:
    """Of the system `strong`, by what follows its name."""
    return next(row.figures for row in addressed_rows(summary) if "sums/strong" in row.names)


Check = Callable[..., CheckedPaper]


@pytest.fixture
def check(tmp_path: Path, summary: Summary) -> Check:
    """Checks a text, with numbers.tex beside it unless there are to be none."""

    def checked(text: str, claims: str | None = None, also: Summary | None = None, **files: str) -> CheckedPaper:
        (tmp_path / "p.tex").write_text(text, encoding="utf-8")
        for name, own in files.items():
            (tmp_path / f"{name}.tex").write_text(own, encoding="utf-8")
        if claims is not None:
            (tmp_path / "p.claims.yaml").write_text(claims, encoding="utf-8")
        return check_paper(tmp_path / "p.tex", [summary, *([also] if also else [])])

    return checked


NUMBERS = "\\sbrow{nobody:s/x@m}\\sbnumber{f1}{0.5}\\sbnumber{f2}{0.5}\n"
"""A file of numbers of another sweep: there is one, and nothing in it is checked."""
ELSEWHERE = "the numbers of the sweep nobody in n.tex: it is not given here"


def told(check: Check, text: str, **more: Summary) -> list[str]:
    found = check(f"\\input{{n}}{text}", n=NUMBERS, **more)
    assert found.unchecked == [ELSEWHERE], "once, however many there are"
    return list(found.differences)


def test_a_paper_that_says_nothing_has_nothing_to_check(check: Check) -> None:
    assert check("We ask what $x\\sb{i}$ is.") == CheckedPaper(0, [], [])


def test_a_macro_without_the_numbers_is_told_once(check: Check) -> None:
    found = check("\n\\sb{i} \\sb{sums/weak/digits} and \\sb{sums/weak/right}")
    said = r"p.tex:2: uses \sb, but no numbers.tex is read; copy it from the run's folder and \input it"
    assert found == CheckedPaper(3, [said], [])


def test_every_number_of_a_copy_is_checked(check: Check, summary: Summary) -> None:
    known = [figure for row in addressed_rows(summary) for figure in row.figures.values() if figure.known]
    found = check("\\input{numbers}\\sb{sums/weak/digits}", numbers=to_numbers(summary))
    assert found == CheckedPaper(len(known) + 1, [], [])


def test_what_of_a_copy_is_stale_is_named_with_its_line(check: Check, figures: Mapping[str, PrintedFigure]) -> None:
    unknown = next(name for name, figure in figures.items() if not figure.known)
    mean = figures["digits"].numbers[0]
    copy = (
        "\\sbrow{toys:sums/strong@reader}\n\\sbnumber{digits}{0.5}\n\\sbnumber{none}{0.5}\n"
        f"\\sbnumber{{{unknown}}}{{0.5}}\n\\sbnumber{{digits}}{{{mean:.3f}}}\n"
    )
    found = check("\\input{numbers}", numbers=copy)
    assert found.n_checked == 4
    row = "toys:sums/strong@reader"
    assert found.differences == [
        f"numbers.tex:2: {row}/digits is '0.5', the stored rows give {mean:.4f}",
        f"numbers.tex:3: {row}/none is stale: the stored rows give no such number",
        f"numbers.tex:4: {row}/{unknown} is stale: the stored rows give no such number",
    ]


def test_a_copy_of_the_tables_is_compared_line_by_line(check: Check, summary: Summary) -> None:
    lines = to_latex(summary).splitlines()
    at = next(n for n, line in enumerate(lines) if "strong" in line and "& 0." in line)
    changed = [*lines[:at], lines[at].replace("& 0.", "& 7.", 1), *lines[at + 1 :]]
    found = check("\\input{summary}", summary="\n".join(changed))
    assert found.n_checked == len(lines)
    (said,) = found.differences
    assert said.startswith(f"summary.tex:{at + 1}: ")
    assert "is stale, the stored rows give" in said
    shorter = check("\\input{summary}", summary="\n".join(lines[:-1]))
    assert shorter.differences == [
        f"summary.tex:1: has {len(lines) - 1} lines, the stored rows give {len(lines)}; copy it anew"
    ]
    assert check("\\input{summary}", summary="\n".join(lines)) == CheckedPaper(len(lines), [], [])
    of_another = "\n".join(lines).replace("tab:toys-", "tab:others-")
    (said,) = check("\\input{summary}", summary=of_another).unchecked
    assert BARE in said


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("a/b", "is no address; write BENCHMARK/SYSTEM/METRIC"),
        ("sums/strong/digits/nothing/more", "is unknown: sums/strong has no digits/nothing/more"),
        ("sums/strong/xyzzy", "is unknown: sums/strong has no xyzzy"),
        ("sums/weak/digits/p", "is unknown: sums/weak is what others are held against and has no p of its own"),
        ("xyzzy/quux/digits", "is unknown: no sweep given here has xyzzy/quux"),
    ],
)
def test_an_address_that_nothing_has_is_named(check: Check, address: str, said: str) -> None:
    (one,) = told(check, f"\n\\sb{{{address}}}")
    assert one.partition("; it has")[0] == f"p.tex:2: {address} {said}"


def test_what_is_nearest_to_an_address_is_named(check: Check) -> None:
    (figure,) = told(check, "\\sb{sums/strong/digits/interva}")
    assert "sums/strong has no digits/interva; it has digits/interval, " in figure
    assert figure.count(", ") == 2
    (row,) = told(check, "\\sb{sums/strongs/digits}")
    assert "no sweep given here has sums/strongs; did you mean sums/strong or " in row
    assert row.count(" or ") == 2
    (nothing,) = told(check, "\\sb{sums/weak/digitz/p}")
    assert "sums/weak has no digitz/p; it has " in nothing


def test_a_name_of_two_sweeps_needs_the_sweep(check: Check, summary: Summary) -> None:
    other = replace(summary, sweep="other")
    (said,) = told(check, "\\sb{sums/strong/digits} \\sb{toys:sums/strong/digits}", also=other)
    assert said == (
        "p.tex:1: sums/strong/digits is in several sweeps; "
        "write toys:sums/strong@reader/digits or other:sums/strong@reader/digits"
    )


def test_a_subscript_is_no_address(check: Check) -> None:
    assert told(check, "$x\\sb{i}$ $y\\sb{i/j}$ \\sb{i}") == []
    assert told(check, "\\sb{i/j}") == ["p.tex:1: i/j is no address; write BENCHMARK/SYSTEM/METRIC"]
    (said,) = told(check, "$\\sb{xyzzy/quux/digits}$")
    assert "is unknown" in said


def test_an_address_made_by_a_macro_cannot_be_checked(check: Check) -> None:
    found = check("\\input{n}\n\\newcommand{\\f}[1]{\\sb{sums/#1/digits}}", n=NUMBERS)
    assert (found.n_checked, found.differences) == (0, [])
    assert found.unchecked == [ELSEWHERE, "p.tex:2: sums/#1/digits, which a macro's argument is part of"]


def test_a_number_that_is_undefined_cannot_be_printed(check: Check, figures: Mapping[str, PrintedFigure]) -> None:
    unknown = next(name for name, figure in figures.items() if not figure.known)
    address = f"sums/strong/{unknown}"
    assert told(check, f"\\sb{{{address}}}") == [f"p.tex:1: {address} is undefined: there is nothing to print"]


def test_words_beside_a_macro_are_held_against_it(check: Check, figures: Mapping[str, PrintedFigure]) -> None:
    mean = figures["digits"].numbers[0]
    text = f"\\sbsays{{sums/strong/digits}}{{{mean:.2f}}}\n\\sbsays{{sums/strong/digits}}{{7}}"
    found = check(f"\\input{{n}}{text}", n=NUMBERS)
    assert found.n_checked == 2
    assert found.differences == [f"p.tex:2: sums/strong/digits says '7', the stored rows give {mean:.4f}"]


def test_a_file_that_is_not_there_is_said(check: Check) -> None:
    assert check("\\input{gone}").unchecked == ["gone, which p.tex reads and which is not here"]


def test_a_claim_is_held_against_each_of_its_addresses(check: Check, figures: Mapping[str, PrintedFigure]) -> None:
    mean, right = (figures[name].numbers[0] for name in ("digits", "right"))
    text = f"It has {mean:.3f} digits\nand {mean:.3f} digits, {right:.3f} right."
    claims = (
        'claims:\n  - {text: "has 0.1 digits", is: sums/strong/digits}\n'
        '  - {text: "and 0.1 digits, 0.2 right", is: [sums/strong/digits, sums/strong/right]}\n'
    )
    assert check(text, claims) == CheckedPaper(2, [], [])
    wrong = check(text.replace(f"{mean:.3f}", "7.125"), claims)
    assert wrong.n_checked == 2
    assert wrong.differences == [
        f"p.tex:1: sums/strong/digits says 'has 7.125 digits', the stored rows give {mean:.4f}",
        f"p.tex:2: sums/strong/digits says '7.125', the stored rows give {mean:.4f}",
    ]
    last = check(text.replace(f"{right:.3f} right", "7.125 right"), claims)
    assert last.differences == [f"p.tex:2: sums/strong/right says '7.125', the stored rows give {right:.4f}"]
    one = claims.replace(", sums/strong/right]", "]")
    assert len(check(text, one).differences) == 1
    more = claims.replace("sums/strong/right]", "sums/strong/right, sums/weak/right]")
    assert check(text, more).differences == [
        "p.tex:2: says 2 numbers, and 3 addresses are given for 'and 0.1 digits, 0.2 right'"
    ]
    assert check(text, "claims: []\n").unchecked == [f"p.tex: 3 {BARE} (lines 1, 2)"]


def test_claims_that_are_named_take_the_place_of_those_beside_the_paper(
    tmp_path: Path, summary: Summary, figures: Mapping[str, PrintedFigure]
) -> None:
    (tmp_path / "p.tex").write_text(f"It has {figures['digits'].numbers[0]:.3f} digits.", encoding="utf-8")
    (tmp_path / "p.claims.yaml").write_text("no: claims", encoding="utf-8")
    (tmp_path / "c.yaml").write_text('claims:\n  - {text: "has 0.1 digits", is: sums/strong/digits}\n')
    assert check_paper(tmp_path / "p.tex", [summary], tmp_path / "c.yaml") == CheckedPaper(1, [], [])


def test_a_claim_that_the_paper_makes_no_more_is_told(check: Check, tmp_path: Path) -> None:
    claims = (
        'claims:\n  - {text: "has 0.1 digits", is: sums/strong/digits}\n'
        '  - {text: "is 0.1", is: [sums/strong/digits, sums/strong/xyzzy]}\n'
    )
    file = tmp_path / "p.claims.yaml"
    assert check("It is 0.1.", claims) == CheckedPaper(
        2,
        [
            f"{file}:2: the paper does not say 'has 0.1 digits' any more",
            f"{file}:3: sums/strong/xyzzy is unknown: sums/strong has no xyzzy",
        ],
        [f"p.tex: 1 {BARE} (lines 1)"],
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.25", f"1 {BARE} (lines 1)"),
        ("a 0.25 b 0.5\nc\nd significantly", f"3 {BARE} (lines 1, 3)"),
        ("0.25 \\begin{document}\n0.5", f"1 {BARE} (lines 2)"),
        ("12 of 13, 5pt", None),
        ("\\vspace{0.5em} \\hspace{1.5pt}", None),
        ("0.25\\linewidth", None),
        ("\\sbsays{sums/strong/verdict}{significantly} \\sbsays{sums/strong/xyzzy}{0.5}", None),
        ("0.5 \\sbsays{sums/strong/xyzzy}{0.5}0.5", f"2 {BARE} (lines 1)"),
        ("\n".join(["0.5"] * 13), f"13 {BARE} (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 1 more)"),
        ("\n".join(["0.5"] * 12), f"12 {BARE} (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)"),
    ],
)
def test_what_looks_like_a_result_and_carries_no_address_is_said(check: Check, text: str, said: str | None) -> None:
    assert list(check(text).unchecked) == ([] if said is None else [f"p.tex: {said}"])
