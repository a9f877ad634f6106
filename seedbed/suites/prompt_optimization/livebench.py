"""LiveBench's math tasks as LiveBench judges them: AMPS by algebra, contests by letter or padded integer, proofs by the
edit distance of the order of their steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from seedbed.suites.prompt_optimization.algebra import equal_expressions
from seedbed.suites.prompt_optimization.answers import boxed

_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_SOLUTION = re.compile(r"<solution>(.*?)</solution>")
_CHOICE = re.compile(r"\\textbf{\(([A-E])\)\s?}(.*?)(?:\\qquad|\$)")
_FORMULA = re.compile(r"\$([^$]+)\$+[^$]*$")
"""The last between dollars."""
_SIZES = re.compile(r"\\(?:left|right|[bB]ig[lr])(?![A-Za-z])|\\[,;]")
_DIGITS_WITHIN = 50
"""Characters at the end of an answer among which the three digits are looked for."""
_VALUE_WITHIN = 20
"""Characters that may stand behind the value of the right choice."""


class Judged(NamedTuple):
    score: float
    read: str
    """What was taken for the answer, in words."""


Judge = Callable[[str, str, str], Judged]
"""Ground truth, answer and question -> score from 0 to 1."""


def judge_of(task: str | None, subtask: str | None) -> Judge | None:
    """How a question is judged; None for a task that LiveBench's math does not have."""
    name = (subtask or task or "").lower()
    first, second, *_ = [*name.split("_"), "", ""]
    if first in ("amc", "smc") or second == "amc":
        return choice
    if first == "aime":
        return digits
    if first in ("imo", "usamo"):
        return order
    return expression if "amps_hard" in name else None


def choice(truth: str, answer: str, question: str) -> Judged:
    """A letter from A to E: in solution tags, four times in a row, in a box, alone or in brackets in the last line; or
    the value that the question gives for it, at the end."""
    answer = _THOUGHT.sub("", answer)
    last = answer.strip().split("\n")[-1]
    tagged = [tag[0] for tag in _SOLUTION.findall(answer)[-1:] if len(set(tag)) == 1]
    bracketed = re.findall(r"\(([^)]*)\)", last)[:1]
    letters = (*tagged, _undressed(boxed(answer) or ""), last.strip().replace("*", ""), *bracketed)
    right = truth * 4 in answer or truth.lower() in (letter.lower() for letter in letters)
    return Judged(float(right or _ends_with_value(answer, truth, question)), f"the letter or value in {last[-80:]!r}")


def _undressed(text: str) -> str:
    return re.sub(r"\\text{|[}\\]", "", text)


def _ends_with_value(answer: str, truth: str, question: str) -> bool:
    values = {letter: value.strip().strip("$").strip("~") for letter, value in _CHOICE.findall(question)}
    value = values.get(truth) or ""
    return value != "" and value in answer[-(_VALUE_WITHIN + len(value)) :]


def digits(truth: str, answer: str, question: str) -> Judged:
    """Three digits, zeros in front included, near the end of the answer."""
    end = _THOUGHT.sub("", answer)[-_DIGITS_WITHIN:]
    return Judged(float(truth in end), f"the end {end!r}")


def order(truth: str, answer: str, question: str) -> Judged:
    """Numbers of expressions, one a gap: the share of the order that is right, by edit distance."""
    wanted = [int(part) for part in truth.split(",")]
    given = _order(_THOUGHT.sub("", answer))
    longest = max(len(given), len(wanted))
    return Judged(1 - edit_distance(given, wanted) / longest, f"the order {given}")


def _order(answer: str) -> list[int | None]:
    """The list behind the last "Answer:", else in the last box, else in the last line, else anywhere; None for an entry
    that is no number."""
    lowered = answer.lower().strip()
    lines = lowered.split("\n")
    place = max((i for i, line in enumerate(lines) if "answer:" in line), default=None)
    listed: list[str] = []
    if place is not None:
        behind = _bare(lines[place].split("answer:")[1]) or _bare("".join(lines[place + 1 : place + 2]))
        listed.append(re.sub(r"[${}\\<>]|boxed", "", behind))
    if (box := boxed(answer)) is not None:
        listed.append(_undressed(box))
    for text in listed:
        found = [_integer((part.split() or [""])[-1]) for part in text.split(",")]
        if any(number is not None for number in found):
            return found
    return [*_digits_of(lines[-1].split(","))] or [*_leading(lowered.split("answer:")[-1].split(","))]


def _digits_of(parts: Sequence[str]) -> list[int]:
    return [int(number[0]) for part in parts if (number := re.search(r"\d+", part))]


def _leading(parts: Sequence[str]) -> list[int]:
    """Up to the first part behind the first that has more in it than a number."""
    last = next((i for i, part in enumerate(parts) if i > 0 and not part.strip().isdigit()), len(parts))
    return _digits_of(parts[: last + 1])


def _bare(text: str) -> str:
    return text.replace("**", "").replace(".", "").replace("answer:", "").strip()


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\s*[+-]?\d+\s*", text) else None


def edit_distance(left: Sequence[object], right: Sequence[object]) -> int:
    """Insertions, deletions and replacements that turn one sequence into the other."""
    row = list(range(len(right) + 1))
    for i, own in enumerate(left, start=1):
        above, row[0] = row[0], i
        for j, other in enumerate(right, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (own != other))
    return row[-1]


def expression(truth: str, answer: str, question: str) -> Judged:
    """The last box, else the last formula between dollars, compared by algebra; else the truth itself at the end."""
    text = _THOUGHT.sub("", answer).replace("\n", "")
    for constant in ("+C", "+ C", "+ c", "+c"):
        text = text.replace(constant, "")
    truth, text = _tidied(truth), _tidied(text)
    box = boxed(text)
    formula = _FORMULA.search(text)
    if box is None and formula is None:
        return Judged(float(text.removesuffix(".").endswith(truth)), "no boxed expression")
    read = _final(box if box is not None else formula[1] if formula else "")
    return Judged(float(read == truth or equal_expressions(truth, read)), f"the expression {read!r}")


def _tidied(text: str) -> str:
    """Without sizes of brackets, thin spaces and Mathematica's way of writing a product, `20\\ 2^{3/5}`, and a power,
    `\\sec ^2(x)`."""
    return _SIZES.sub("", text).replace(" ^", "^").replace("\\ ", "*")


def _final(text: str) -> str:
    """What stands behind the last equals sign or "or", without dressing; 100,000 is a number."""
    text = re.split(r"=|\\quad\s*\\text{\s*or\s*}\s*\\quad", text)[-1].strip()
    text = re.sub(r"\\(?:text|textbf|overline)\{(.*?)\}", r"\1", text)
    return text.replace(",", "") if text.replace(",", "").isdigit() else text
