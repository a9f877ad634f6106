"""Holds a paper against the rows of the sweeps it reports: every number and every claim that carries an address."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from seedbed.analysis.addressed import AddressedRow, PrintedFigure, addressed_rows
from seedbed.analysis.results import Summary
from seedbed.errors import UserError
from seedbed.phases.context import SweepRun
from seedbed.phases.publish import Choices, read_choices
from seedbed.phases.summary import make_summary
from seedbed.phases.verification.checker import same_text
from seedbed.phases.verification.paper_claims import NUMBER, SIGNIFICANT, disagreement, plain_text, shown
from seedbed.phases.verification.paper_register import Claim, read_claims
from seedbed.phases.verification.paper_source import Mention, TexFile, read_paper
from seedbed.report.latex import to_latex
from seedbed.report.numbers import number_text

_BARE = re.compile(rf"(?<![\w.])\d+\.\d+(?![\w.]*(?:\\|pt|em|ex|cm|mm|in)\b)|\b{SIGNIFICANT}", re.I)
_LINES_SHOWN = 12


@dataclass(frozen=True)
class CheckedPaper:
    n_checked: int
    """Numbers and claims that were held against the rows."""
    differences: Sequence[str]
    unchecked: Sequence[str]


@dataclass
class _Check:
    figures: Mapping[str, PrintedFigure]
    rows: Sequence[AddressedRow]
    n_checked: int = 0
    differences: list[str] = field(default_factory=list[str])
    unchecked: list[str] = field(default_factory=list[str])
    covered: dict[str, list[tuple[int, int]]] = field(default_factory=dict[str, list[tuple[int, int]]])

    def differ(self, file: str, line: int, what: str) -> None:
        self.differences.append(f"{file}:{line}: {what}")

    def figure(self, address: str) -> PrintedFigure | None:
        return self.figures.get(address)

    def cover(self, file: TexFile, start: int, end: int) -> None:
        self.n_checked += 1
        self.covered.setdefault(file.name, []).append((start, end))


def check_paper(paper: Path, summaries: Sequence[Summary], claims: Path | None = None) -> CheckedPaper:
    """Check a paper with the files it reads. `claims` registers sentences without macros; by default the file beside
    the paper that has its name and ends in .claims.yaml, if there is one."""
    if claims is None and (beside := paper.with_suffix(".claims.yaml")).exists():
        claims = beside
    files = read_paper(paper)
    registered = read_claims(claims) if claims is not None else []
    rows = [row for summary in summaries for row in addressed_rows(summary)]
    check = _Check(_by_address(rows), rows)
    own = [file for file in files if not file.is_numbers and not _tables_of(file, summaries)]
    for file in files:
        if file.is_numbers:
            _check_numbers(check, file, summaries)
        elif summary := _tables_of(file, summaries):
            _check_tables(check, file, summary)
    if not any(file.is_numbers for file in files) and (used := _first_macro(own)):
        check.n_checked += 1
        check.differ(*used, r"uses \sb, but no numbers.tex is read; copy it from the run's folder and \input it")
    for file in own:
        _check_mentions(check, file)
        for missing in file.reads:
            check.unchecked.append(f"{missing}, which {file.name} reads and which is not here")
    for claim in registered:
        _check_claim(check, str(claims), claim, own)
    _say_bare(check, own)
    return CheckedPaper(check.n_checked, check.differences, check.unchecked)


def summary_again(run: SweepRun) -> Summary:
    """From the stored rows, with the baseline and the margin of what was published."""
    choices = read_choices(run.folder) if (run.folder / "manifest.json").exists() else Choices()
    summary = make_summary(run.store, run.plan, [], {}, "completed", baseline=choices.baseline, margin=choices.margin)
    if not summary.rows:
        raise UserError(f"{run.plan.config.name}: no cell of this sweep has a result; go on with `seedbed run`.")
    return summary


def _by_address(rows: Sequence[AddressedRow]) -> dict[str, PrintedFigure]:
    """A name that two rows have, of two sweeps, is nobody's."""
    names = Counter(name for row in rows for name in row.names)
    return {
        f"{name}/{rest}": figure
        for row in rows
        for name in row.names
        if names[name] == 1
        for rest, figure in row.figures.items()
    }


def _check_mentions(check: _Check, file: TexFile) -> None:
    for mention in file.mentions():
        slashes = mention.address.count("/")
        if not slashes or (slashes == 1 and file.in_formula(mention.start)):
            # A subscript, as \sb is in every formula.
            continue
        line = file.line(mention.start)
        if "#" in mention.address:
            check.unchecked.append(f"{file.name}:{line}: {mention.address}, which a macro's argument is part of")
            continue
        check.cover(file, mention.start, mention.end)
        wrong = _of_mention(check, mention)
        if wrong is not None:
            check.differ(file.name, line, wrong)


def _of_mention(check: _Check, mention: Mention) -> str | None:
    figure = check.figure(mention.address)
    if figure is None:
        return _unknown(check, mention.address)
    if mention.text is not None:
        wrong = disagreement(mention.text, figure)
        return None if wrong is None else f"{mention.address} {wrong}"
    return None if figure.known else f"{mention.address} is undefined: there is nothing to print"


