"""Answers a question from the documents in the prompt, in whatever languages they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from seedbed.lm import language
from seedbed.offline import text as texts
from seedbed.offline.directives import Directives, directives
from seedbed.offline.prompt import Prompt
from seedbed.offline.skill import Call, Skill, input_like, output_like, with_thought
from seedbed.offline.skills import recall
from seedbed.offline.skills.evidence import Evidence, rank
from seedbed.offline.spans import chunk, spans

CONTEXTS = (
    *("context", "contexts", "document", "documents", "docs", "passage", "passages", "evidence", "source", "sources"),
    *("article", "paragraph", "paragraphs", "snippets", "retrieved"),
)
_LOW_SCORE = 0.12  # a sentence that shares less than this with the question is about something else


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the model settled on: the best, or the next best where it slipped."""

    evidence: Evidence
    span_rank: int


def fits(prompt: Prompt) -> bool:
    return recall.fits(prompt) and input_like(prompt, *CONTEXTS) is not None


def answer(call: Call) -> Mapping[str, object]:
    question = call.prompt.inputs[input_like(call.prompt, *recall.QUESTIONS) or ""]
    context = call.prompt.inputs[input_like(call.prompt, *CONTEXTS) or ""]
    answer_field = output_like(call.prompt, *recall.ANSWERS) or ""
    wishes = directives(call.prompt, answer_field)
    ranked = rank(question, texts.passages(context), call.lexicon, foreign=0.5 + 0.5 * call.chance.ability)
    if not ranked or ranked[0].score < _LOW_SCORE:
        return recall.answer(call)
    choice = _choose(ranked, question, wishes, call)
    reply = _word(choice, question, wishes, call)
    return with_thought(call.prompt, {answer_field: reply}, f'The evidence says: "{choice.evidence.sentence}"')


def _choose(ranked: list[Evidence], question: str, wishes: Directives, call: Call) -> _Choice:
    """A slip shows in the sentence or, where only a span is given, in either of the two."""
    best = ranked[0]
    crossing = best.language != language.detect(question)
    if not call.chance.slips("read", steps=2 if crossing else 1):
        return _Choice(best, 0)
    # The same sentence in another language would be no slip.
    others = [e for e in ranked[1:] if call.lexicon.translate(e.sentence, best.language) != best.sentence]
    several_spans = len(spans(best.sentence, question, call.lexicon)) > 1
    if wishes.short and several_spans and (not others or call.chance.coin("read: which slip")):
        return _Choice(best, 1)
    return _Choice(others[0] if others else best, 0)


def _word(choice: _Choice, question: str, wishes: Directives, call: Call) -> str:
    """The answer as wished: a clause or a span, in the evidence's language or translated where the model can."""
    sentence, spoken = choice.evidence.sentence, choice.evidence.language
    target = {None: spoken, "evidence": spoken, "question": language.detect(question)}.get(
        wishes.language, str(wishes.language)
    )
    translated = call.lexicon.translate(sentence, target) if target != spoken else None
    if not wishes.short:
        return translated or sentence
    if translated:
        sentence, spoken = translated, target
    found = spans(sentence, question, call.lexicon)
    span = found[min(choice.span_rank, len(found) - 1)] if found else chunk(sentence, question)
    return span if target == spoken else _translate_span(span, target, call)


def _translate_span(span: str, target: str, call: Call) -> str:
    """What the glossary does not know stays as it is. Numbers stay in any case; their units are translated."""
    known = call.lexicon.translate(span, target)
    if known:
        return known
    number = span.rstrip("".join(c for c in span if not c.isdigit()))
    unit = call.lexicon.translate_unit(span[len(number) :].strip(" \u00a0-"), target)
    if not number or unit is None:
        return span
    return f"{number}{unit}" if target in ("zh", "ja", "th") else f"{number} {unit}"


READ = Skill("read", fits, answer)
