"""The wishes in a prompt that change how the model answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from seedbed.lm import language
from seedbed.lm.nominal_tokens import count_tokens
from seedbed.offline.prompt import Prompt
from seedbed.offline.skill import input_like

_SHORT = re.compile(
    r"short(?:est|er)?(?:,? \w+)? (?:\w+ )?(?:span|answer|phrase|form|text)"
    r"|(?:only|just) the (?:\w+ )?(?:answer|span|value|entity)"
    r"|(?:answer|name|city|number|value|word) (?:only|alone)\b"
    r"|answer only|nothing else|as (?:few|little) words?|few(?:est)? words|\bconcise|\bbrief|as short as|\bterse"
    r"|(?:exact|minimal|verbatim) span|single (?:word|phrase|entity)|no (?:explanations?|full sentences?|extra words)"
    r"|not (?:\w+ ){0,3}(?:full|complete|whole) sentence"
    r"|without (?:\w+ )?(?:explanation|explaining|restating|repeating)"
    r"|最短|简短|簡潔|简洁|[只仅](?:需|要|能)?(?:输出|回答|给出|写)|不要(?:解释|其他)|答えのみ|答えだけ",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"(?<!not )(?<!never )(?<!not in )(?<!no )\b(?:in|with|as|write|use)"
    r" (?:a |one )?(?:full|complete|whole) sentences?",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|never|don't|without|avoid)\b[^.;\n]*$", re.IGNORECASE)

_LIKE_QUESTION = re.compile(
    r"(?:same )?language (?:as|of|that|in which|used (?:in|by))[^.;\n]{0,30}\b(?:question|query|user|asked)"
    r"|(?:question|query|user)'s (?:own )?language|(?:问题|提问|用户)[^。\n]{0,6}语言|質問と同じ言語",
    re.IGNORECASE,
)
_LIKE_EVIDENCE = re.compile(
    r"language of the (?:\w+ )?(?:documents?|evidence|context|passages?|sources?)", re.IGNORECASE
)
_NAMED = re.compile(
    r"\b(?:answer|respond|reply|write|output|speak|response)\b[^.;\n]{0,40}?\b(?:in|into|using) ([^.;,\n]{2,24})"
    r"|\b(?:in|into) (\w+)(?: only)?[.\s]*$"
    r"|[用以](\w{1,6}?[语文語])来?(?:回答|作答|输出|答)"
    r"|(\w{2,6}語)で(?:答|回答)",
    re.IGNORECASE | re.MULTILINE,
)
_SHORT_DEMO_TOKENS = 10


@dataclass(frozen=True, slots=True)
class Directives:
    """`language` is a tag, or "question" or "evidence" for whatever language those are in, or None for no wish."""

    short: bool = False
    language: str | None = None


def directives(prompt: Prompt, answer_field: str) -> Directives:
    """Wishes from the instructions, the answer field's description, a language input, and the style of the demos."""
    description = next((f.description for f in prompt.output_fields if f.name == answer_field), "")
    wishes = _read(f"{prompt.instructions}\n{description}")
    field = input_like(prompt, "language", "lang")
    told = language.tag_of(prompt.inputs[field]) if field else None
    return Directives(wishes.short or _short_demos(prompt, answer_field), told or wishes.language)


@lru_cache(maxsize=512)
def _read(text: str) -> Directives:
    short = bool(_SHORT.search(text)) and not _FULL.search(text)
    return Directives(short, _language(text))


def _language(text: str) -> str | None:
    if _LIKE_QUESTION.search(text):
        return "question"
    for match in _NAMED.finditer(text):
        named = language.mentioned(next(group for group in match.groups() if group))
        if named and not _NEGATED.search(text[: match.end()]):
            return named
    return "evidence" if _LIKE_EVIDENCE.search(text) else None


def _short_demos(prompt: Prompt, answer_field: str) -> bool:
    """Whether most worked examples answer with less than a sentence: a model imitates what it is shown."""
    answers = [demo.outputs[answer_field] for demo in prompt.demos if answer_field in demo.outputs]
    short = [a for a in answers if count_tokens(a) <= _SHORT_DEMO_TOKENS and not a.rstrip().endswith((".", "。", "؟"))]
    return len(short) * 2 > len(answers)
