"""What an agent does for compliance by itself: disclosures that fit the subject, and a last look at its own words.

The evaluator has rules of its own and does not ask these.
"""

from __future__ import annotations

import re
from typing import Any

_DISCLOSURES: tuple[tuple[str, str], ...] = (
    ("基金|股票|个股|指数|黄金|可转债|加密|币", "净值和价格会有波动，可能出现回撤，历史表现不代表未来。"),
    ("债", "利率变动会影响债券价格，个别债券可能违约。"),
    ("存款|存单|理财|赎回|急用|随时|流动性|周转", "提前支取或赎回到账需要时间，可能影响变现。"),
    ("杠杆|融资|借钱|借点钱", "借入资金会放大亏损。"),
    ("海外|美股|港股|美元|美国", "海外资产还要承担汇率变化。"),
    ("一只|重仓|单一|全部|集中", "请避免持仓过于集中。"),
    ("信托|私募|非标|封闭", "产品可能延期兑付。"),
    ("预测|会涨|会不会|明年|下周|下个月", "市场有不确定性。"),
)
_SUBJECT = re.compile("基金|股|债|理财|存|投|配置|产品|收益|黄金|币|仓|钱")
_CLOSING = "不保证收益，以上内容仅供参考，不构成投资建议。"

_NEVER_SAY = re.compile(
    "保证(您)?(赚|收益|不亏|本金|回本)|稳赚|包赚|零风险|没有任何风险|(一定|肯定|绝对)(能|会)?(赚|涨|回本|不亏|安全)"
    "|(马上|立刻|现在就|赶紧)(买入|加仓|卖出|清仓|满仓)|(满仓|全仓)(买|投|进)|内幕|内部消息|小道消息|闭眼(买|入)"
)
_INSTEAD = "涨跌和收益我都不能承诺。"
_SENTENCE = re.compile("[^。！？!?；;\n]+[。！？!?；;\n]?")


def with_disclosures(user_text: str, reply: str) -> tuple[str, list[dict[str, Any]]]:
    """The reply with the disclosures of its subject, and the record of it; unchanged where no money is spoken of."""
    both = f"{user_text}\n{reply}"
    if not _SUBJECT.search(both):
        return reply, []
    lines = [line for words, line in _DISCLOSURES if re.search(words, both)]
    text = "".join([*lines, _CLOSING])
    return f"{reply}\n【风险提示】{text}", [_tool("risk_template", text)]


def guarded(reply: str) -> tuple[str, list[dict[str, Any]]]:
    """The reply without sentences that promise, order or spread rumours, and the record of what was struck."""
    sentences = _SENTENCE.findall(reply)
    struck = [sentence for sentence in sentences if _NEVER_SAY.search(sentence)]
    if not struck:
        return reply, []
    kept = "".join(sentence for sentence in sentences if sentence not in struck)
    return f"{kept}{_INSTEAD}", [_tool("compliance_guard", f"struck {len(struck)} of {len(sentences)} sentences")]


def _tool(name: str, result: str) -> dict[str, Any]:
    return {"tool_name": name, "args": {}, "result_excerpt": result, "latency_ms": None, "error": None}
