"""Advice that changes how the model works. It follows any wording that a pattern knows, whoever wrote it; `says` is how
it words the advice itself when it reflects on mistakes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from seedbed.lm.offline.chance import uniform
from seedbed.lm.offline.prompt import Prompt
from seedbed.lm.offline.skill import Call


@dataclass(frozen=True, slots=True)
class Advice:
    name: str
    says: str
    pattern: re.Pattern[str]
    by_nature: float
    """Share of cases in which the model does so without being told."""

    def given(self, prompt: Prompt) -> bool:
        """Whether the instructions, or an output field's description, say so."""
        told = "\n".join([prompt.instructions, *(field.description for field in prompt.output_fields)])
        return bool(self.pattern.search(told))

    def followed(self, call: Call) -> bool:
        """Whether the model does so in this call: told to, or by nature; a slip forgets it."""
        if self.given(call.prompt):
            return not call.chance.slips(f"follow {self.name}")
        return uniform(call.chance.seed, self.name) < self.by_nature


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


SHORT = Advice(
    "short",
    "Answer with the shortest span only, without a full sentence around it.",
    _pattern(
        r"short(?:est|er)? (?:\w+ )?(?:span|answer|phrase|form)"
        r"|(?:only|just|nothing but) the (?:\w+ )?(?:answer|span|name|value)"
        r"|nothing else|few(?:est)? words|\bconcise|without a full sentence"
        r"|not (?:\w+ ){0,3}(?:full|complete|whole) sentence"
    ),
    by_nature=0.35,
)
BRIDGE = Advice(
    "bridge",
    "Search for the names that the summary mentions and the question or claim does not; what was found already need "
    "not be searched again.",
    _pattern(
        r"(?:names?|entit\w+|titles?|people|places?)\b.{0,60}\bsummar|summar\w+.{0,40}\b(?:names?|entit\w+|titles?)"
        r"|not (?:yet )?(?:been )?(?:found|retrieved|searched|looked up)|bridg\w+|next hop"
        r"|missing (?:article|document|piece)"
    ),
    by_nature=0.2,
)
CHECK = Advice(
    "check",
    "List every constraint that the query puts on the response (length, words, format, order) and make sure that the "
    "response meets each of them exactly.",
    _pattern(
        r"(?:every|each|all)(?: of)?(?: the)? (?:\w+ ){0,2}(?:constraint|requirement|instruction|condition)"
        r"|(?:constraint|requirement)s?.{0,60}(?:meet|met|satisf|follow|exact)"
        r"|exactly as (?:the )?(?:query|user|prompt)"
    ),
    by_nature=0.3,
)
REDACT = Advice(
    "redact",
    "Leave out names, places, addresses, numbers and other private details of the user; describe the task in general "
    "words.",
    _pattern(
        r"(?:remov|leav\w* out|redact|replac|without|omit|mask|(?:never|not) (?:reveal|includ|mention|share))"
        r".{0,80}(?:names?\b|private|personal|identif|sensitive)"
    ),
    by_nature=0.15,
)
INTEGER = Advice(
    "integer",
    "Give the bare number as the answer: only the integer or value, without words or units.",
    _pattern(
        r"(?:only|just|bare|single|plain|nothing but)(?: \w+){0,2} (?:integer|number|value)"
        r"|(?:integer|number) (?:only|alone)"
        r"|without (?:any )?(?:words|units)"
    ),
    by_nature=0.35,
)
STEPS = Advice(
    "steps",
    "Work the problem out step by step, write down each intermediate result and check it before going on.",
    _pattern(r"step[- ]by[- ]step|intermediate (?:result|step)|(?:double[- ])?check (?:each|every|the|your|it)|verify"),
    by_nature=0.5,
)

ALL: tuple[Advice, ...] = (SHORT, BRIDGE, CHECK, REDACT, INTEGER, STEPS)

EMPTY: tuple[str, ...] = (
    "Think carefully about the task before you answer.",
    "You are an expert in this field.",
    "The outcome matters a great deal, so take your time.",
    "Explain the answer in a complete sentence, so that everybody understands it.",
)
"""What a model writes when it has understood nothing: without effect, or worse."""

_FOR_OUTPUT: tuple[tuple[tuple[str, ...], tuple[Advice, ...]], ...] = (
    (("query", "queries"), (BRIDGE,)),
    (("request",), (REDACT,)),
    (("response",), (CHECK,)),
    (("answer",), (SHORT, INTEGER, STEPS)),
)


def known_for(outputs: Sequence[str]) -> tuple[Advice, ...]:
    """Advice that a prompt writer would try for a module with these output fields, from experience with such tasks."""
    names = {part for name in outputs for part in name.lower().split("_")}
    return tuple(advice for kinds, found in _FOR_OUTPUT if not names.isdisjoint(kinds) for advice in found)
