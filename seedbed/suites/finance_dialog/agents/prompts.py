"""The prompts. Field names and instructions are all that a model sees of a task."""

from __future__ import annotations

from typing import Literal

import dspy
from pydantic import BaseModel

CONSTRAINT_LABELS = (
    "不使用杠杆、不投海外市场、不做短线交易、不碰个股、不碰加密货币、不买非标产品、"
    "最大回撤<N%、单一资产不超过N%、保留N%现金"
)
PREFERENCE_LABELS = (
    "国债、宽基指数基金、红利基金、货币基金、定期存款、大额存单、黄金、纯债基金、科技主题基金、可转债、养老目标基金"
)
NEVER = (
    "Never promise a return or call anything safe, never order a purchase or a sale, never forecast a price, never "
    "pass on rumours. Where the user asks for that, say that you cannot."
)


class Advise(dspy.Signature):
    """You advise a private investor. Answer the message in Chinese, in a few sentences. Tie the answer to what is known
    of the user, say what it rests on, compare where there is a choice, give steps where the user asks what to do, and
    say openly what you do not know."""

    user_profile: str = dspy.InputField(desc="what has been noted of the user; may be empty")
    memories: str = dspy.InputField(desc="earlier messages and facts that may matter; may be empty")
    recent_dialogue: str = dspy.InputField(desc="the turns just before; may be empty")
    user_message: str = dspy.InputField()
    reply: str = dspy.OutputField()


class NoteProfile(dspy.Signature):
    """Note what the message says of the investor, and nothing that it does not say: unknown, or an empty list. Write
    constraints and preferences with the given labels, numbers filled in. What the user takes back goes into
    `withdrawn`."""

    constraint_labels: str = dspy.InputField()
    preference_labels: str = dspy.InputField()
    user_message: str = dspy.InputField()
    risk_level: Literal["保守", "稳健", "进取", "unknown"] = dspy.OutputField()
    investment_horizon: Literal["<=6月", "6-24月", "2年以上", "unknown"] = dspy.OutputField()
    liquidity_need: Literal["高", "中", "低", "unknown"] = dspy.OutputField()
    constraints: list[str] = dspy.OutputField()
    preferences: list[str] = dspy.OutputField()
    withdrawn: list[str] = dspy.OutputField()


class ExtractFacts(dspy.Signature):
    """List the facts about the investor in the message that are worth remembering, each as one short sentence in
    Chinese that can be understood alone. An empty list if there is none."""

    user_message: str = dspy.InputField()
    facts: list[str] = dspy.OutputField()


class MemoryOperation(BaseModel):
    """A change of the memory. `id` names a memory for UPDATE and DELETE; `text` is what it becomes."""

    event: Literal["ADD", "UPDATE", "DELETE", "NONE"]
    id: str = ""
    text: str = ""


class UpdateMemory(dspy.Signature):
    """Decide for each new fact what becomes of the memory: ADD what is new, UPDATE the memory that it replaces, DELETE
    the memory that it takes back, NONE if the memory holds it already."""

    memories: str = dspy.InputField(desc="a line each: id | text")
    new_facts: str = dspy.InputField(desc="a line each")
    operations: list[MemoryOperation] = dspy.OutputField()


class RateExplanation(dspy.Signature):
    """Rate from 1 to 5 how well the reply explains itself to the user, by the items of the rubric. 5 fulfils them all
    with substance, 1 fulfils none."""

    user_message: str = dspy.InputField()
    reply: str = dspy.InputField()
    rubric: str = dspy.InputField(desc="items, a line each")
    score: int = dspy.OutputField(ge=1, le=5)