def _unknown(check: _Check, address: str) -> str:
    parts = address.split("/")
    if len(parts) < 3:
        return f"{address} is no address; write BENCHMARK/SYSTEM/METRIC"
    name, rest = "/".join(parts[:2]), "/".join(parts[2:])
    owners = [row for row in check.rows if name in row.names]
    if len(owners) > 1:
        return f"{address} is in several sweeps; write {' or '.join(f'{row.names[0]}/{rest}' for row in owners[:4])}"
    if owners:
        metric, _, figure = rest.partition("/")
        if metric in owners[0].figures and any(f"{metric}/{figure}" in row.figures for row in check.rows):
            return f"{address} is unknown: {name} is what others are held against and has no {figure} of its own"
        near = get_close_matches(rest, owners[0].figures, 3, 0.5)
        hint = f"; it has {', '.join(near)}" if near else ""
        return f"{address} is unknown: {name} has no {rest}{hint}"
    models = [row.names[-1] for row in check.rows if row.names[-1].startswith(f"{name}@")]
    if models:
        return f"{address} has several models; write {' or '.join(f'{model}/{rest}' for model in models)}"
    near = get_close_matches(name, [n for row in check.rows for n in row.names], 3, 0.6)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"{address} is unknown: no sweep given here has {name}{hint}"


def _check_claim(check: _Check, path: str, claim: Claim, files: Sequence[TexFile]) -> None:
    unknown = [address for address in claim.addresses if check.figure(address) is None]
    if unknown:
        check.n_checked += 1
        check.differ(path, claim.line, _unknown(check, unknown[0]))
        return
    found = [(file, start, end) for file in files for start, end in claim.found_in(file)]
    if not found:
        check.n_checked += 1
        check.differ(path, claim.line, f"the paper does not say {claim.text!r} any more")
    for file, start, end in found:
        check.cover(file, start, end)
        for wrong in _of_claim(check, claim, file.text[start:end]):
            check.differ(file.name, file.line(start), wrong)


def _of_claim(check: _Check, claim: Claim, text: str) -> Iterator[str]:
    figures = [check.figures[address] for address in claim.addresses]
    if len(figures) == 1:
        wrong = disagreement(text, figures[0])
        if wrong is not None:
            yield f"{claim.addresses[0]} {wrong}"
        return
    numbers = list(re.finditer(rf"[<>=±]*\s*(?:{NUMBER})\s*%?", plain_text(text)))
    if len(numbers) != len(figures):
        yield f"says {len(numbers)} numbers, and {len(figures)} addresses are given for {claim.text!r}"
        return
    for address, figure, number in zip(claim.addresses, figures, numbers, strict=True):
        wrong = disagreement(number[0], figure)
        if wrong is not None:
            yield f"{address} {wrong}"


def _check_numbers(check: _Check, file: TexFile, summaries: Sequence[Summary]) -> None:
    """A copy of numbers.tex: each number is what the rows give today."""
    known = {summary.sweep for summary in summaries}
    for line, address, text in file.definitions():
        sweep = address.partition(":")[0]
        if sweep not in known:
            told = f"the numbers of the sweep {sweep} in {file.name}: it is not given here"
            if told not in check.unchecked:
                check.unchecked.append(told)
            continue
        check.n_checked += 1
        figure = check.figure(address)
        if figure is None or not figure.known:
            check.differ(file.name, line, f"{address} is stale: the stored rows give no such number")
        elif text != number_text(figure):
            check.differ(file.name, line, f"{address} is {plain_text(text)!r}, the stored rows give {shown(figure)}")


def _tables_of(file: TexFile, summaries: Sequence[Summary]) -> Summary | None:
    """The summary that a copy of summary.tex shows."""
    labels = {summary.sweep: rf"\label{{tab:{re.sub(r'[^A-Za-z0-9:.-]', '-', summary.sweep)}-" for summary in summaries}
    if r"\begin{tabular*}{\linewidth}" not in file.text:
        return None
    return next((summary for summary in summaries if labels[summary.sweep] in file.text), None)


def _check_tables(check: _Check, file: TexFile, summary: Summary) -> None:
    published, given = (text.splitlines() for text in (file.raw, to_latex(summary)))
    check.n_checked += len(given)
    for number, (own, other) in enumerate(zip(published, given, strict=False), start=1):
        if not same_text(own, other):
            check.differ(file.name, number, f"{own.strip()[:120]!r} is stale, the stored rows give {other[:120]!r}")
    if len(published) != len(given):
        check.differ(file.name, 1, f"has {len(published)} lines, the stored rows give {len(given)}; copy it anew")


def _first_macro(files: Sequence[TexFile]) -> tuple[str, int] | None:
    found = ((file.name, file.line(m.start)) for file in files for m in file.mentions() if "/" in m.address)
    return next(found, None)


def _say_bare(check: _Check, files: Sequence[TexFile]) -> None:
    """What looks like a result and carries no address."""
    for file in files:
        body = file.text.find(r"\begin{document}")
        spans = check.covered.get(file.name, [])
        bare = [
            file.line(found.start())
            for found in _BARE.finditer(file.text, max(body, 0))
            if not any(start <= found.start() < end for start, end in spans)
        ]
        if bare:
            lines = list(dict.fromkeys(bare))
            more = f" and {len(lines) - _LINES_SHOWN} more" if len(lines) > _LINES_SHOWN else ""
            at = ", ".join(map(str, lines[:_LINES_SHOWN]))
            check.unchecked.append(
                f"{file.name}: {len(bare)} decimals or claims of significance without an address (lines {at}{more})"
            )
