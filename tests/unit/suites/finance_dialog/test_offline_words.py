"""What the offline model understands of an investor's words."""

from __future__ import annotations

import pytest

from seedbed.suites.finance_dialog.offline.words import Said, understand

PRODUCTS = ("国债", "黄金")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("我胆子小，本金最要紧。", Said(risk="保守")),
        ("期限本来是2年以上，改成6-24月。", Said(horizon="6-24月")),
        ("钱要随时能取，流动性需求高。", Said(liquidity="高")),
        ("不使用杠杆，账户最大回撤<10%。", Said(constraints=("不使用杠杆", "最大回撤<10%"))),
        ("个股我不碰，比较喜欢国债。", Said(constraints=("不碰个股",), preferences=("国债",))),
        ("不投海外那条限制取消。", Said(withdrawn=("不投海外市场",))),
        ("今天天气不错。", Said()),
    ],
)
def test_a_message_is_understood(message: str, said: Said) -> None:
    assert understand(message, PRODUCTS) == said
