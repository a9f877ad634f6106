"""Reviews a contract clause, or checks a review that was drafted: from what stands in the prompt, and a bad memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from seedbed.offline.skill import Call, Prompt, Skill, input_like, output_like
from seedbed.suites.contract_risk.offline.clause_cues import View, read_laws, read_rules, view

_LEVELS = ("高", "中", "低")
_WEIGHS = re.compile(r"缓和|减轻|mitigat", re.IGNORECASE)
_VERBATIM = re.compile(r"逐字|一字不差|不得改写|verbatim", re.IGNORECASE)
_DRAFT_LAW = re.compile(r"\*\*法条\*\*[：:](.*)")
_NUMBER = re.compile(r"\d+|[二三四五六七八九](?=[个十百千万年月日小元])")
_NEGATION = re.compile(r"不得|不予|不|无需|无权|未")
_FOREIGN = "双方应当本着诚实信用的原则友好解决争议"
_SYNONYMS = (
    ("应当", "要"),
    ("有权", "可以"),
    ("支付", "付"),
    ("承担", "负担"),
    ("乙方", "对方"),
    ("甲方", "该方"),
    ("的", ""),
)
_MEMORY = (
    ("劳动", "劳动合同法", 98),
    ("消费", "消费者权益保护法", 63),
    ("", "民法典", 1260),
)
_MISREMEMBERED = ("合同法", "消费者保护条例", "经济合同法")


def fits(prompt: Prompt) -> bool:
    return input_like(prompt, "clause") is not None and output_like(prompt, "review") is not None


def answer(call: Call) -> Mapping[str, object]:
    field = output_like(call.prompt, "review") or ""
    draft_field = input_like(call.prompt, "draft")
    text = _checked(call, call.prompt.inputs[draft_field]) if draft_field else _drafted(call)
    return {field: text}


def _view(call: Call) -> View:
    inputs = call.prompt.inputs
    rules = read_rules(inputs[name]) if (name := input_like(call.prompt, "rules")) else []
    laws = read_laws(inputs[name]) if (name := input_like(call.prompt, "laws")) else []
    weighs = bool(_WEIGHS.search(call.prompt.instructions))
    return view(inputs[input_like(call.prompt, "clause") or ""], rules, laws, weighs=weighs)


def _drafted(call: Call) -> str:
    """A first reading: each of level, quote and citation may go wrong by itself."""
    seen = _view(call)
    if call.chance.slips("review: level"):
        seen = replace(seen, level=_next_level(seen.level, call))
    quotes = seen.fragments
    if not _VERBATIM.search(call.prompt.instructions) and call.chance.coin("review: own words"):
        quotes = tuple(_retold(quote) for quote in quotes)
    if call.chance.slips("review: quote"):
        quotes = (_distorted(quotes[0]), *quotes[1:])
    law = seen.law or _remembered(call)
    if call.chance.slips("review: law"):
        wrong = call.chance.pick("review: which law", _MISREMEMBERED)
        law = f"《{wrong}》第{call.chance.pick('review: article', range(20, 400))}条"
    text = _written(seen, quotes, law)
    # Forgetting a section takes three lapses in a row: models rarely do.
    forgets = all(call.chance.slips(f"review: format {lapse}") for lapse in range(3))
    return text.rpartition("\n")[0] if forgets else text


def _checked(call: Call, draft: str) -> str:
    """A second look: what it notices it mends. A citation that nothing in the prompt speaks of stays as drafted."""
    if call.chance.slips("review: second look"):
        return draft
    seen = _view(call)
    drafted = _DRAFT_LAW.search(draft)
    return _written(seen, seen.fragments, seen.law or (drafted[1].strip() if drafted else "无"))


def _written(seen: View, quotes: Sequence[str], law: str) -> str:
    if seen.level == "低":
        values = {"等级": "低", "证据": "无", "分析": "未见明显不利的约定。", "法条": "无", "建议": "无"}
        return _sections("无", values)
    quoted = "；".join(f"「{quote}」" for quote in quotes)
    values = {
        "等级": seen.level,
        "证据": quoted,
        "分析": f"该约定涉及{seen.name}，双方权利义务失衡。",
        "法条": law,
        "建议": "删除或者修改上述约定，补充对等的权利和救济。",
    }
    return _sections(seen.name, values)


def _sections(name: str, values: Mapping[str, str]) -> str:
    return "\n".join([f"## 风险：{name}", *(f"- **{title}**：{value}" for title, value in values.items())])


def _next_level(level: str, call: Call) -> str:
    at = _LEVELS.index(level)
    near = [_LEVELS[i] for i in (at - 1, at + 1) if 0 <= i < len(_LEVELS)]
    return call.chance.pick("review: which level", near)


def _retold(quote: str) -> str:
    for word, other in _SYNONYMS:
        quote = quote.replace(word, other)
    return quote


def _distorted(quote: str) -> str:
    """A number changed, a negation lost, or another sentence altogether."""
    if number := _NUMBER.search(quote):
        other = str(int(number[0]) + 7) if number[0].isdigit() else "六" if number[0] != "六" else "八"
        return quote[: number.start()] + other + quote[number.end() :]
    if negation := _NEGATION.search(quote):
        return quote[: negation.start()] + quote[negation.end() :]
    return _FOREIGN


def _remembered(call: Call) -> str:
    """Without a source the law is about right and the article a guess, sometimes beyond the last one."""
    kind = call.prompt.inputs.get("contract_type", "")
    law, last = next((law, last) for word, law, last in _MEMORY if word in kind)
    return f"《{law}》第{call.chance.pick('review: remembered article', range(1, last * 5 // 4))}条"


REVIEW = Skill("review", fits, answer)
