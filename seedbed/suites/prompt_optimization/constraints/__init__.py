"""Checkers for IFBench's constraints, by the names the benchmark gives them. Each module adds its own to CHECKERS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.suites.prompt_optimization.constraints import counts, formats, layouts, ratios, sentences, special, words
from seedbed.suites.prompt_optimization.constraints.checker import Checker

CHECKERS: Mapping[str, Checker] = {
    checker.kind: checker
    for module in (counts, formats, layouts, ratios, sentences, special, words)
    for checker in module.CHECKERS
}


@dataclass(frozen=True, slots=True)
class Check:
    kind: str
    met: bool
    told: str


def check_all(kinds: Sequence[str], arguments: Sequence[Mapping[str, Any]], response: str, prompt: str) -> list[Check]:
    """Every constraint of a prompt on a response. An empty response meets none of them."""
    checks: list[Check] = []
    for kind, given in zip(kinds, arguments, strict=True):
        checker = CHECKERS[kind]
        met = bool(response.strip()) and checker.met(response, given, prompt)
        checks.append(Check(kind, met, checker.told(given)))
    return checks
