"""What advice is, and that which helps wherever an `answer` is compared with the one expected; suites add their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seedbed.offline.chance import uniform
from seedbed.offline.prompt import Prompt

if TYPE_CHECKING:
    from seedbed.offline.skill import Call

_EXPECTED = re.compile(r"expected was ['\"](.+?)['\"][.;]?(?:\s|$)")
_DIGITS = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a module was given, what it wrote, and what the feedback says of it."""

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    feedback: str


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice that changes how the model works. It follows any wording that it knows, whoever wrote it."""

    name: str
    says: str
    """How the model words the advice itself."""
    wording: str
    """A pattern of the words in which others may give it, in capitals or not."""
    by_nature: float
    """Share of cases in which the model does so without being told."""
    helps: tuple[str, ...]
    """Words of output fields: modules that write such a field are those for which experience suggests the advice."""
    lacked: Callable[[Lesson], bool]
    """Whether what was written, compared with what the feedback says, shows that the advice would have helped."""

    def said_in(self, text: str) -> bool:
        return re.search(self.wording, text, re.IGNORECASE | re.DOTALL) is not None

    def given(self, prompt: Prompt) -> bool:
        """Whether the instructions, or an output field's description, say so."""
        return self.said_in("\n".join([prompt.instructions, *(field.description for field in prompt.output_fields)]))

    def followed(self, call: Call) -> bool:
        """Whether the model does so in this call: told to, or by nature; a slip forgets it."""
        if self.given(call.prompt):
            return not call.chance.slips(f"follow {self.name}")
        return uniform(call.chance.seed, self.name) < self.by_nature


def _of_answer(lacked: Callable[[str, str], bool]) -> Callable[[Lesson], bool]:
    """Compares an answer with what the feedback says was expected, where it says so."""

    def compare(lesson: Lesson) -> bool:
        expected = _EXPECTED.search(lesson.feedback)
        return expected is not None and "answer" in lesson.outputs and lacked(lesson.outputs["answer"], expected[1])

    return compare


def _longer(answer: str, expected: str) -> bool:
    holds = expected.casefold() in answer.casefold() and len(answer) > len(expected)
    return holds and not _DIGITS.fullmatch(expected)


def _more_than_the_number(answer: str, expected: str) -> bool:
    return bool(_DIGITS.fullmatch(expected)) and expected in _DIGITS.findall(answer)


def _another_number(answer: str, expected: str) -> bool:
    return bool(_DIGITS.fullmatch(expected)) and expected not in _DIGITS.findall(answer)


SHORT = Advice(
    "short",
    "Answer with the shortest span only, without a full sentence around it.",
    wording=(
        r"short(?:est|er)? (?:\w+ )?(?:span|answer|phrase|form)"
        r"|(?:only|just|nothing but) the (?:\w+ )?(?:answer|span|name|value)"
        r"|nothing else|few(?:est)? words|\bconcise|without a full sentence"
        r"|not (?:\w+ ){0,3}(?:full|complete|whole) sentence"
    ),
    by_nature=0.35,
    helps=("answer",),
    lacked=_of_answer(_longer),
)
INTEGER = Advice(
    "integer",
    "Give the bare number as the answer: only the integer or value, without words or units.",
    wording=(
        r"(?:only|just|bare|single|plain|nothing but)(?: \w+){0,2} (?:integer|number|value)"
        r"|(?:integer|number) (?:only|alone)"
        r"|without (?:any )?(?:words|units)"
    ),
    by_nature=0.35,
    helps=("answer",),
    lacked=_of_answer(_more_than_the_number),
)
STEPS = Advice(
    "steps",
    "Work the problem out step by step, write down each intermediate result and check it before going on.",
    wording=r"step[- ]by[- ]step|intermediate (?:result|step)|(?:double[- ])?check (?:each|every|the|your|it)|verify",
    by_nature=0.5,
    helps=("answer",),
    lacked=_of_answer(_another_number),
)

EMPTY: tuple[str, ...] = (
    "Think carefully about the task before you answer.",
    "You are an expert in this field.",
    "The outcome matters a great deal, so take your time.",
    "Explain the answer in a complete sentence, so that everybody understands it.",
)
"""What a model writes when it has understood nothing: without effect, or worse."""


def known_for(outputs: Sequence[str], advice: Iterable[Advice]) -> tuple[Advice, ...]:
    """What of the advice a prompt writer would try for a module with these output fields, from experience."""
    words = {part for name in outputs for part in name.lower().split("_")}
    return tuple(one for one in advice if not words.isdisjoint(one.helps))
