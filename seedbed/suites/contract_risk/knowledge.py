"""Rules, law texts and the law index, from the formats they come in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from seedbed.errors import UserError
from seedbed.suites.contract_risk.lawrefs import LawEntry, LawIndex, LawRef, law_name, read_laws
from seedbed.suites.contract_risk.levels import level_of
from seedbed.suites.contract_risk.rules import Rule
from seedbed.suites.contract_risk.sources import Row, is_sqlite, read_law_database, read_rows

DATA = Path(__file__).parent / "data" / "clauses"


@dataclass(frozen=True, slots=True)
class LawText:
    law: str
    article: int
    text: str
    aliases: Sequence[str] = ()


def read_rules(path: Path | None) -> list[Rule]:
    """rules.jsonl, or rows of {risk_id, contract_type, risk_name, keywords, risk_type, analysis_logic, laws}."""
    rules: list[Rule] = []
    seen: set[str] = set()
    for row in read_rows(path) if path else ():
        rule = _rule(row) if "rule_id" in row.data else _foreign_rule(row)
        if rule.rule_id in seen:
            raise row.error(f"rule_id {rule.rule_id!r} stands twice; make ids unique.")
        seen.add(rule.rule_id)
        rules.append(rule)
    return rules


def read_law_texts(path: Path | None) -> list[LawText]:
    """laws.jsonl, or an SQLite database with a table law_articles."""
    if path is None:
        return []
    if path.suffix in {".db", ".sqlite", ".sqlite3"} or is_sqlite(path):
        return [_law_row(path, *columns) for columns in read_law_database(path)]
    laws: list[LawText] = []
    for row in read_rows(path):
        article = row.data.get("article")
        if not isinstance(article, int) or article < 1:
            raise row.error(f"field article is {article!r}; write the number of the article.")
        laws.append(LawText(row.text("law"), article, row.text("text"), row.texts("aliases")))
    return laws


def read_law_index(path: Path | None, laws: Sequence[LawText]) -> LawIndex:
    """The file's; without one, the laws shipped with the suite and whatever the law texts themselves show."""
    if path is not None:
        return LawIndex(_index_entries(path))
    entries = _index_entries(DATA / "law_index.json")
    known = LawIndex(entries)
    for law in laws:
        if known.find(law.law) is None:
            held = entries.get(law.law, LawEntry(0))
            entries[law.law] = LawEntry(max(held.max_article, law.article), law.aliases)
    return LawIndex(entries)


def read_refs(row: Row, value: Any) -> list[LawRef]:
    """Citations as objects {law, article}, as texts such as 《民法典》第585条, or none."""
    if value is None:
        return []
    items: list[Any] = [value] if isinstance(value, str | dict) else list(value)
    refs: list[LawRef] = []
    for item in items:
        if isinstance(item, str):
            refs.extend(read_laws(item))
        elif isinstance(item, dict) and "law" in item:
            cited = cast("dict[str, Any]", item)
            refs.append(LawRef(law_name(str(cited["law"])), cited.get("article")))
        else:
            raise row.error(f"a law reference is {item!r}; write {{law, article}} or 《…》第…条.")
    return refs


def _rule(row: Row) -> Rule:
    level = row.data.get("level")
    if level_of(level) is None:
        raise row.error(f"field level is {level!r}; write 高, 中 or 低.")
    return Rule(
        rule_id=row.text("rule_id"),
        risk_id=str(row.data.get("risk_id") or row.text("rule_id")),
        contract_type=str(row.data.get("contract_type") or ""),
        name=row.text("name"),
        level=level_of(level),
        any_of=row.texts("any_of"),
        all_of=row.texts("all_of"),
        none_of=row.texts("none_of"),
        regex=[_pattern(row, text) for text in row.texts("regex")],
        rationale=str(row.data.get("rationale") or ""),
        law_refs=read_refs(row, row.data.get("law_refs")),
    )


def _foreign_rule(row: Row) -> Rule:
    risk_id = str(row.data.get("risk_id") or "")
    if not risk_id:
        raise row.error("a rule needs a rule_id or a risk_id.")
    return Rule(
        rule_id=risk_id,
        risk_id=risk_id,
        contract_type=str(row.data.get("contract_type") or ""),
        name=row.text("risk_name"),
        level=level_of(row.data.get("risk_level")) or level_of(row.data.get("risk_type")),
        any_of=row.texts("keywords"),
        rationale=str(row.data.get("analysis_logic") or ""),
        law_refs=read_refs(row, row.data.get("laws")),
    )


def _pattern(row: Row, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise row.error(f"field regex: {text!r} is no regular expression ({error}).") from None


def _law_row(path: Path, law: str, article_id: str, content: str) -> LawText:
    refs = read_laws(f"《{law}》{article_id}")
    if len(refs) != 1 or refs[0].article is None:
        raise UserError(f"{path}: law_articles has the article_id {article_id!r} of {law!r}; write it as 第十九条.")
    return LawText(law_name(law), refs[0].article, content)


def _index_entries(path: Path) -> dict[str, LawEntry]:
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}: not valid JSON ({error.msg}); mend the file.") from None
    entries: dict[str, LawEntry] = {}
    for law, entry in cast("Mapping[str, Any]", data).items():
        most = entry.get("max_article") if isinstance(entry, dict) else None
        if not isinstance(most, int) or most < 1:
            raise UserError(f"{path}: field {law}.max_article is {most!r}; write the number of its last article.")
        entries[law] = LawEntry(most, tuple(entry.get("aliases") or ()))
    return entries
