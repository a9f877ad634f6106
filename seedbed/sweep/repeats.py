"""Asking a case more than once: the option of a benchmark, and the figures pass@k and pass^k that it declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from seedbed.suite import BenchmarkOptions, Metric, Options


class Repeats(Options):
    n: int = Field(ge=2, le=1000)
    """How often each test case is asked, every time anew."""
    k: list[int] | None = Field(default=None, min_length=1)
    """The k of pass@k (one of k answers is right) and pass^k (all of k are); null takes n."""

    @model_validator(mode="after")
    def _within_n(self) -> Repeats:
        wrong = next((k for k in self.k or [] if not 1 <= k <= self.n), None)
        if wrong is not None:
            raise ValueError(f"k is {wrong}; of {self.n} answers it can be 1 to {self.n}")
        if len(set(self.k or [])) < len(self.k or []):
            raise ValueError("the same k stands twice")
        return self

    @property
    def chosen(self) -> list[int]:
        return self.k or [self.n]


def _from_number(value: Any) -> Any:
    return {"n": value} if isinstance(value, int) and not isinstance(value, bool) else value


RepeatsOption = Annotated[Repeats, BeforeValidator(_from_number)]
"""`repeats: 5` is short for `repeats: {n: 5}`."""


@dataclass(frozen=True, slots=True)
class PassFigure:
    """pass@k or pass^k of a metric that says right or wrong of each answer."""

    of: str
    """The name of that metric."""
    k: int
    all: bool
    """pass^k: all of k answers must be right."""
    metric: Metric


def repeats_of(options: BenchmarkOptions) -> Repeats | None:
    """What a benchmark's options say of repeats; None where its cases are asked once."""
    found = getattr(options, "repeats", None)
    return found if isinstance(found, Repeats) else None


def pass_figures(repeats: Repeats | None, metrics: Iterable[Metric]) -> Iterator[PassFigure]:
    """The figures that repeats add to metrics: to rates of which more is better."""
    if repeats is None:
        return
    for metric in metrics:
        if metric.kind != "rate" or not metric.higher_is_better:
            continue
        for k in repeats.chosen:
            # pass^1 is pass@1.
            for sign in ("@", "^") if k > 1 else ("@",):
                own = f"pass{sign}{k}"
                named = Metric(f"{metric.name}_{own}_of_{repeats.n}", f"{metric.label} {own} of {repeats.n}")
                yield PassFigure(metric.name, k, sign == "^", named)
