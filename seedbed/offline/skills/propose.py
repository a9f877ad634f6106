"""Writes instructions without feedback, as MIPROv2, COPRO and SIMBA ask for them: from data and experience."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from seedbed.offline.advice import EMPTY, SHORT, known_for
from seedbed.offline.skill import Call, Prompt, Skill, asks_for, output_names

_LABEL = re.compile(r"'answer': (['\"])(.*?)\1")
_PRODUCES = re.compile(r"produce the fields? ((?:`\w+`(?:, )?)+)")
_ARROW = re.compile(r"->\s*([\w, ]+)")
_SHORT_LABELS = "The answers are short: a name, a number or a few words, never a sentence."
_SHORT_WORDS = 4


def _fits(prompt: Prompt) -> bool:
    asked = {"proposed_instruction", "module_advice", "observations", "program_description", "module_description"}
    return not asked.isdisjoint(output_names(prompt)) or asks_for(prompt, {"observations"}, {"summary"})


def _answer(call: Call) -> Mapping[str, object]:
    outputs, inputs = output_names(call.prompt), call.prompt.inputs
    if "proposed_instruction" in outputs:
        basic = inputs.get("basic_instruction") or _last_attempt(inputs.get("attempted_instructions", ""))
        said = _advice(call, _fields(inputs, basic), inputs.get("dataset_description", ""), "propose")
        return {
            "proposed_instruction": f"{basic}\n{said}",
            "proposed_prefix_for_output_field": "Answer:",
        }
    if "module_advice" in outputs:
        names = re.findall(r"[\w.]+", inputs.get("module_names", ""))
        advice = {name: _advice(call, _module_fields(name, inputs), "", name) for name in names}
        return {"discussion": "The better trajectory kept to what the task asks for.", "module_advice": advice}
    if "observations" in outputs:
        return {"observations": _observe(inputs.get("examples", ""))}
    if "summary" in outputs:
        return {"summary": _SHORT_LABELS if _SHORT_LABELS in inputs["observations"] else "A set of tasks with inputs."}
    return dict.fromkeys(outputs, "A step of a program that solves a task.")


def _advice(call: Call, fields: Sequence[str], data: str, decision: str) -> str:
    """One thing that may help: what the data suggests, what experience knows, or, by a slip, nothing of use."""
    if call.chance.slips(decision):
        return call.chance.pick(f"{decision}: empty", EMPTY)
    if _SHORT_LABELS in data and "answer" in fields and call.chance.coin(f"{decision}: from data"):
        return SHORT.says
    known = known_for(fields, call.advice)
    return call.chance.pick(f"{decision}: known", known).says if known else call.chance.pick(decision, EMPTY)


def _fields(inputs: Mapping[str, str], basic: str) -> list[str]:
    """Output fields of the module that an instruction is for, from its signature or from its first instruction."""
    module, produced = _ARROW.search(inputs.get("module", "")), _PRODUCES.search(basic)
    names = module[1] if module else produced[1] if produced else ""
    return [name.strip("` ") for name in names.split(",") if name.strip("` ")] or re.findall(r"\w+", basic.lower())


def _module_fields(name: str, inputs: Mapping[str, str]) -> list[str]:
    """Output fields of a module as SIMBA lists them."""
    part = inputs.get("modules_defn", "").partition(f"Module {name}")[2].partition("Module ")[0]
    return re.findall(r"`(\w+)`", part.partition("Output Fields")[2])


def _observe(examples: str) -> str:
    labels = [label for _, label in _LABEL.findall(examples)]
    short = sum(len(label.split()) <= _SHORT_WORDS for label in labels)
    return _SHORT_LABELS if labels and short * 2 > len(labels) else "The inputs are questions or tasks of one kind."


def _last_attempt(attempts: str) -> str:
    """The best of the instructions tried so far: they come in the order of their scores."""
    found = re.findall(r"Instruction #\d+: (.*?)(?=\n?Prefix #|\n?Resulting Score|$)", attempts, re.DOTALL)
    return found[-1].strip() if found else "Do the task."


PROPOSE = Skill("propose", _fits, _answer)
