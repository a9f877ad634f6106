"""The translator: a model in a role of its own, whose prompt is no part of what an optimizer may change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from seedbed.suite import PhaseContext
from seedbed.suites.crosslingual.evidence import Block, ordered, translated, untranslated
from seedbed.suites.crosslingual.languages import language_name
from seedbed.suites.crosslingual.retrieval import Candidate
from seedbed.suites.crosslingual.segments import Segment, segments
from seedbed.suites.crosslingual.selection import Selection


class Translate(dspy.Signature):
    """Translate the text into the target language. Keep numbers, dates and names, keep line breaks, and add nothing."""

    text: str = dspy.InputField()
    source_language: str = dspy.InputField()
    target_language: str = dspy.InputField()
    translation: str = dspy.OutputField()


class EmptyTranslation(ValueError):
    """The translator gave nothing back; the sample has failed."""


def _mixed(cut: Sequence[Segment], known: Mapping[int, str]) -> str:
    """The sentences in their order, some of them translated; no line is in two languages."""
    text = ""
    for number, segment in enumerate(cut):
        if number and (number in known) != (number - 1 in known):
            text = text.rstrip() + "\n"
        text += known.get(number, segment.text) + (segment.after or " " * (number in known))
    return text.rstrip()


class Translator:
    """Not a dspy.Module on purpose: optimizers would find its prompt, and translations would differ by cell."""

    def __init__(self, context: PhaseContext) -> None:
        self._context = context
        self._predict = dspy.Predict(Translate)

    async def bridge(self, candidates: Sequence[Candidate], selection: Selection) -> list[Block]:
        """The evidence in order, with what was selected translated; one call a document or sentence, all at once."""
        blocks = [self._block(place, candidate, selection) for place, candidate in enumerate(candidates)]
        return ordered(await asyncio.gather(*blocks))

    async def _block(self, place: int, candidate: Candidate, selection: Selection) -> Block:
        document, pivot = candidate.document, selection.pivot
        if place in selection.whole:
            return translated(candidate, await self._translate(document.block, document.lang, pivot), pivot)
        chosen = selection.parts.get(place)
        if not chosen:
            return untranslated(candidate)
        cut = segments(document.block, document.lang)
        numbers = sorted(chosen)
        texts = await asyncio.gather(*(self._translate(cut[n].text, document.lang, pivot) for n in numbers))
        known = dict(zip(numbers, texts, strict=True))
        return translated(candidate, _mixed(cut, known), pivot, part=True)

    async def _translate(self, text: str, source: str, target: str) -> str:
        reply: Any = await self._predict.acall(
            text=text,
            source_language=language_name(source),
            target_language=language_name(target),
            lm=self._context.lm("translator"),
        )
        if not (reply.translation or "").strip():
            raise EmptyTranslation(f"the translator gave nothing for {text[:60]!r}")
        return reply.translation.strip()
