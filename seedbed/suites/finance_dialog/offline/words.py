"""What the offline model understands of what private investors say about themselves, in Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNKNOWN = "unknown"

_RISK = {
    "保守": "保守|睡不着|胆子小|不敢亏|求稳|经不起折腾|本金最要紧|最稳的",
    "稳健": "稳健|不喜欢大起大落|取中间|不大起大落",
    "进取": "进取|激进|承受比较大的波动|能承受大波动",
}
_HORIZON = {
    "<=6月": "<=6月|半年内|半年以内|几个月内|放不了多久",
    "6-24月": "6-24月|一两年|一年多|明年底",
    "2年以上": "2年以上|两年以上|十几年|二十年|长期不用",
}
_LIQUIDITY = {
    "高": "流动性(?:需求|要求)高|随时(?:能取|要用|可能|会来)|周转用",
    "中": "流动性(?:需求|要求)中等|每年要取|每年会拿出",
    "低": "流动性(?:需求|要求)低|用不到|都不用|不急用|不动|不会动|十几年后才用",
}
_CONSTRAINTS = {
    "不使用杠杆": "不(?:使用|用|加|上)杠杆|不借钱投",
    "不投海外市场": "不(?:投|碰|买)海外",
    "不做短线交易": "不做短线",
    "不碰个股": "不碰个股|个股我?不碰",
    "不碰加密货币": "不碰加密货币|加密货币[^。，]{0,4}我?不碰",
    "不买非标产品": "不买非标|非标产品我?不买",
}
_NUMBERED = (
    (re.compile(r"最大?回撤\D{0,6}?(\d+)\s*[%％]"), "最大回撤<{}%"),
    (re.compile(r"单一资产不超过\s*(\d+)\s*[%％]"), "单一资产不超过{}%"),
    (re.compile(r"(?:保留|留出?)\s*(\d+)\s*[%％]\s*(?:的)?现金"), "保留{}%现金"),
)
_TAKEN_BACK = re.compile("取消|作废|不算了|放开")
_ABOUT = {
    "不使用杠杆": "杠杆",
    "不投海外市场": "海外",
    "不做短线交易": "短线",
    "不碰个股": "个股",
    "不碰加密货币": "加密",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What a message says of the investor."""

    risk: str = UNKNOWN
    horizon: str = UNKNOWN
    liquidity: str = UNKNOWN
    constraints: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()


def understand(message: str, products: tuple[str, ...]) -> Said:
    """Of several values of a slot the one said last: that is how people correct themselves."""
    withdrawn = _withdrawn(message)
    stated = [label for label, words in _CONSTRAINTS.items() if re.search(words, message)]
    stated += [label.format(m[1]) for pattern, label in _NUMBERED for m in pattern.finditer(message)]
    return Said(
        risk=_last(_RISK, message),
        horizon=_last(_HORIZON, message),
        liquidity=_last(_LIQUIDITY, message),
        constraints=tuple(dict.fromkeys(label for label in stated if label not in withdrawn)),
        preferences=tuple(product for product in products if product in message),
        withdrawn=withdrawn,
    )


def constraints_in(text: str) -> tuple[str, ...]:
    """Constraints that a text speaks of, however it does."""
    return understand(text, ()).constraints


def last_value(kind: str, text: str) -> str:
    """The value of a single slot that a text gives last; kind is risk, horizon or liquidity."""
    return _last({"risk": _RISK, "horizon": _HORIZON, "liquidity": _LIQUIDITY}[kind], text)


def _withdrawn(message: str) -> tuple[str, ...]:
    if not _TAKEN_BACK.search(message):
        return ()
    return tuple(label for label, word in _ABOUT.items() if word in message)


def _last(values: dict[str, str], text: str) -> str:
    found = [(match.start(), value) for value, words in values.items() for match in re.finditer(words, text)]
    return max(found)[1] if found else UNKNOWN
