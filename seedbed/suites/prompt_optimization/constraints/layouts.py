"""Constraints on lines: lists, bullets, indentation, theses."""

from __future__ import annotations

import re
from itertools import pairwise

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker
from seedbed.suites.prompt_optimization.constraints.cutting import sentences, without_punctuation

_THESIS = re.compile(r"<(?:i|em)>\s*[^\s<].*?</(?:i|em)>\s*\S", re.DOTALL)


def _stairs(response: str, given: Arguments, prompt: str) -> bool:
    lines = [line for line in response.split("\n") if line.strip()]
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    return all(a < b for a, b in pairwise(indents))


def _list(response: str, given: Arguments, prompt: str) -> bool:
    return response.count(str(given["sep"])) >= 2


def _one_word_a_line(response: str, given: Arguments, prompt: str) -> bool:
    text = without_punctuation(response).strip()
    return sum(line != "" for line in text.split("\n")) == len(text.split())


def _sentences_then_bullets(response: str, given: Arguments, prompt: str) -> bool:
    """Two sentences in lines without a gap, at most one empty line, then at least two * bullets and nothing more."""
    lines = [line.strip() for line in response.split("\n")]
    first = next((place for place, line in enumerate(lines) if line.startswith("*")), None)
    if first is None or not all(line.startswith("*") for line in lines[first:]):
        return False
    prose = lines[:first]
    gap = prose.index("") if "" in prose else len(prose)
    said = sum(len(sentences(line)) for line in prose[:gap])
    return said >= 2 and first - gap <= 1 and len(lines) - first >= 2


def _sub_bullets(response: str, given: Arguments, prompt: str) -> bool:
    """A hyphen somewhere behind every asterisk, before the next; a text without any asterisk passes."""
    return all("-" in part for part in response.split("*")[1:])


def _thesis(response: str, given: Arguments, prompt: str) -> bool:
    """Somewhere a thesis in HTML italics, with text behind it."""
    return bool(_THESIS.search(response))


CHECKERS = (
    Checker("format:line_indent", "each line indented more than the one before", _stairs),
    Checker("format:list", "a list of at least two items that begin with {sep}", _list),
    Checker("format:newline", "each word on a line of its own", _one_word_a_line),
    Checker(
        "format:no_bullets_bullets",
        "two sentences ending in a period, then at least two * bullets and nothing more",
        _sentences_then_bullets,
    ),
    Checker("format:sub-bullets", "every * bullet with a - bullet below it", _sub_bullets),
    Checker("format:thesis", "each section begins with a thesis in HTML italics", _thesis),
)
