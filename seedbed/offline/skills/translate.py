"""Translates texts sentence by sentence, from what the lexicon knows."""

from __future__ import annotations

from collections.abc import Mapping

from seedbed.lm import language
from seedbed.offline.skill import Call, Lexicon, Prompt, Skill, input_like, output_like, texts

_TEXTS = ("text", "passage", "document", "source")
_UNSPACED = frozenset({"zh", "ja", "th"})


def fits(prompt: Prompt) -> bool:
    return output_like(prompt, "translation", "translated") is not None and input_like(prompt, *_TEXTS) is not None


def answer(call: Call) -> Mapping[str, object]:
    field = output_like(call.prompt, "translation", "translated") or ""
    text = call.prompt.inputs[input_like(call.prompt, *_TEXTS) or ""]
    named = input_like(call.prompt, "target", "into") or input_like(call.prompt, "language", "lang")
    target = (
        (language.tag_of(call.prompt.inputs[named]) if named else None)
        or language.mentioned(call.prompt.instructions)
        or "en"
    )
    return {field: "\n".join(_line(line, target, call) for line in text.split("\n"))}


def _line(line: str, target: str, call: Call) -> str:
    """A line keeps its place. Where the model slips, a sentence stays as it was: left out by a tired translator."""
    sentences = texts.sentences(line)
    done = [s if call.chance.slips(f"translate {s}") else _sentence(s, target, call.lexicon) for s in sentences]
    return ("" if target in _UNSPACED else " ").join(done)


def _sentence(sentence: str, target: str, lexicon: Lexicon) -> str:
    """From the memory of sentences; else what the glossary knows of its names and words, the rest as it is."""
    known = lexicon.translate(sentence, target)
    if known is not None:
        return known
    parts: list[str] = []
    at = 0
    for mention in lexicon.mentions(sentence):
        if mention.start < at:
            continue
        word = lexicon.translate(sentence[mention.start : mention.end], target)
        parts += [sentence[at : mention.start], word or sentence[mention.start : mention.end]]
        at = mention.end
    return "".join([*parts, sentence[at:]])


TRANSLATE = Skill("translate", fits, answer)
