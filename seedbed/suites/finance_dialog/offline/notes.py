"""Notes what an investor says: the slots of a profile, facts for a memory, and what new facts change in it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from seedbed.offline.skill import PLAIN_INPUT, PLAIN_OUTPUT, Call, Prompt, Skill, asks_for, input_like, output_like
from seedbed.suites.finance_dialog.offline.words import UNKNOWN, Said, understand

_PRODUCTS = ("国债", "宽基指数基金", "红利基金", "货币基金", "定期存款", "大额存单", "黄金", "纯债基金", "科技主题基金", "可转债", "养老目标基金")  # fmt: skip  # noqa: E501
_MEMORY = re.compile(r"^(\S+) \| (.+)$", re.MULTILINE)
_SINGLE = ("用户的风险偏好是", "用户的投资期限是", "用户的流动性需求：")
_TAKEN_BACK = "用户取消了约束："


def _notes_profile(prompt: Prompt) -> bool:
    return asks_for(prompt, set(), {"risk_level", "investment_horizon", "constraints"})


def _note_profile(call: Call) -> Mapping[str, object]:
    said = _with_slips(understand(_message(call.prompt), _labels(call.prompt)), call)
    return {
        "risk_level": said.risk,
        "investment_horizon": said.horizon,
        "liquidity_need": said.liquidity,
        "constraints": list(said.constraints),
        "preferences": list(said.preferences),
        "withdrawn": list(said.withdrawn),
    }


def _extracts_facts(prompt: Prompt) -> bool:
    return output_like(prompt, "facts") is not None and input_like(prompt, "message") is not None


def _extract_facts(call: Call) -> Mapping[str, object]:
    said = _with_slips(understand(_message(call.prompt), _PRODUCTS), call)
    return {output_like(call.prompt, "facts") or "facts": _facts(said)}


def _facts(said: Said) -> list[str]:
    singles = zip(_SINGLE, (said.risk, said.horizon, said.liquidity), strict=True)
    facts = [f"{start}{value}" for start, value in singles if value != UNKNOWN]
    facts += [f"用户的约束：{label}" for label in said.constraints]
    facts += [f"用户关注{label}" for label in said.preferences]
    return facts + [f"{_TAKEN_BACK}{label}" for label in said.withdrawn]


_NEW_MESSAGES = re.compile(r"^## New Messages\n(.*?)(?=\n\n## |\Z)", re.MULTILINE | re.DOTALL)


def _extracts_as_json(prompt: Prompt) -> bool:
    """A plain prompt, as the package mem0ai writes it, for facts of new messages as JSON."""
    return prompt.format == "plain" and '"memory"' in prompt.instructions and "## New Messages" in _plain(prompt)


def _extract_as_json(call: Call) -> Mapping[str, object]:
    found = _NEW_MESSAGES.search(_plain(call.prompt))
    facts = _facts(_with_slips(understand(found[1] if found else "", _PRODUCTS), call))
    memory = [{"id": str(n), "text": fact, "attributed_to": "user"} for n, fact in enumerate(facts)]
    return {PLAIN_OUTPUT: json.dumps({"memory": memory}, ensure_ascii=False)}


def _plain(prompt: Prompt) -> str:
    return prompt.inputs.get(PLAIN_INPUT, "")


def _updates_memory(prompt: Prompt) -> bool:
    return output_like(prompt, "operations") is not None and input_like(prompt, "memories") is not None


def _update_memory(call: Call) -> Mapping[str, object]:
    memories = dict(_MEMORY.findall(call.prompt.inputs[input_like(call.prompt, "memories") or ""]))
    facts = call.prompt.inputs[input_like(call.prompt, "facts") or ""].splitlines()
    return {
        output_like(call.prompt, "operations") or "": [
            _operation(fact.strip(), memories) for fact in facts if fact.strip()
        ]
    }


def _operation(fact: str, memories: Mapping[str, str]) -> dict[str, str]:
    if fact in memories.values():
        return {"event": "NONE", "id": "", "text": ""}
    if fact.startswith(_TAKEN_BACK):
        label = fact.removeprefix(_TAKEN_BACK)
        held = next((i for i, text in memories.items() if text.endswith(label)), None)
        return {"event": "DELETE" if held else "NONE", "id": held or "", "text": ""}
    start = next((s for s in _SINGLE if fact.startswith(s)), None)
    replaced = next((i for i, text in memories.items() if start and text.startswith(start)), None)
    if replaced:
        return {"event": "UPDATE", "id": replaced, "text": fact}
    return {"event": "ADD", "id": "", "text": fact}


def _with_slips(said: Said, call: Call) -> Said:
    """A slip overlooks one kind of thing that was said."""
    risk = UNKNOWN if call.chance.slips("note risk") else said.risk
    horizon = UNKNOWN if call.chance.slips("note horizon") else said.horizon
    liquidity = UNKNOWN if call.chance.slips("note liquidity") else said.liquidity
    constraints = said.constraints[1:] if call.chance.slips("note constraints") else said.constraints
    preferences = said.preferences[1:] if call.chance.slips("note preferences") else said.preferences
    return Said(risk, horizon, liquidity, constraints, preferences, said.withdrawn)


def _message(prompt: Prompt) -> str:
    return prompt.inputs[input_like(prompt, "message") or ""]


def _labels(prompt: Prompt) -> tuple[str, ...]:
    field = input_like(prompt, "preference")
    given = [label.strip() for label in re.split("[、,，\n]", prompt.inputs[field])] if field else []
    return tuple(label for label in given if label) or _PRODUCTS


NOTES = (
    Skill("note an investor's profile", _notes_profile, _note_profile),
    Skill("extract facts of an investor", _extracts_facts, _extract_facts),
    Skill("extract facts as JSON", _extracts_as_json, _extract_as_json),
    Skill("update a memory", _updates_memory, _update_memory),
)
