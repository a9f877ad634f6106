"""Constraints on lines: lists, bullets, indentation, sections."""

from __future__ import annotations

import re
from itertools import pairwise

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, lines

_ITALICS = re.compile(r"<(i|em)>.+?</\1>", re.DOTALL)
_HEADING = re.compile(r"\s*(?:#{1,6}\s|<h\d>|\*\*.+\*\*\s*$|section\s+\d+)", re.IGNORECASE)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _stairs(response: str, given: Arguments, prompt: str) -> bool:
    indents = [_indent(line) for line in lines(response)]
    return len(indents) >= 2 and all(a < b for a, b in pairwise(indents))


def _list(response: str, given: Arguments, prompt: str) -> bool:
    separator = str(given["sep"])
    items = [line for line in lines(response) if line.lstrip().startswith(separator)]
    others = [line for line in lines(response) if re.match(r"\s*[-*•]\s", line) and line not in items]
    return len(items) >= 2 and not others


def _one_word_a_line(response: str, given: Arguments, prompt: str) -> bool:
    return all(len(line.split()) == 1 for line in lines(response))


def _sentences_then_bullets(response: str, given: Arguments, prompt: str) -> bool:
    kinds = [line.lstrip().startswith("*") for line in lines(response)]
    if True not in kinds:
        return False
    first = kinds.index(True)
    before = " ".join(lines(response)[:first])
    return len(re.findall(r"\w[^.]*\.(?:\s|$)", before)) >= 2 and sum(kinds[first:]) >= 2


def _sub_bullets(response: str, given: Arguments, prompt: str) -> bool:
    """Every * bullet is followed, before the next, by a - bullet."""
    bullets = [line.lstrip()[0] for line in lines(response) if line.lstrip()[0] in "*-"]
    starts = [i for i, mark in enumerate(bullets) if mark == "*"]
    return bool(starts) and all(bullets[i + 1 : i + 2] == ["-"] for i in starts)


def _thesis(response: str, given: Arguments, prompt: str) -> bool:
    """Each section, or each paragraph where there are no headings, begins with HTML italics."""
    rows = lines(response)
    headings = [i for i, line in enumerate(rows) if _HEADING.match(line)]
    if headings:
        begins = [rows[i + 1] if i + 1 < len(rows) else "" for i in headings]
    else:
        begins = [part.strip() for part in re.split(r"\n\s*\n", response) if part.strip()]
    return bool(begins) and all(_ITALICS.match(re.sub(r"^\s*<p>", "", line).strip()) for line in begins)


CHECKERS = (
    Checker("format:line_indent", "each line indented more than the one before", _stairs),
    Checker("format:list", "a list whose items begin with {sep} and not with bullets", _list),
    Checker("format:newline", "each word on a line of its own", _one_word_a_line),
    Checker(
        "format:no_bullets_bullets",
        "two sentences ending in a period, then at least two * bullets",
        _sentences_then_bullets,
    ),
    Checker("format:sub-bullets", "every * bullet with a - bullet below it", _sub_bullets),
    Checker("format:thesis", "each section begins with a thesis in HTML italics", _thesis),
)
