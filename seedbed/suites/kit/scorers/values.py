"""What a scorer compares: the answer of an output and the accepted answers of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import Field

from seedbed.suite import Case, Options
from seedbed.suites.kit.answer_text import normalise

VERSION = "1"
"""Raise it when a scorer of this package gives other values: stored answers are then scored again."""


class AnswerOptions(Options):
    """What every scorer that looks at an answer understands."""

    field: str = Field(default="answer", min_length=1)
    """The output that is scored."""


class GoldOptions(AnswerOptions):
    gold: str | None = None
    """The field of the gold answer that is compared with, where that is an object."""


def answer_of(output: Mapping[str, Any], options: AnswerOptions) -> Any:
    """The value of the field that is scored; of an output with a single field, that one."""
    if options.field in output:
        return output[options.field]
    if options.field == "answer" and len(output) == 1:
        return next(iter(output.values()))
    raise ValueError(f"the output has no field {options.field!r}, only {', '.join(output)}; name one with `field:`")


def answer_text(output: Mapping[str, Any], options: AnswerOptions) -> str:
    value = answer_of(output, options)
    return value if isinstance(value, str) else "" if value is None else str(value)


def gold_of(case: Case, options: GoldOptions) -> Any:
    """The gold answer, or its field; None where the case has none."""
    gold = case.gold
    if not isinstance(gold, Mapping):
        if options.gold is not None:
            raise ValueError(f"the gold answer is no object, so it has no field {options.gold!r}; leave `gold:` out")
        return gold
    fields = cast("Mapping[str, Any]", gold)
    name = options.gold or "answer"
    if name not in fields:
        raise ValueError(f"the gold answer has no field {name!r}, only {', '.join(fields)}; name one with `gold:`")
    return fields[name]


def accepted(case: Case, options: GoldOptions) -> list[str]:
    """The accepted answers as texts; none where the case has no gold answer."""
    gold = gold_of(case, options)
    values: list[Any] = list(cast("list[Any]", gold)) if isinstance(gold, list | tuple) else [gold]
    return [value if isinstance(value, str) else str(value) for value in values if value is not None]


def told(answer: str, golds: list[str], *, right: bool) -> str:
    """What an optimizer reads of a comparison."""
    return f"The answer {answer!r} is {'correct' if right else 'wrong or not exact'}; expected was {golds[0]!r}."


def same(answer: str, gold: str) -> bool:
    """Equal but for case, punctuation and spaces. Texts of nothing but signs are compared as they are."""
    left, right = normalise(answer), normalise(gold)
    return left == right if left or right else answer.strip() == gold.strip()
