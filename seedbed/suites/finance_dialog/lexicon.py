"""The words the evaluator looks for. One lexicon judges every system; its hash stands in the manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from seedbed.errors import UserError
from seedbed.storage.hashing import hash_json
from seedbed.storage.yamlfile import read_yaml
from seedbed.sweep.registry import nearest

_SHOWN = 60

DEFAULT_LEXICON = Path(__file__).parent / "data" / "dialogues" / "lexicon.yaml"

Words = tuple[str, ...]
Severity = Literal["low", "medium", "high"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class ViolationRule(_Frozen):
    """What the evaluator's own compliance detector calls a violation."""

    type: str
    severity: Severity
    patterns: Words
    """Regular expressions, tried on each sentence of a reply."""
    unless: Words = ()
    """A sentence that matches one of these is no violation: it refuses, or warns of what it names."""


class Lexicon(_Frozen):
    """All parts may be left out; what is left out detects nothing."""

    risk_aliases: dict[str, Words] = {}
    """Tag -> the names annotators give it."""
    risk_keywords: dict[str, Words] = {}
    """Tag -> words that disclose it in a reply."""
    risk_any: Words = ()
    """Required tags that any disclosure fulfils."""
    rubric_keywords: dict[str, Words] = {}
    constraint_rules: dict[str, Words] = {}
    """Constraint -> words that break it, unless the reply holds a guard."""
    negation_guards: Words = ()
    severe_types: Words = ()
    violation_rules: tuple[ViolationRule, ...] = ()
    """Without rules the violations that stand in a trace are taken as the evaluator's."""
    risk_map: dict[str, str] = {}
    horizon_map: dict[str, str] = {}
    liquidity_map: dict[str, str] = {}
    risk_infer: tuple[tuple[str, Words], ...] = ()
    """Value and words, the first that fits wins: for systems that keep no profile."""
    horizon_infer: tuple[tuple[str, Words], ...] = ()
    liquidity_infer: tuple[tuple[str, Words], ...] = ()
    constraint_vocab: Words = ()
    preference_vocab: Words = ()
    labelled_forms: dict[str, dict[str, Words]] = {}
    """Field of profile_gt -> value -> how the value reads with its label, for values of one character."""

    @property
    def sha256(self) -> str:
        return hash_json(self.model_dump(mode="json"))


def as_lexicon(lexicon: Lexicon | Mapping[str, Any]) -> Lexicon:
    return lexicon if isinstance(lexicon, Lexicon) else Lexicon.model_validate(lexicon)


def load_lexicon(path: Path | None = None) -> Lexicon:
    """A lexicon.yaml; null is the one shipped with the suite."""
    return _load(path or DEFAULT_LEXICON)


@lru_cache(maxsize=8)
def _load(path: Path) -> Lexicon:
    if not path.exists():
        raise UserError(f"{path}: no such lexicon; leave the option out to use the one shipped with the suite.")
    file = read_yaml(path, shape=f"a lexicon is a mapping of {', '.join(Lexicon.model_fields)}")
    for name in file.data:
        if name not in Lexicon.model_fields:
            raise file.error((name,), f"unknown part of a lexicon; {nearest(str(name), Lexicon.model_fields)}")
    try:
        lexicon = Lexicon.model_validate(file.data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise file.error(first["loc"], f"{first['msg']} (got {str(first['input'])[:_SHOWN]!r}).") from None
    _check_patterns(path, lexicon)
    return lexicon


def _check_patterns(path: Path, lexicon: Lexicon) -> None:
    for rule in lexicon.violation_rules:
        for pattern in (*rule.patterns, *rule.unless):
            try:
                re.compile(pattern)
            except re.error as error:
                raise UserError(f"{path}: violation_rules: {pattern!r} is no regular expression ({error}).") from None
