"""Judges an answer by code: a score from 0 to 1 and, in words for a reflecting optimizer, what was wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seedbed.suite import Case
from seedbed.suites.prompt_optimization.answers import exact_match, integer, normalise, same_expression
from seedbed.suites.prompt_optimization.constraints import check_all
from seedbed.suites.prompt_optimization.livebench import judge_of

Output = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    score: float
    text: str
    beside: Mapping[str, float] = field(default_factory=dict[str, float])
    """Other figures of the same answer, by name."""


def verdict(case: Case, output: Output) -> Verdict:
    """For every kind but `papillon`, whose quality takes a judge."""
    return _JUDGES[case.meta["kind"]](case, output)


def _hotpot(case: Case, output: Output) -> Verdict:
    answer, missing = str(output.get("answer") or ""), _missing(case.meta["titles"], output)
    right = exact_match(answer, case.gold)
    parts = [f"The answer {answer!r} is {'correct' if right else 'wrong'}."]
    if not right:
        parts.append(f"Only an exact match counts; expected was {case.gold!r}.")
    return Verdict(float(right), " ".join([*parts, _searched(case.meta["titles"], missing)]))


def _hover(case: Case, output: Output) -> Verdict:
    titles = case.gold["titles"]
    missing = _missing(titles, output)
    told = "All articles were found." if not missing else "The claim cannot be checked with what was found."
    return Verdict(float(not missing), f"{told} {_searched(titles, missing)}")


def _missing(titles: Sequence[str], output: Output) -> list[str]:
    """Titles are the same as answers are: case, accents, articles and punctuation do not count."""
    found = {normalise(str(title)) for title in output.get("titles") or ()}
    return [title for title in titles if normalise(title) not in found]


def _searched(needed: Sequence[str], missing: Sequence[str]) -> str:
    found = [title for title in needed if title not in missing]
    parts = [f"Articles needed and retrieved: {_list(found)}."]
    if missing:
        parts.append(f"Articles needed but never retrieved by any query: {_list(missing)}.")
    return " ".join(parts)


def _ifbench(case: Case, output: Output) -> Verdict:
    """Loose, as the published scores are; strict beside it."""
    checks = check_all(
        case.meta["constraints"], case.meta["arguments"], str(output.get("response") or ""), case.inputs["query"]
    )
    met = sum(check.loose for check in checks)
    lines = [f"{met} of {len(checks)} constraints are met."]
    lines += [f"Constraint {check.kind} is {'met' if check.loose else 'NOT met'}: {check.told}" for check in checks]
    strict = sum(check.strict for check in checks) / len(checks)
    return Verdict(met / len(checks), "\n".join(lines), {"strict": strict})


def _math(case: Case, output: Output) -> Verdict:
    """As LiveBench judges its tasks; an exercise of another kind by equality."""
    answer, judge = str(output.get("answer") or ""), judge_of(case.meta.get("task"), case.meta.get("subtask"))
    if judge is None:
        right = same_expression(answer, case.gold)
        return Verdict(float(right), _compared(answer, case.gold, right))
    judged = judge(case.gold, answer, case.inputs["problem"])
    text = _compared(answer, case.gold, judged.score == 1)
    return Verdict(judged.score, f"{text} What was read of it: {judged.read}. The score is {judged.score:.2f}.")


def _integer(case: Case, output: Output) -> Verdict:
    answer = str(output.get("answer") or "")
    given = integer(answer, lenient=bool(case.meta.get("lenient")))
    right = given == int(case.gold)
    text = _compared(answer, case.gold, right)
    if given is None:
        text += " The answer must be an integer and nothing else; this one cannot be read as an integer."
    solution = case.meta.get("solution")
    if not right and solution:
        text += f" A full solution: {solution}"
    return Verdict(float(right), text)


def _compared(answer: str, gold: str, right: bool) -> str:
    if right:
        return f"The answer {answer!r} is correct."
    return f"The answer {answer!r} is wrong; expected was {gold!r}."


def _list(titles: Sequence[str]) -> str:
    return "; ".join(f"'{title}'" for title in titles) or "none"


_JUDGES: Mapping[str, Callable[[Case, Output], Verdict]] = {
    "hotpot": _hotpot,
    "hover": _hover,
    "ifbench": _ifbench,
    "math": _math,
    "integer": _integer,
}
