"""What the reviewer is asked, in Chinese as the clauses are. The output contract is the same in every prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import dspy

from seedbed.suites.contract_risk.levels import Level
from seedbed.suites.contract_risk.retrieval import Found
from seedbed.suites.contract_risk.rules import Rule, grade

if TYPE_CHECKING:
    from seedbed.suites.contract_risk.knowledge import LawText

NOT_GIVEN = "（未提供）"

FORMAT = """按以下 Markdown 格式输出，每个风险一段；五项都要写，没有内容的写“无”：
## 风险：<风险名称>
- **等级**：高、中、低三者之一
- **证据**：「条款中的原话」
- **分析**：一两句话
- **法条**：《法律名称》第几条
- **建议**：如何修改"""

_GUIDE = """你是合同审查人员，站在较弱一方的立场审查一个条款。
等级的标准：违反强制性规定、完全免除一方责任或者剥夺对方主要权利的为高；对一方不利，但有通知、协商、上限等缓和安排的，降为中；合法而且公平的为低。
证据必须逐字引用条款原文，不得改写，不得改动数字和否定词。
有规则和法条可供参考的，先看条款是否落入其中；只引用确实存在的法条。"""

_RECHECK = """你是合同审查的复核人员。对照条款、规则和法条检查初稿，改正后输出完整的审查意见：
等级是否符合标准（有缓和安排的降为中，合法而且公平的为低）；证据是否逐字引用条款原文；法条是否真实并且相关；有风险的是否给出修改建议。初稿没有错误的，照原样输出。"""


class BareReview(dspy.Signature):
    __doc__ = f"审查合同条款的风险。\n{FORMAT}"

    contract_type: str = dspy.InputField()
    clause: str = dspy.InputField()
    review: str = dspy.OutputField()


class GuidedReview(dspy.Signature):
    __doc__ = f"{_GUIDE}\n{FORMAT}"

    contract_type: str = dspy.InputField()
    clause: str = dspy.InputField()
    rules: str = dspy.InputField()
    laws: str = dspy.InputField()
    review: str = dspy.OutputField()


class Recheck(dspy.Signature):
    __doc__ = f"{_RECHECK}\n{FORMAT}"

    contract_type: str = dspy.InputField()
    clause: str = dspy.InputField()
    rules: str = dspy.InputField()
    laws: str = dspy.InputField()
    draft: str = dspy.InputField()
    review: str = dspy.OutputField()


def show_rules(found: Sequence[Found[Rule]]) -> str:
    """A line a rule: name, level, trigger words, when it matters, the law behind it."""
    return "\n".join(_rule_line(f.item) for f in found) or NOT_GIVEN


def show_laws(found: Sequence[Found[LawText]]) -> str:
    return "\n".join(f"《{f.item.law}》第{f.item.article}条：{f.item.text}" for f in found) or NOT_GIVEN


def write_review(
    name: str, level: Level, *, evidence: Sequence[str] = (), analysis: str = "", laws: str = "", advice: str = ""
) -> str:
    """A review in the output contract, for systems that write it without a model."""
    quoted = "；".join(f"「{excerpt}」" for excerpt in evidence)
    values = (("等级", level), ("证据", quoted), ("分析", analysis), ("法条", laws), ("建议", advice))
    return "\n".join([f"## 风险：{name or '无'}", *(f"- **{title}**：{value or '无'}" for title, value in values)])


def _rule_line(rule: Rule) -> str:
    words = "、".join((*rule.any_of, *rule.all_of))
    laws = "；".join(f"《{ref.law}》第{ref.article}条" for ref in rule.law_refs if ref.article)
    head = f"[{rule.rule_id}] {rule.name}｜等级：{grade(rule)}｜触发词：{words}"
    return f"{head}｜说明：{rule.rationale}｜法条：{laws or '无'}"
