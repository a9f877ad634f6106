"""Judges an answer by code: a score from 0 to 1 and, in words for a reflecting optimizer, what was wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from seedbed.suite import Case, Feedback
from seedbed.suites.prompt_optimization.answers import exact_match, integer, same_expression
from seedbed.suites.prompt_optimization.constraints import check_all

Output = Mapping[str, Any]


def verdict(case: Case, output: Output) -> Feedback:
    """For every kind but `papillon`, whose quality takes a judge."""
    return _JUDGES[case.meta["kind"]](case, output)


def _hotpot(case: Case, output: Output) -> Feedback:
    answer, found = str(output.get("answer") or ""), list(output.get("titles") or [])
    right = exact_match(answer, case.gold)
    missing = [title for title in case.meta["titles"] if title not in found]
    parts = [f"The answer {answer!r} is {'correct' if right else 'wrong'}."]
    if not right:
        parts.append(f"Only an exact match counts; expected was {case.gold!r}.")
    return Feedback(float(right), " ".join([*parts, _searched(case.meta["titles"], missing)]))


def _hover(case: Case, output: Output) -> Feedback:
    titles, found = case.gold["titles"], list(output.get("titles") or [])
    missing = [title for title in titles if title not in found]
    told = "All articles were found." if not missing else "The claim cannot be checked with what was found."
    return Feedback(float(not missing), f"{told} {_searched(titles, missing)}")


def _searched(needed: Sequence[str], missing: Sequence[str]) -> str:
    found = [title for title in needed if title not in missing]
    parts = [f"Articles needed and retrieved: {_list(found)}."]
    if missing:
        parts.append(f"Articles needed but never retrieved by any query: {_list(missing)}.")
    return " ".join(parts)


def _ifbench(case: Case, output: Output) -> Feedback:
    checks = check_all(
        case.meta["constraints"], case.meta["arguments"], str(output.get("response") or ""), case.inputs["query"]
    )
    met = [check for check in checks if check.met]
    lines = [f"{len(met)} of {len(checks)} constraints are met."]
    lines += [f"Constraint {check.kind} is {'met' if check.met else 'NOT met'}: {check.told}" for check in checks]
    return Feedback(len(met) / len(checks), "\n".join(lines))


def _math(case: Case, output: Output) -> Feedback:
    answer = str(output.get("answer") or "")
    right = same_expression(answer, case.gold)
    return Feedback(float(right), _compared(answer, case.gold, right))


def _integer(case: Case, output: Output) -> Feedback:
    answer = str(output.get("answer") or "")
    given, right = integer(answer), integer(answer) == int(case.gold)
    text = _compared(answer, case.gold, right)
    if given is None:
        text += " The answer must be an integer and nothing else; this one cannot be read as an integer."
    solution = case.meta.get("solution")
    if not right and solution:
        text += f" A full solution: {solution}"
    return Feedback(float(right), text)


def _compared(answer: str, gold: str, right: bool) -> str:
    if right:
        return f"The answer {answer!r} is correct."
    return f"The answer {answer!r} is wrong; expected was {gold!r}."


def _list(titles: Sequence[str]) -> str:
    return "; ".join(f"'{title}'" for title in titles) or "none"


_JUDGES: Mapping[str, Callable[[Case, Output], Feedback]] = {
    "hotpot": _hotpot,
    "hover": _hover,
    "ifbench": _ifbench,
    "math": _math,
    "integer": _integer,
}
