"""summary.tex: what a paper reads with \\input, whatever names and however many metrics there are."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from seedbed.analysis.means import OverSeeds
from seedbed.analysis.results import Comparison, OverSamples, Row, Summary
from seedbed.report.latex import latex_file, latex_table, tex, to_latex
from seedbed.report.tables import TextCell, TextTable
from seedbed.sweep.registry import get_suite

SUITES = ("crosslingual", "contract_risk", "rag_quality", "prompt_optimization", "finance_dialog")
_SAMPLES = OverSamples(300, 300, 0.4, 0.456, 0.789, "pseudo-samples", 300.0, 1, 0.45, 0.79, 0.6, 299)
_UNESCAPED = re.compile(r"(?<!\\)[#~]")
_IN_MATH = re.compile(r"(?<!\\)\$[^$]*\$")


def row(suite: str, benchmark: str, system: str, place: int) -> Row:
    metrics = get_suite(suite).metrics
    return Row(
        suite=suite, benchmark=benchmark, system=system, optimizer="Baseline", model="reader", label=system,
        is_baseline=place == 0, n_seeds=3, n_seeds_planned=3, n=897, n_errors=1, n_skipped=2, n_unreadable=0,
        n_truncated=0,
        metrics={m.name: OverSeeds(0.5 + place / 100, 0.123456, 0.4, 0.6, 3) for m in metrics},
        samples={m.name: _SAMPLES for m in metrics},
        tokens_in=1_234_567, tokens_out=12_345, list_usd=12.3456, spent_usd=None,
    )  # fmt: skip


def summary(systems: Sequence[str], benchmarks: Sequence[str] = ("tiny_%", "large_&_wide")) -> Summary:
    """All five suites with all their metrics, every figure with a spread, a dagger or in bold."""
    rows = [row(s, b, name, i) for s in SUITES for b in benchmarks for i, name in enumerate(systems)]
    tests = [
        Comparison(r.suite, r.benchmark, r.model, r.label, systems[0], metric, p_holm=0.01)
        for r in rows
        for metric in r.metrics
        if not r.is_baseline
    ]
    metrics = {suite: get_suite(suite).metrics for suite in SUITES}
    return Summary("wide_sweep", "completed", True, len(rows) * 3, 0.05, rows, tests, [], [], metrics)


def tabulars(text: str) -> list[tuple[str, list[str]]]:
    """Column letters and lines of cells of every tabular."""
    opening = r"\\begin\{tabular\*\}\{\\linewidth\}\{@\{\\extracolsep\{\\fill\}\}([lr]+)@\{\}\}\n"
    found = re.findall(opening + r"(.*?)\\end\{tabular\*\}", text, re.DOTALL)
    return [(letters, [line for line in body.splitlines() if line.endswith(r"\\")]) for letters, body in found]


def check(text: str) -> None:
    """What a parser can say without LaTeX: environments and braces close, and each line has the columns announced."""
    code = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert not _UNESCAPED.search(code.replace("#1", ""))
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(table|tabular\*)\}", code):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    bare = re.sub(r"\\[{}\\]", "", code)
    assert bare.count("{") == bare.count("}")
    for letters, lines in tabulars(text):
        for line in lines:
            assert len(re.findall(r"(?<!\\)&", line)) == len(letters) - 1, line
    prose = re.sub(r"\\(?:label|begin|end)\{[^}]*\}", "", _IN_MATH.sub("", code.replace(r"\$", "")))
    assert not re.search(r"(?<!\\)[_^%]", prose)


def compiled(text: str, folder: Path, packages: str = "") -> str:
    """The log of pdfLaTeX, which must end without an error."""
    (folder / "summary.tex").write_text(text, encoding="utf-8")
    (folder / "paper.tex").write_text(
        f"\\documentclass{{article}}\\usepackage{{booktabs}}{packages}\n"
        "\\begin{document}\n\\input{summary.tex}\n\\end{document}\n"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder, capture_output=True, text=True, errors="replace", timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "paper.log").read_text(encoding="utf-8", errors="replace")


needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")


@pytest.mark.parametrize("n_systems", [2, 11, 60])
def test_the_tables_of_all_suites_are_well_formed(n_systems: int) -> None:
    check(to_latex(summary([f"system_{i}" for i in range(n_systems)])))


@needs_latex
@pytest.mark.parametrize("n_systems", [2, 11, 60])
def test_the_tables_of_all_suites_fit_the_page(n_systems: int, tmp_path: Path) -> None:
    log = compiled(to_latex(summary([f"no_reflection_{i}" for i in range(n_systems)])), tmp_path)
    assert "Overfull" not in log
    assert "Float too large" not in log


@needs_latex
def test_the_summary_of_a_sweep_compiles(toy_run: Path, tmp_path: Path) -> None:
    text = (toy_run / "summary.tex").read_text(encoding="utf-8")
    check(text)
    assert "Overfull" not in compiled(text, tmp_path)


def test_every_figure_is_in_some_block_and_names_stand_in_each() -> None:
    made = tabulars(to_latex(summary(["full", "no_rules"], ["clauses"])))
    heads = [line.removesuffix(r" \\").split(" & ") for _, lines in made for line in lines[:1]]
    shown = {head for own in heads for head in own}
    labels = {tex(metric.label) for suite in SUITES for metric in get_suite(suite).metrics}
    assert labels | {"n", "errors", "skipped", "tokens", r"list \$", r"paid \$"} <= shown
    assert {own[0] for own in heads} == {"system"}


def test_names_that_tell_nothing_apart_stand_in_the_caption() -> None:
    text = to_latex(summary(["full", "no_rules"], ["clauses"]))
    assert "(contract\\_risk): benchmark clauses." in text
    assert "clauses &" not in text


def test_the_counts_stay_together() -> None:
    made = tabulars(to_latex(summary(["full", "no_rules"])))
    counted = [lines[0] for _, lines in made if " n & " in lines[0]]
    assert len(counted) == len(SUITES)
    assert all(line.endswith(r"n & errors & skipped & tokens & list \$ & paid \$ \\") for line in counted)


def test_best_is_bold_with_the_spread_below_and_the_dagger_above() -> None:
    table = TextTable("T", ["s", "F1"], 1, [[TextCell("a_b"), TextCell("0.95 ± 0.02", best=True, significant=True)]])
    assert r"a\_b & \textbf{0.95}$^{\dagger}_{\pm 0.02}$ \\" in latex_table(table, "tab:x", simulated=False)


def test_the_interval_stands_below_in_small_print() -> None:
    cell = TextCell("0.95 ± 0.02", best=True, beside=("[0.91, 0.98]", "p 0.030"))
    table = TextTable("T", ["s", "F1"], 1, [[TextCell("a"), cell]])
    ((_, lines),) = tabulars(latex_table(table, "tab:x", simulated=False))
    assert lines[1:] == [r"a & \textbf{0.95}$_{\pm 0.02}$ \\", r" & \tiny [0.91, 0.98] \\", r" & \tiny p 0.030 \\"]


def test_a_long_table_goes_on_in_another_float() -> None:
    rows = [[TextCell(f"s{i}"), TextCell("0.5")] for i in range(100)]
    text = latex_table(TextTable("T", ["s", "F1"], 1, rows), "tab:x", simulated=False)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 3
    assert text.count(r"\label{") == 1
    assert sum(len(lines) - 1 for _, lines in tabulars(text)) == 100


def test_latex_escapes_what_would_be_its_own() -> None:
    assert tex("a_b & 50% {x} \\ ~^") == r"a\_b \& 50\% \{x\} \textbackslash{} \textasciitilde{}\textasciicircum{}"


def test_symbols_become_commands_and_other_scripts_are_marked() -> None:
    assert tex("κ ≥ 0.5 · Δ") == r"$\kappa$ $\geq$ 0.5 $\cdot$ $\Delta$"
    assert tex("风险 level") == r"\seedbedtext{风险} level"


@needs_latex
@pytest.mark.parametrize("packages", ["", r"\usepackage{CJKutf8}"])
def test_chinese_compiles_with_and_without_the_package_for_it(packages: str, tmp_path: Path) -> None:
    if packages and subprocess.run(["kpsewhich", "CJKutf8.sty", "c70gbsn.fd"], capture_output=True).returncode:
        pytest.skip("CJKutf8 or its font is not installed")
    table = TextTable("风险_50% & α", ["system", "准确率"], 1, [[TextCell("规则"), TextCell("0.5 ± 0.1")]])
    compiled(latex_file([latex_table(table, "tab:x", simulated=False)]), tmp_path, packages)
