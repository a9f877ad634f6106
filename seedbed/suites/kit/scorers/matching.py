"""Right or wrong: the same text, a text within another, a pattern, a choice, a number."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from seedbed.suite import Case, Metric, Options, PhaseContext, Scored, ScorerSpec
from seedbed.suites.kit.answer_text import normalise
from seedbed.suites.kit.choices import choice_of
from seedbed.suites.kit.scorers.values import VERSION, AnswerOptions, GoldOptions, accepted, answer_text, same, told

_NUMBER = re.compile(r"[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-−+]?\.\d+")


class ExactOptions(GoldOptions):
    strict: bool = False
    """Case, punctuation and spaces count too."""


class ContainsOptions(GoldOptions):
    contains: str | list[str] | None = None
    """Texts that must all stand in the answer; null looks for an accepted answer."""


class RegexOptions(AnswerOptions):
    regex: str
    """Must be found in the answer, as Python's `re` reads it."""
    whole: bool = False
    """The answer as a whole must match."""

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"{value!r} is no regular expression ({error})") from None
        return value


class ChoiceOptions(GoldOptions):
    choice: list[str] | None = Field(default=None, min_length=2)
    """The choices there are: an answer may say more than one of them, as long as it names no other. Null compares the
    answer as a whole."""


class NumericOptions(GoldOptions):
    tolerance: float = Field(default=0.0, ge=0)
    """How far the number may be off."""
    relative: float = Field(default=0.0, ge=0)
    """The same as a share of the right number; the wider of both holds."""
    take: Literal["first", "last"] = "last"
    """Which number of the answer counts."""


def exact(context: PhaseContext, case: Case, output: Mapping[str, Any], options: ExactOptions) -> Scored | None:
    answer, golds = answer_text(output, options), accepted(case, options)
    if not golds:
        return None
    right = any(answer == gold if options.strict else same(answer, gold) for gold in golds)
    return Scored({"exact": float(right)}, feedback=told(answer, golds, right=right))


def contains(context: PhaseContext, case: Case, output: Mapping[str, Any], options: ContainsOptions) -> Scored | None:
    answer = answer_text(output, options)
    if options.contains is None:
        golds = accepted(case, options)
        if not golds:
            return None
        right = any(_holds(answer, gold) for gold in golds)
        return Scored({"contains": float(right)}, feedback=told(answer, golds, right=right))
    wanted = [options.contains] if isinstance(options.contains, str) else options.contains
    missing = [text for text in wanted if not _holds(answer, text)]
    why = f"The answer lacks {', '.join(map(repr, missing))}." if missing else "The answer holds all it must."
    return Scored({"contains": float(not missing)}, feedback=why)


def _holds(answer: str, text: str) -> bool:
    """Whole words in scripts that part them; anywhere in those that do not."""
    left, right = normalise(answer), normalise(text)
    if not right:
        return text in answer
    if right.isascii():
        return f" {right} " in f" {left} "
    return right.replace(" ", "") in left.replace(" ", "")


def regex(context: PhaseContext, case: Case, output: Mapping[str, Any], options: RegexOptions) -> Scored:
    answer = answer_text(output, options)
    found = re.fullmatch(options.regex, answer) if options.whole else re.search(options.regex, answer)
    why = "fits" if found else "does not fit"
    return Scored({"regex": float(found is not None)}, feedback=f"The answer {answer!r} {why} {options.regex!r}.")


def choice(context: PhaseContext, case: Case, output: Mapping[str, Any], options: ChoiceOptions) -> Scored | None:
    answer, golds = answer_text(output, options), accepted(case, options)
    said = choice_of(answer, options.choice) if options.choice else answer.strip()
    right = any(said.casefold() == gold.strip().casefold() for gold in golds)
    values: dict[str, float | None] = {"choice": float(right) if golds else None}
    if options.choice:
        values["valid"] = float(said in options.choice)
    return Scored(values, {"said": said}, told(answer, golds, right=right) if golds else "")


def numeric(context: PhaseContext, case: Case, output: Mapping[str, Any], options: NumericOptions) -> Scored | None:
    """An answer without a number is wrong, and has no error in units; a gold answer without one is no gold answer."""
    answer, golds = answer_text(output, options), accepted(case, options)
    if not golds:
        return None
    wanted = [_only_number(gold) for gold in golds]
    given = numbers_in(answer)
    if not given:
        return Scored({"numeric": 0.0, "off": None}, feedback=f"{told(answer, golds, right=False)} It holds no number.")
    value = given[0 if options.take == "first" else -1]
    off = min(abs(value - gold) for gold in wanted)
    near = any(abs(value - gold) <= max(options.tolerance, options.relative * abs(gold)) for gold in wanted)
    return Scored({"numeric": float(near), "off": off}, {"number": value}, told(answer, golds, right=near))


def numbers_in(text: str) -> list[float]:
    """The numbers of a text, in order; commas part thousands."""
    found = [float(match.replace(",", "").replace("−", "-")) for match in _NUMBER.findall(text)]
    return [number for number in found if math.isfinite(number)]


def _only_number(gold: str) -> float:
    found = numbers_in(gold)
    if len(found) != 1:
        raise ValueError(f"the gold answer {gold!r} is not one number")
    return found[0]


def _choice_metrics(options: ChoiceOptions) -> tuple[Metric, ...]:
    right = Metric("choice", "Choice", kind="rate")
    return (right, Metric("valid", "Valid", kind="rate")) if options.choice else (right,)


def _spec(score: Any, options: type[Options], *metrics: Metric) -> ScorerSpec:
    return ScorerSpec(score, metrics, options, version=VERSION)


EXACT = _spec(exact, ExactOptions, Metric("exact", "Exact", kind="rate"))
CONTAINS = _spec(contains, ContainsOptions, Metric("contains", "Contains", kind="rate"))
REGEX = _spec(regex, RegexOptions, Metric("regex", "Regex", kind="rate"))
CHOICE = ScorerSpec(choice, _choice_metrics, ChoiceOptions, version=VERSION)
NUMERIC = _spec(
    numeric,
    NumericOptions,
    Metric("numeric", "Numeric", kind="rate"),
    Metric("off", "Off by", higher_is_better=False, range=None),
)
