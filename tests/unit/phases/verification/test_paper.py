"""`seedbed verify paper.tex SWEEP`: a number or a claim that does not follow from the rows is named with its line."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seedbed.analysis.addressed import PrintedFigure, addressed_rows
from seedbed.analysis.results import Summary
from seedbed.cli.main import main
from seedbed.errors import UserError
from seedbed.phases.context import read_run
from seedbed.phases.verification.paper import CheckedPaper, check_paper, summary_again
from seedbed.phases.verification.paper_claims import disagreement
from tests.unit.phases.verification.printed import verdict

_SYSTEMS = ("weak", "middle", "strong")
_CLAIMS = {
    "significantly better": ("significantly worse", "not significantly better", "no different", "significantly lower"),
    "outperforms": ("underperforms", "does not significantly differ from", "is equivalent to"),
    "significantly higher": ("significantly lower", "insignificantly higher", "lower"),
    "not significantly better": ("significantly better", "better", "worse", "equivalent"),
}


@pytest.fixture(scope="module")
def summary(toy_run: Path) -> Summary:
    return summary_again(read_run(toy_run))


@pytest.fixture
def paper(toy_run: Path, summary: Summary, tmp_path: Path) -> Path:
    """A paper with numbers in every way: by macro, beside a macro, registered, in a table that it reads."""
    for name in ("numbers.tex", "summary.tex"):
        shutil.copyfile(toy_run / name, tmp_path / name)
    (tmp_path / "results.tex").write_text("\n".join(_sentences(summary)), encoding="utf-8")
    (tmp_path / "paper.claims.yaml").write_text("\n".join(_registered(summary)), encoding="utf-8")
    path = tmp_path / "paper.tex"
    path.write_text(
        "\\documentclass{article}\\usepackage{booktabs}\n\\input{numbers}\n\\begin{document}\n"
        "We ask, by \\sb{sums/strong/digits}, what $x\\sb{i}$ and $y\\sb{i/j}$ are. % not \\sb{this/or/that}\n\n"
        f"{' '.join(_plain(summary))}\n\n\\input{{results}}\n\\input{{summary.tex}}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    return path


def _sentences(summary: Summary) -> Iterator[str]:
    rows = {row.label: row for row in summary.rows}
    tests = {(c.label, c.metric): c for c in summary.comparisons}
    for system in _SYSTEMS:
        for metric in ("digits", "right", "f1"):
            at, over, samples = f"sums/{system}/{metric}", rows[system].metrics[metric], rows[system].samples[metric]
            assert over.mean is not None
            yield rf"{system} has \sb{{{at}}}, that is \sbsays{{{at}}}{{{100 * over.mean:.1f}\%}}"
            yield rf"(\sbsays{{{at}}}{{${over.mean:.2f} \pm {over.std:.2f}$}},"
            yield rf"\sbsays{{{at}/interval}}{{[{samples.ci_low:.3f}, {samples.ci_high:.3f}]}}"
            yield rf"over \sbsays{{{at}/n}}{{{samples.n_samples} questions}})."
            if (c := tests.get((system, metric))) is not None:
                assert c.difference is not None
                yield rf"It is \sbsays{{{at}/difference}}{{{100 * c.difference:.1f} points higher}}"
                yield rf"with \sbsays{{{at}/p}}{{$p = {c.p_holm:.3f}$}}."
    for (system, metric), c in tests.items():
        for word in [*_CLAIMS][:3] if c.verdict == "better" else [] if c.significant else [*_CLAIMS][3:]:
            yield rf"{system}: \sbsays{{toys:sums/{system}@reader/{metric}/verdict}}{{{word}}}."


def _plain(summary: Summary) -> Iterator[str]:
    """Sentences without a macro, broken over lines."""
    for row in summary.rows:
        if row.label in _SYSTEMS:
            yield f"The system {row.label} reaches\n{row.metrics['digits'].mean:.3f} of all digits."
            yield f"Its two seeds of {row.label} give {row.by_seed[0]['right']:.3f} and {row.by_seed[1]['right']:.3f}."
    yield "In digits strong is\nsignificantly better than anything weak."


def _registered(summary: Summary) -> Iterator[str]:
    yield "claims:"
    for row in summary.rows:
        if row.label in _SYSTEMS:
            at, mean = f"sums/{row.label}", row.metrics["digits"].mean
            yield f'  - {{text: "system {row.label} reaches {mean:.3f} of all", is: {at}/digits}}'
            seeds = f"{row.by_seed[0]['right']:.3f} and {row.by_seed[1]['right']:.3f}"
            yield f'  - {{text: "of {row.label} give {seeds}.", is: [{at}/right/seed-0, {at}/right/seed-1]}}'
    yield '  - text: "strong is significantly better than anything weak"\n    is: sums/strong/digits/verdict'


def checked(paper: Path, summary: Summary) -> CheckedPaper:
    return check_paper(paper, [summary])


Place = tuple[Path, int, str, str]
"""File, place, what stands there, what shall."""


def digits(path: Path, spans: str) -> list[Place]:
    rng = random.Random(path.name)
    text = path.read_text(encoding="utf-8")
    found = [(span.start(n), span[n]) for span in re.finditer(spans, text) for n in range(1, len(span.groups()) + 1)]
    places = [(start + digit.start(), digit[0]) for start, own in found if own for digit in re.finditer(r"\d", own)]
    return [(path, at, old, rng.choice([d for d in "0123456789" if d != old])) for at, old in places]


def claims(path: Path) -> list[Place]:
    text = path.read_text(encoding="utf-8")
    said = [
        (own.start(1), own[1]) for own in re.finditer(r"/verdict\}\{([^{}]*)\}|(?<=is\n)(significantly better)", text)
    ]
    return [(path, at, old, new) for at, old in said if old for new in _CLAIMS[old]]


def addresses(path: Path) -> list[Place]:
    text = path.read_text(encoding="utf-8")
    found = [own.end(1) - 1 for own in re.finditer(r"\\sb(?:says)?\{(sums/[^}]*)\}", text)]
    return [(path, at, text[at], "Z") for at in found]


def changes(paper: Path) -> list[Place]:
    """A hundred of them: 60 digits, 25 claims, 15 addresses."""
    rng = random.Random(26)
    results = paper.with_name("results.tex")
    pools = [
        (15, digits(paper, r"reaches\s+([\d.]+)|give ([\d.]+) and ([\d.]+[\d])")),
        (15, digits(results, r"\\sbsays\{[^}]*\}\{([^{}]*\d[^{}]*)\}")),
        (15, digits(paper.with_name("numbers.tex"), r"\\sbnumber\{[^}]*\}\{([^{}]*\d[^{}]*)\}")),
        (15, digits(paper.with_name("summary.tex"), r"& ([\d.]+)")),
        (25, claims(results)),
        (15, addresses(results)),
    ]
    return [place for n, pool in pools for place in rng.sample(pool, n)]


def test_the_paper_as_it_is_gives_no_alarm(paper: Path, summary: Summary) -> None:
    result = checked(paper, summary)
    assert result.differences == []
    assert result.n_checked > 300
    assert not any("without an address" in told for told in result.unchecked)


@pytest.mark.slow
def test_a_hundred_changed_digits_and_claims_are_named_with_file_and_line(paper: Path, summary: Summary) -> None:
    chosen = changes(paper)
    assert len(set(chosen)) == 100
    missed: list[str] = []
    for path, place, old, new in chosen:
        text = path.read_text(encoding="utf-8")
        assert text[place : place + len(old)] == old
        path.write_text(text[:place] + new + text[place + len(old) :], encoding="utf-8")
        line = text.count("\n", 0, place) + 1
        told = checked(paper, summary).differences
        # A sentence over two lines is named by its first.
        if not any(re.match(rf"{path.name}:({line}|{line - 1}): ", difference) for difference in told):
            missed.append(f"{path.name}:{line}: {old!r} -> {new!r}: {told}")
        path.write_text(text, encoding="utf-8")
    assert missed == []


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_paper_compiles(paper: Path) -> None:
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", paper.name],
        cwd=paper.parent, capture_output=True, text=True, errors="replace", timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_command_names_what_is_wrong_and_what_was_not_looked_at(
    paper: Path, toy_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(paper), str(toy_run), "--trust-plugins"]) == 0
    text = paper.read_text(encoding="utf-8")
    paper.write_text(
        text.replace("We ask,", "We gain 0.25, significantly,\n\\sb{sums/strng/digits},"), encoding="utf-8"
    )
    capsys.readouterr()
    assert main(["verify", str(paper), str(toy_run), "--trust-plugins"]) == 1
    said = capsys.readouterr().out
    assert "paper.tex:5: sums/strng/digits is unknown" in said
    assert "did you mean sums/strong" in said
    assert "paper.tex: 2 decimals or claims of significance without an address (lines 4)" in said


@pytest.mark.parametrize(("lines", "told"), [(12, ", 15)"), (13, ", 15 and 1 more)")])
def test_of_many_lines_without_an_address_the_first_twelve_are_named(
    paper: Path, summary: Summary, lines: int, told: str
) -> None:
    text = paper.read_text(encoding="utf-8")
    paper.write_text(text.replace("We ask,", "We gain 0.25\n" * lines + "We ask,"), encoding="utf-8")
    (said,) = [told for told in checked(paper, summary).unchecked if "without an address" in told]
    assert said.endswith(told)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["verify", "PAPER"], "name the sweep"),
        (["verify", "no_such.tex", "RUN"], "no such file"),
        (["verify", "RUN", "RUN"], "is no paper"),
        (["verify", "PAPER", "RUN", "--claims", "CLAIMS"], "CLAIMS:2: field claims.0"),
    ],
)
def test_bad_input_is_one_sentence(
    words: list[str], told: str, paper: Path, toy_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = paper.with_name("CLAIMS")
    claims.write_text("claims:\n  - {text: no number here, is: sums/weak/digits}\n")
    names = {"PAPER": str(paper), "RUN": str(toy_run), "CLAIMS": str(claims)}
    assert main([names.get(word, word) for word in [*words, "--trust-plugins"]]) == 2
    assert told in capsys.readouterr().err


def test_a_paper_without_the_numbers_and_one_of_another_sweep_are_told(paper: Path, summary: Summary) -> None:
    numbers = paper.with_name("numbers.tex")
    text = numbers.read_text(encoding="utf-8")
    numbers.write_text(text.replace("{toys:", "{others:"), encoding="utf-8")
    assert any("numbers of the sweep others" in told for told in checked(paper, summary).unchecked)
    paper.write_text(paper.read_text(encoding="utf-8").replace("\\input{numbers}", ""), encoding="utf-8")
    assert "no numbers.tex is read" in checked(paper, summary).differences[0]
    paper.write_text(r"\sb{sums/nobody/digits}", encoding="utf-8")
    found = checked(paper, summary)
    assert found.n_checked == len(found.differences), "all differ, and no more than were checked"


def test_a_system_with_two_models_needs_the_model(summary: Summary, tmp_path: Path) -> None:
    from dataclasses import replace

    twice = replace(summary, rows=[*summary.rows, *(replace(row, model="other") for row in summary.rows)])
    assert addressed_rows(twice)[0].names == ["toys:sums/weak@reader", "sums/weak@reader"]
    path = tmp_path / "p.tex"
    path.write_text("\\sb{sums/weak/digits} \\sb{sums/weak@other/digits} \\sb{a/b}\n\\sbsays{sums/weak/digits}")
    with pytest.raises(UserError, match=r"p\.tex:2: .*needs a text"):
        check_paper(path, [twice])
    path.write_text("\\sb{sums/weak/digits} \\sb{sums/weak@other/digits} \\sb{a/b}\n\\sb{sums/weak@other/digits/p}\n")
    told = check_paper(path, [twice]).differences
    assert "has several models; write sums/weak@reader/digits or sums/weak@other/digits" in told[1]
    assert told[2:] == [
        "p.tex:1: a/b is no address; write BENCHMARK/SYSTEM/METRIC",
        "p.tex:2: sums/weak@other/digits/p is unknown: sums/weak@other is what others are held against and has no p "
        "of its own",
    ]


def figure(**changed: Any) -> PrintedFigure:
    fields: dict[str, Any] = {"kind": "value", "values": (0.6125,), "digits": 3, "share": True, "spread": 0.021}
    return PrintedFigure(**{**fields, **changed})


@pytest.mark.parametrize(
    ("text", "changed", "right"),
    [
        ("0.6125", {}, True), ("0.61", {}, True), (".61", {}, True), ("61\\%", {}, True), ("61.25", {}, True),
        ("61.3 percent", {}, True), ("0.613", {}, True), ("0.612", {}, True), ("0.614", {}, False), ("0.60", {}, False),
        ("$0.61 \\pm 0.02$", {}, True), ("$0.61 \\pm 0.03$", {}, False), ("a lot", {}, False),
        ("0.61 of 0.7", {}, False),
        ("\\num{0.61}", {}, True), ("61", {"share": False}, False), ("about 0.61", {}, True),
        ("$-0.031$", {"kind": "signed", "values": (-0.031,)}, True),
        ("0.031", {"kind": "signed", "values": (-0.031,)}, False),
        ("$-$3.1 points", {"kind": "signed", "values": (-0.031,)}, True),
        ("drops by 0.031", {"kind": "signed", "values": (-0.031,)}, True),
        ("gains 0.031", {"kind": "signed", "values": (-0.031,)}, False),
        ("[0.40, 0.61]", {"values": (0.4, 0.61)}, True), ("[0.40, 0.62]", {"values": (0.4, 0.61)}, False),
        ("1{,}234", {"kind": "count", "values": (1234,), "share": False}, True),
        ("1234", {"kind": "count", "values": (1235,)}, False),
        ("$p < 0.05$", {"kind": "p", "values": (0.03,), "share": False}, True),
        ("$p < 0.01$", {"kind": "p", "values": (0.03,), "share": False}, False),
        ("$p = 3.0 \\times 10^{-2}$", {"kind": "p", "values": (0.03,), "share": False}, True),
        ("$p = 3.0 \\times 10^{-3}$", {"kind": "p", "values": (0.03,), "share": False}, False),
        ("0.61", {"values": (None,)}, False),
    ],
)  # fmt: skip
def test_a_number_agrees_at_the_digits_that_are_printed(text: str, changed: dict[str, Any], right: bool) -> None:
    assert (disagreement(text, figure(**changed)) is None) is right


def test_a_difference_that_is_wrong_is_told_with_its_sign() -> None:
    assert str(disagreement("0.05", figure(kind="signed", values=(0.031,)))).endswith("the stored rows give +0.0310")
    assert str(disagreement("0.05", figure(values=(0.031,)))).endswith("the stored rows give 0.0310")


@pytest.mark.parametrize(
    ("text", "figure", "right"),
    [
        ("significantly better", verdict("better", 0.1, 0.01), True),
        ("significantly better", verdict("better", -0.1, 0.01, False), True),
        ("significantly lower", verdict("better", -0.1, 0.01, False), True),
        ("significantly better ($p = 0.010$)", verdict("better", 0.1, 0.01), True),
        ("significantly better ($p = 0.020$)", verdict("better", 0.1, 0.01), False),
        ("significantly better by 0.3", verdict("better", 0.1, 0.01), False),
        ("better", verdict("too small to tell", 0.1, 0.2), False),
        ("not significantly better", verdict("too small to tell", 0.1, 0.2), True),
        ("no significant difference", verdict("too small to tell", 0.1, 0.2), True),
        ("a significant difference", verdict("too small to tell", 0.1, 0.2), False),
        ("no difference", verdict("too small to tell", 0.1, 0.2), False),
        ("no difference", verdict("no difference", 0.001, 0.9), True),
        ("too small to tell", verdict("too small to tell", 0.1, 0.2), True),
        ("significantly better", verdict("too many missing", 0.1, 0.01), False),
        ("not significantly better", verdict("too many missing", 0.1, 0.01), False),
        ("rather nice", verdict("better", 0.1, 0.01), False),
        ("outperforms and is lower than", verdict("better", 0.1, 0.01), False),
    ],
)
def test_words_agree_with_the_verdict(text: str, figure: PrintedFigure, right: bool) -> None:
    assert (disagreement(text, figure) is None) is right


def test_what_is_said_of_a_wrong_verdict_tells_the_evidence() -> None:
    told = str(disagreement("no difference", verdict("better", 0.1, 0.01)))
    assert told.endswith("the stored rows give 'better' (difference +0.100, p 0.010 after Holm)")
