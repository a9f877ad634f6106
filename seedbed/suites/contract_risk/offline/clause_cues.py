"""What a reader without a law library sees in a contract clause, and what rules and law texts beside it add."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_HARSH = re.compile(
    r"概不|一概|一律不|不承担任何|责任自负|不得(?:对[^，。]{0,4})?提出异议|无需说明理由|不另行通知|不经通知|无条件|任意(?:处置|提供)"
    r"|视为放弃|自愿放弃|放弃请求|全部损失|不予(?:退还|返还|退换)|不设上限|直接归|最终解释权|与[甲乙][^，。]{0,2}无关|一切(?:风险|维修|费用)"
    r"|不得撤回|无权取消|自动作废|任何(?:补偿|理由)|无论[^，。]{1,12}(?:均|一律)|随时(?:解除|通知[^，。]{1,4}离职)"
)
_SOFT = re.compile(
    r"协商|书面(?:通知|催告)|提前[^，。]{1,8}(?:通知|公告|办理)|为上限|适当|合理|部分[^，。]{0,6}退还|多退少补|可以(?:选择|随时|与)"
    r"|余款|抵作价款|自愿缴纳|仍可|协助|扣款前取消|扣除[^，。]{1,20}后"
)
_FAIR = re.compile(
    r"依法|按照[^，。]{0,4}规定|依照|足额|全额退还|原路退|单独同意|双倍返还|优先受偿|由(?:卖方|出租人)(?:承担|负担)|不利于提供"
    r"|诉讼|当场归还|随时(?:撤回|一键取消)|负责维修|显著方式|任何一方|不计复利|实际(?:借款|使用)天数"
)
_FORBIDS = re.compile(r"不得|无效|禁止|没有效力|违法|不公平|必须")
_DIGITS = {ch: i for i, ch in enumerate("零一二三四五六七八九")} | {"两": 2}
_NUMERAL = r"(?:\d+(?:\.\d+)?|[零一二两三四五六七八九十百]+)"
_AMOUNT = re.compile(rf"(百分之|千分之)?({_NUMERAL})(%|个月|年|日|小时|元)?")
_LIMIT = re.compile(rf"超过[^，。；｜]{{0,8}}?((?:百分之)?{_NUMERAL}(?:%|个月|年)?)")
_RULE = re.compile(
    r"^\[([^\]]+)\] ([^｜]+)｜等级：([高中低])｜触发词：([^｜]*)｜说明：([^｜]*)｜法条：(.*)$", re.MULTILINE
)
_LAW = re.compile(r"^(《[^》]+》第\d+条)：(.+)$", re.MULTILINE)
_FRAGMENT = re.compile(r"[^，。；！？\n]+")


@dataclass(frozen=True, slots=True)
class RuleCue:
    name: str
    level: str
    words: tuple[str, ...]
    text: str
    laws: str


@dataclass(frozen=True, slots=True)
class LawCue:
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class View:
    """A reading of a clause: how grave, because of what, and which words show it."""

    level: str
    name: str
    fragments: tuple[str, ...]
    law: str | None
    """A citation found in the prompt; None where the prompt gives none that fits."""


def read_rules(value: str) -> list[RuleCue]:
    return [RuleCue(m[2], m[3], tuple(w for w in m[4].split("、") if w), m[5], m[6]) for m in _RULE.finditer(value)]


def read_laws(value: str) -> list[LawCue]:
    return [LawCue(match[1], match[2]) for match in _LAW.finditer(value)]


def view(clause: str, rules: Sequence[RuleCue], laws: Sequence[LawCue], *, weighs: bool) -> View:
    """`weighs`: the reader was told that soothing arrangements lower the level; else they hardly count."""
    rule = max((r for r in rules if _hits(r, clause)), key=lambda r: _hits(r, clause), default=None)
    law = max(
        (x for x in laws if _likeness(x.text, clause) > 0.1), key=lambda x: _likeness(x.text, clause), default=None
    )
    harsh, soft, fair = (len(set(p.findall(clause))) for p in (_HARSH, _SOFT, _FAIR))
    score = 0.95 * min(harsh, 2) - min(soft, 1) * (0.7 if weighs else 0.2) - 1.0 * min(fair, 2)
    if rule:
        score += 2.0 if rule.level == "高" else 1.6
    if law and _FORBIDS.search(law.text) and not fair:
        score += 0.6
    score += _against_limits(clause, [text for text in (rule and rule.text, law and law.text) if text])
    level = "高" if score >= 1.8 else "中" if score >= 0.8 else "低"
    return View(level, rule.name if rule else "条款对一方不利", _fragments(clause, rule), _citation(rule, law))


def _citation(rule: RuleCue | None, law: LawCue | None) -> str | None:
    """An article whose text was there to read, unless the rule speaks of others; else what the rule names first."""
    named = rule.laws.split("；") if rule and rule.laws != "无" else []
    if law and (not named or law.title in named):
        return law.title
    return named[0] if named else None


def _hits(rule: RuleCue, clause: str) -> int:
    return sum(len(word) for word in rule.words if word in clause)


def _likeness(text: str, clause: str) -> float:
    """The share of a text's character pairs that the clause has."""
    pairs = {text[i : i + 2] for i in range(len(text) - 1)}
    return sum(pair in clause for pair in pairs) / len(pairs) if pairs else 0.0


def _against_limits(clause: str, texts: Iterable[str]) -> float:
    """Compares the amounts of a clause with a limit such as "not over six months" that stands in a rule or a law."""
    for text in texts:
        limit = _LIMIT.search(text)
        if limit and (bound := _amounts(limit[1])):
            own = [value for value, unit in _amounts(clause) if unit == bound[0][1]]
            if own:
                return 1.2 if max(own) > bound[0][0] else -1.0
    return 0.0


def _amounts(text: str) -> list[tuple[float, str]]:
    found = [(_number(m[2]), "%" if m[1] == "百分之" else m[1] or m[3] or "") for m in _AMOUNT.finditer(text)]
    return [(value, unit) for value, unit in found if unit]


def _number(text: str) -> float:
    if text[0].isdigit():
        return float(text)
    total, digit = 0, 0
    for ch in text:
        if ch in "十百":
            total += (digit or 1) * (10 if ch == "十" else 100)
            digit = 0
        else:
            digit = _DIGITS[ch]
    return float(total + digit)


def _fragments(clause: str, rule: RuleCue | None) -> tuple[str, ...]:
    """The one or two stretches of the clause that show most of what was noticed."""
    words = rule.words if rule else ()
    parts: list[str] = [part.strip() for part in _FRAGMENT.findall(clause)]
    weight = {p: 2 * len(_HARSH.findall(p)) + sum(w in p for w in words) + len(_SOFT.findall(p)) for p in parts}
    best = [part for part in sorted(parts, key=lambda p: -weight[p]) if weight[part]][:2] or parts[:1]
    return tuple(part for part in parts if part in best)
