"""Rules, law texts and the law index, from the formats they come in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from seedbed.errors import UserError
from seedbed.suites.contract_risk.law_database import is_database, read_law_database
from seedbed.suites.contract_risk.lawrefs import LawEntry, LawIndex, LawRef, law_name, read_laws
from seedbed.suites.contract_risk.levels import level_of
from seedbed.suites.contract_risk.numerals import to_int
from seedbed.suites.contract_risk.rules import Rule
from seedbed.suites.kit.rows import Row, UniqueIds, read_rows

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
    ids = UniqueIds("rule_id")
    for row in read_rows(path, shape="{rule_id, contract_type, name, level, any_of, ...}") if path else ():
        rule = _rule(row) if "rule_id" in row.data else _foreign_rule(row)
        ids.add(row, rule.rule_id)
        rules.append(rule)
    return rules


def read_law_texts(path: Path | None) -> list[LawText]:
    """laws.jsonl, or an SQLite database with a table law_articles."""
    if path is None:
        return []
    if is_database(path):
        return [_law_row(path, *columns) for columns in read_law_database(path)]
    return [
        LawText(row.text("law"), _article(row, "article"), row.text("text"), row.texts("aliases"))
        for row in read_rows(path, shape="{law, article, text}")
    ]


def read_law_index(path: Path | None, laws: Sequence[LawText]) -> LawIndex:
    """The file's; without one, the laws shipped with the suite and whatever the law texts themselves show."""
    if path is not None:
        return LawIndex(_index_entries(path))
    return _with(LawIndex(_index_entries(DATA / "law_index.json")), _seen(laws))


def with_laws(index: LawIndex, path: Path) -> LawIndex:
    """The index and the laws of a file: a database or rows with articles, which show how far laws go, or an index."""
    if is_database(path):
        return _with(index, _seen(read_law_texts(path)))
    found: dict[str, LawEntry] = {}
    for row in read_rows(path, shape="LAW: {max_article} or {law, article}", key="law"):
        law, last = row.text("law"), _article(row, "max_article", "article")
        found[law] = LawEntry(max(last, found.get(law, LawEntry(0)).max_article), tuple(row.texts("aliases")))
    return _with(index, found)


def _seen(laws: Sequence[LawText]) -> dict[str, LawEntry]:
    """The laws of some texts, as far as the texts go."""
    found: dict[str, LawEntry] = {}
    for law in laws:
        before = found.get(law.law, LawEntry(0))
        found[law.law] = LawEntry(max(before.max_article, law.article), law.aliases or before.aliases)
    return found


def _with(index: LawIndex, more: Mapping[str, LawEntry]) -> LawIndex:
    """A law that both know has as many articles as the one that knows more."""
    entries = dict(index.laws)
    for law, entry in more.items():
        name = index.find(law) or law
        held = entries.get(name, LawEntry(0))
        aliases = tuple(dict.fromkeys((*held.aliases, *entry.aliases)))
        entries[name] = LawEntry(max(held.max_article, entry.max_article), aliases)
    return LawIndex(entries)


def _article(row: Row, *names: str) -> int:
    value = row.need(*names)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise row.wrong(next(name for name in names if name in row.data), value, "is no article; write its number")
    return value


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
    risk_id = row.identity("rule_id", "risk_id")
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
    """Articles are numbered 19, 十九 or 第十九条."""
    article = to_int(article_id.strip()) or next((ref.article for ref in read_laws(article_id)), None)
    if article is None:
        raise UserError(f"{path}: law_articles has the article_id {article_id!r} of {law!r}; write 19 or 第十九条.")
    return LawText(law_name(law), article, content)


def _index_entries(path: Path) -> dict[str, LawEntry]:
    entries: dict[str, LawEntry] = {}
    for row in read_rows(path, shape="LAW: {max_article, aliases}", key="law"):
        entries[row.text("law")] = LawEntry(_article(row, "max_article"), tuple(row.texts("aliases")))
    return entries
