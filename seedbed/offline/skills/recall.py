"""Answers a question from what the model knows, without a document."""

from __future__ import annotations

from collections.abc import Mapping

from seedbed.lm import language
from seedbed.offline.directives import directives
from seedbed.offline.lexicon import Knowledge
from seedbed.offline.skill import Call, Prompt, Skill, input_like, output_like, with_thought

QUESTIONS = ("question", "query")
ANSWERS = ("answer", "response")

_UNKNOWN = {
    "en": "I don't know.",
    "zh": "我不知道。",
    "ja": "わかりません。",
    "de": "Das weiß ich nicht.",
    "es": "No lo sé.",
    "ar": "لا أعرف.",
}
_CLAUSE = {
    "en": "The answer is {}.",
    "zh": "答案是{}。",
    "ja": "答えは{}です。",
    "de": "Die Antwort ist {}.",
    "es": "La respuesta es {}.",
    "ar": "الجواب هو {}.",
}


def fits(prompt: Prompt) -> bool:
    return input_like(prompt, *QUESTIONS) is not None and output_like(prompt, *ANSWERS) is not None


def answer(call: Call) -> Mapping[str, object]:
    question_field = input_like(call.prompt, *QUESTIONS) or ""
    answer_field = output_like(call.prompt, *ANSWERS) or ""
    question = call.prompt.inputs[question_field]
    wishes = directives(call.prompt, answer_field)
    spoken = language.detect(question)
    target = spoken if wishes.language in (None, "question", "evidence") else str(wishes.language)
    fact = _remember(question, spoken, call)
    reply, thought = _UNKNOWN.get(target, _UNKNOWN["en"]), "Nothing I remember answers this."
    if fact is not None:
        text = fact.answer.get(target) or fact.answer.get("en") or next(iter(fact.answer.values()), "")
        reply = text if wishes.short else _CLAUSE.get(target, "{}").format(text)
        thought = "I remember this from general knowledge."
    return with_thought(call.prompt, {answer_field: reply}, thought)


def _remember(question: str, spoken: str, call: Call) -> Knowledge | None:
    """The fact whose keywords the question holds, the most telling first; a slip takes the next or forgets."""
    folded = question.casefold()
    found = [(_telling(fact, folded, spoken), fact) for fact in call.lexicon.knowledge]
    ranked = [fact for score, fact in sorted(found, key=lambda entry: -entry[0]) if score > 0]
    if call.chance.slips("recall"):
        ranked = ranked[1:]
    return ranked[0] if ranked else None


def _telling(fact: Knowledge, folded: str, spoken: str) -> int:
    """Letters of the keywords when all of them occur, else 0."""
    keywords = fact.keywords.get(spoken) or ()
    if not keywords or not all(keyword.casefold() in folded for keyword in keywords):
        return 0
    return sum(map(len, keywords))


RECALL = Skill("recall", fits, answer)
