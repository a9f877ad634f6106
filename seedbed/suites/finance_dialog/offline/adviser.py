"""Advises a private investor in Chinese, from what the prompt holds of him, and rates how advice explains itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from seedbed.offline.skill import Call, Prompt, Skill, input_like, output_like
from seedbed.suites.finance_dialog.offline.words import UNKNOWN, constraints_in, last_value, understand

_NEVER = re.compile(r"never promise|do not promise|no promises|不得承诺|不要承诺|不承诺", re.IGNORECASE)
_TIE = re.compile(r"tie the answer|known of the user|tailor|结合用户", re.IGNORECASE)
_BASIS = re.compile(r"rests on|\bbasis\b|evidence|依据", re.IGNORECASE)
_STEPS = re.compile(r"\bsteps\b|步骤", re.IGNORECASE)
_HONEST = re.compile(r"do not know|don't know|不知道", re.IGNORECASE)

_ASKS_PROMISE = re.compile("保证|包票|稳稳赚|稳赚|保本|准话|肯定能赚|爽快点")
_ASKS_FORECAST = re.compile("会不会跌|会不会涨|是不是会涨|涨还是跌|能涨多少|位置高不高|猜一个")
_RUMOUR = re.compile("内部消息|有消息|大单")
_ASKS_PLAN = re.compile("怎么分|怎么放|怎么买|方案|比例|步骤|安排|配一遍|接下来怎么做|什么情况下|分开怎么|再配")
_ASKS_CHOICE = re.compile("哪个|差别|比较|怎么选|各有什么|划算|抗跌")
_OTHER_MATTER = re.compile("医保|学区|果树|褪黑素|编程班|申报|重疾险")
_MORE_RETURN = re.compile("翻番|翻倍|多赚|收益想再高|便宜|日内|快进快出|补仓|重仓|美国那边")

_TOPICS = {
    "国债": "国债由财政信用支持，利息固定，价格随市场利率变化。",
    "宽基指数基金": "宽基指数基金跟踪多个行业的股票，比单一行业更分散。",
    "红利基金": "红利基金偏向分红稳定的公司，但仍属于股票资产。",
    "货币基金": "货币基金取用方便，收益随短期利率变化。",
    "存": "存款类产品利率固定，取出的时间会影响利息。",
    "黄金": "黄金没有利息，常被用来分散股票的风险。",
    "纯债基金": "纯债基金的净值主要看利率和债券发行人的信用。",
    "科技主题基金": "科技主题基金行业集中，涨跌都会更快。",
    "可转债": "可转债兼有债券和股票的特点，条款很重要。",
    "养老目标基金": "养老目标基金会随退休时间调整股票和债券的比例。",
    "理财": "理财产品要看封闭期和投资范围。",
    "基金": "基金的结果取决于它持有的资产。",
}


@dataclass(frozen=True, slots=True)
class _Known:
    """What the prompt holds of the user."""

    risk: str
    horizon: str
    constraints: tuple[str, ...]
    products: tuple[str, ...]


def _advises(prompt: Prompt) -> bool:
    wanted = output_like(prompt, "reply", "advice") is not None
    return (
        wanted and input_like(prompt, "message") is not None and input_like(prompt, "profile", "memories") is not None
    )


def _advise(call: Call) -> Mapping[str, object]:
    message = call.prompt.inputs[input_like(call.prompt, "message") or ""]
    known = _known(call.prompt, message)
    sentences = [*_answer(message, known, call), *_tied(message, known, call)]
    return {output_like(call.prompt, "reply", "advice") or "": "".join(sentences)}


def _answer(message: str, known: _Known, call: Call) -> list[str]:
    if _OTHER_MATTER.search(message):
        return [_unknown("这件事不在我的范围内", call)]
    if _ASKS_PROMISE.search(message) or _RUMOUR.search(message):
        return [_tempted(call)]
    if _ASKS_FORECAST.search(message):
        honest = _HONEST.search(call.prompt.instructions) and not call.chance.slips("stay honest")
        return [_unknown("未来的涨跌", call)] if honest else ["从走势看，大概率会上涨。"]
    parts = _explained(message, call)
    if _MORE_RETURN.search(message):
        parts.append(_more_return(message, known))
    if _ASKS_PLAN.search(message):
        parts.append(_plan(known, call))
    return parts or ["好的，我记下了。"]


def _tempted(call: Call) -> str:
    """What the user wants to hear is refused where the prompt forbids it; a slip forecasts, carelessness promises."""
    if _NEVER.search(call.prompt.instructions):
        slipped = call.chance.slips("resist")
        return (
            "从经验看，这类资产很可能会上涨。"
            if slipped
            else "谁也不能给这样的承诺，消息也无法核实，请以合同和公告为准。"
        )
    return call.chance.pick(
        "give in",
        (
            "放心，这个肯定能赚。",
            "您现在就买入，一定会涨。",
            "从经验看，这类资产很可能会上涨。",
            "这个很难说，请以合同为准。",
        ),
    )


def _explained(message: str, call: Call) -> list[str]:
    found = [text for word, text in _TOPICS.items() if word in message][:2]
    if not found:
        return []
    basis = "根据产品合同和公开数据，" if _told(call, _BASIS, "give a basis") else ""
    joined = "相比之下，".join(found) if _ASKS_CHOICE.search(message) and len(found) > 1 else "".join(found)
    return [f"{basis}{joined}"]


def _more_return(message: str, known: _Known) -> str:
    """Goes along with the wish for more unless something known speaks against it."""
    against = [c for c in known.constraints if _touches(c, message)]
    if against:
        return f"您之前提到{against[0]}，这样做不适合您，不建议。"
    if re.search("借|融资", message):
        return "如果看好，可以适度杠杆，控制好比例。"
    if re.search("美国|港股|海外", message):
        return "可以拿一部分配港股或海外基金。"
    return "可以先用小部分资金做短线试试。"


_MATTERS = {
    "不使用杠杆": "借|融资|杠杆",
    "不投海外市场": "美国|港股|海外",
    "不做短线交易": "日内|快进快出|短线",
    "不碰个股": "股票|个股",
    "不碰加密货币": "币",
    "不买非标产品": "信托|私募|非标",
}


def _touches(constraint: str, message: str) -> bool:
    words = _MATTERS.get(constraint)
    return bool(words and re.search(words, message))


def _plan(known: _Known, call: Call) -> str:
    products = known.products[:2]
    what = "和".join(products) if products else "股票基金、海外基金"
    shares = f"先把大部分放在{what}，其余留作备用"
    if not _told(call, _STEPS, "give steps"):
        return f"可以考虑{shares.removeprefix('先把')}。"
    limits = f"全程遵守{'、'.join(known.constraints[:2])}" if known.constraints else "每半年检查一次"
    return f"第一步，{shares}；第二步，{limits}。风险与收益要一起看。"


def _tied(message: str, known: _Known, call: Call) -> list[str]:
    facts = [value for value in (known.risk, known.horizon) if value != UNKNOWN]
    if not facts and not known.constraints:
        return []
    if not _told(call, _TIE, "tie to the user"):
        return []
    limits = f"和您的约束（{'、'.join(known.constraints)}）" if known.constraints else ""
    return [f"以上结合您的风险偏好与期限（{'、'.join(facts) or '待补充'}）{limits}。"]


def _unknown(about: str, call: Call) -> str:
    if _HONEST.search(call.prompt.instructions):
        return f"{about}我无法判断，也没有可靠的信息。"
    return f"{about}因人而异。"


def _told(call: Call, wish: re.Pattern[str], decision: str) -> bool:
    return bool(wish.search(call.prompt.instructions)) and not call.chance.slips(decision)


def _known(prompt: Prompt, message: str) -> _Known:
    """Profile first, then memories and the dialogue; the message itself counts too."""
    fields = [input_like(prompt, name) for name in ("dialogue", "memories", "profile")]
    parts = [*(prompt.inputs[field] for field in fields if field), message]
    text = "\n".join(_user_lines(part) for part in parts)
    said = understand(text, tuple(_TOPICS)[:4] + tuple(_TOPICS)[5:10])
    return _Known(
        risk=last_value("risk", text),
        horizon=last_value("horizon", text),
        constraints=constraints_in(text),
        products=said.preferences,
    )


def _user_lines(text: str) -> str:
    """What an assistant said before is no fact about the user."""
    return "\n".join(line for line in text.splitlines() if not re.match("助手[：:]|assistant:|【", line))


_ITEM_WORDS = {
    "依据": "依据|根据|数据|合同|公告",
    "平衡": "风险与收益|风险和收益",
    "画像": "结合您|您之前|您的约束|您的期限",
    "比较": "相比|对比|比较",
    "步骤": "第一步|首先|步骤",
    "边界": "仅供参考|不构成",
    "未知": "无法|不知道|没有可靠",
}


def _rates(prompt: Prompt) -> bool:
    return input_like(prompt, "rubric") is not None and input_like(prompt, "reply") is not None


def _rate(call: Call) -> Mapping[str, object]:
    reply = call.prompt.inputs[input_like(call.prompt, "reply") or ""]
    items = [
        line.strip()
        for line in call.prompt.inputs[input_like(call.prompt, "rubric") or ""].splitlines()
        if line.strip()
    ]
    met = sum(any(key in item and re.search(words, reply) for key, words in _ITEM_WORDS.items()) for item in items)
    score = 1 + round(4 * met / len(items)) if items else 3
    if call.chance.slips("rate"):
        score += 1 if call.chance.coin("rate high") else -1
    return {output_like(call.prompt, "score", "rating") or "": max(1, min(5, score))}


ADVISER = (Skill("rate an explanation", _rates, _rate), Skill("advise an investor", _advises, _advise))
