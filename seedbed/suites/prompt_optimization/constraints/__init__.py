"""Checkers for the constraints of IFBench and, for its train file, of IFEval, by the names the benchmarks give them.
Each module adds its own to CHECKERS. They judge as the public checkers do, where these are odd too: published scores
rest on that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.suites.prompt_optimization.constraints import (
    counts,
    formats,
    ifeval_forms,
    ifeval_texts,
    layouts,
    ratios,
    sentences,
    special,
    words,
)
from seedbed.suites.prompt_optimization.constraints.checker import Checker

_IFBENCH = (counts, formats, layouts, ratios, sentences, special, words)
_IFEVAL = (ifeval_forms, ifeval_texts)

CHECKERS: Mapping[str, Checker] = {
    checker.kind: checker for module in (*_IFBENCH, *_IFEVAL) for checker in module.CHECKERS
}


@dataclass(frozen=True, slots=True)
class Check:
    kind: str
    loose: bool
    """Met by the response, or by what is left of it without a first or last line or asterisks."""
    strict: bool
    """Met by the response as it stands."""
    told: str


def check_all(kinds: Sequence[str], arguments: Sequence[Mapping[str, Any]], response: str, prompt: str) -> list[Check]:
    """Every constraint of a prompt on a response. An empty response meets none of them."""
    return [_check(CHECKERS[kind], given, response, prompt) for kind, given in zip(kinds, arguments, strict=True)]


def _check(checker: Checker, given: Mapping[str, Any], response: str, prompt: str) -> Check:
    strict = _met(checker, given, response, prompt)
    loose = strict or any(_met(checker, given, variant, prompt) for variant in variants(response)[1:])
    return Check(checker.kind, loose, strict, checker.told(given))


def _met(checker: Checker, given: Mapping[str, Any], response: str, prompt: str) -> bool:
    return bool(response.strip()) and checker.met(response, given, prompt)


def variants(response: str) -> list[str]:
    """The eight readings of a loose check: whole, without its first line, its last, both; each with and without
    asterisks. The response as it stands comes first."""
    lines = response.split("\n")
    cut = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    return [text for reading in (response, *cut) for text in (reading, reading.replace("*", ""))]
