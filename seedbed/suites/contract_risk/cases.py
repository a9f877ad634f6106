"""Clauses with their gold reviews, and the benchmark made of them. Reads two formats of cases, told apart by row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.errors import UserError
from seedbed.suite import Benchmark, Case
from seedbed.suites.contract_risk.contract_types import FILE, read_contract_types, unmatched
from seedbed.suites.contract_risk.knowledge import DATA, read_law_index, read_law_texts, read_refs, read_rules
from seedbed.suites.contract_risk.levels import LEVELS, Level, highest, level_of
from seedbed.suites.contract_risk.options import ClauseOptions
from seedbed.suites.contract_risk.retrieval import Library
from seedbed.suites.contract_risk.verify import make_verifier
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows

SPLITS = ("train", "val", "test")
_KNOWN_LEVELS = "高, 中 or 低"
_OF_RULE = re.compile(r"(.+)_(?:high_positive|medium_positive|positive|negative|pos|neg|boundary)(?:_\d+)?")
_SHAPE = "{case_id, contract_type, clause_text, gold, ...}"


@dataclass(frozen=True, slots=True)
class _Read:
    case: Case
    split: str


def load(options: ClauseOptions) -> Benchmark:
    """Cases with the rules, the laws, the law index and the verifier they are scored with."""
    path = options.path or DATA
    folder = path if path.is_dir() else path.parent
    read = _read_all(path / "cases.jsonl" if path.is_dir() else path)
    by_split = {split: [r.case for r in read if r.split == split] for split in SPLITS}
    test = by_split["test"][: options.limit]
    rules = read_rules(_beside(folder, options.rules, "rules.jsonl"))
    laws = read_law_texts(_beside(folder, options.laws, "laws.jsonl"))
    types = read_contract_types(_beside(folder, options.contract_types, FILE))
    told = unmatched((case.inputs["contract_type"] for case in test), (rule.contract_type for rule in rules), types)
    assert options.verifier != "auto"
    flag = (options.embedder, options.reranker) if options.verifier == "flag" else (None, None)
    return Benchmark(
        name=path.stem,
        test=test,
        train=by_split["train"],
        val=by_split["val"],
        resources={
            "library": Library(rules, laws, types, *flag),
            "law_index": read_law_index(_beside(folder, options.law_index, "law_index.json"), laws),
            "verifier": make_verifier(
                options.verifier,
                embedder=options.embedder,
                reranker=options.reranker,
                threshold=options.threshold,
            ),
            "prior": prior(by_split["train"] or by_split["test"]),
        },
        excluded={"over the limit": len(by_split["test"]) - len(test)},
        warnings=(told,) if told else (),
    )


def read_cases(path: Path) -> list[Case]:
    """The test cases of a file or folder, without what surrounds them."""
    return [r.case for r in _read_all(path / "cases.jsonl" if path.is_dir() else path) if r.split == "test"]


def prior(cases: list[Case]) -> dict[Level, float]:
    """How often each level is gold."""
    return {level: sum(case.gold["risk_level"] == level for case in cases) / len(cases) for level in LEVELS if cases}


def _read_all(path: Path) -> list[_Read]:
    read: list[_Read] = []
    ids = UniqueIds("case_id")
    for row in read_rows(path, shape=_SHAPE):
        one = _foreign(row) if "contract_text" in row.data else _native(row)
        ids.add(row, one.case.sample_id)
        read.append(one)
    if not any(r.split == "test" for r in read):
        raise UserError(f"{path}: holds no test case; give some rows the split test, or none.")
    return read


def _native(row: Row) -> _Read:
    gold = row.inner("gold")
    split = str(row.data.get("split") or "test")
    if split not in SPLITS:
        raise row.error(f"field split is {split!r}; it must be one of {', '.join(SPLITS)}.")
    level = _level(row, gold.data.get("risk_level"), "gold.risk_level")
    return _Read(
        _case(
            row,
            row.identity("case_id"),
            row.text("clause_text"),
            str(row.data.get("contract_type") or ""),
            {
                "risk_level": level,
                "rule_ids": gold.texts("rule_ids"),
                "risk_id": gold.data.get("risk_id"),
                "evidence": gold.texts("evidence"),
                "law_refs": read_refs(row, gold.data.get("law_refs")),
            },
            row.data.get("group"),
        ),
        split,
    )


def _foreign(row: Row) -> _Read:
    """{id, contract_text, expected_risks, case_type, source_domain}: the level is that of the gravest expected risk."""
    risks = [Row(row.path, row.line, risk) for risk in row.data.get("expected_risks") or ()]
    kind = row.data.get("case_type")
    by_type = _level(row, kind, "case_type") if kind is not None else None
    by_risk = highest([_level(risk, risk.data.get("risk_level"), "expected_risks.risk_level") for risk in risks])
    if by_type and by_risk and by_type != by_risk:
        raise row.error(f"case_type {kind!r} says {by_type}, expected_risks say {by_risk}; correct one of them.")
    level = by_risk or by_type
    if level is None:
        raise row.error("neither case_type nor expected_risks give a level; give one of them.")
    ids = [str(risk.data["risk_id"]) for risk in risks if risk.data.get("risk_id")] if level != "低" else []
    gold = {
        "risk_level": level,
        "rule_ids": ids,
        "risk_id": ids[0] if ids else None,
        "evidence": [],
        "law_refs": [ref for risk in risks for ref in read_refs(risk, risk.data.get("laws"))],
    }
    named = [str(risk.data["risk_id"]) for risk in risks if risk.data.get("risk_id")]
    domain = str(row.data.get("contract_type") or row.data.get("source_domain") or "")
    group = row.data.get("group") or (named[0] if named else _rule_of(row.identity("id")))
    return _Read(_case(row, row.identity("id"), row.text("contract_text"), domain, gold, group), "test")


def _rule_of(case_id: str) -> str | None:
    """The rule that a case of the source was written for: LABOR_001 of LABOR_001_negative_1."""
    match = _OF_RULE.fullmatch(case_id)
    return match[1] if match else None


def _level(row: Row, value: object, field: str) -> Level:
    level = level_of(value)
    if level is None:
        raise row.error(f"field {field} is {value!r}; write {_KNOWN_LEVELS}.")
    return level


def _case(row: Row, case_id: str, clause: str, contract_type: str, gold: Mapping[str, Any], group: object) -> Case:
    return Case(
        sample_id=case_id,
        inputs={"clause": clause, "contract_type": contract_type, "sample_id": case_id},
        gold=gold,
        meta={"contract_type": contract_type, "source": row.data.get("source") or row.data.get("source_domain")},
        cluster=str(group) if group else case_id,
    )


def _beside(folder: Path, named: Path | None, usual: str) -> Path | None:
    """A file the options name must be there; the usual one may be missing."""
    if named is None:
        return folder / usual if (folder / usual).exists() else None
    path = named if named.is_absolute() else folder / named
    if not path.exists():
        raise UserError(f"{path}: no such file; paths of rules and laws are taken from the folder of the cases.")
    return path
