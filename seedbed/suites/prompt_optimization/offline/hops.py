"""Multi-hop work: summarise passages for a question or claim, write the next search query, answer from summaries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from seedbed.offline.skill import (
    SHORT,
    Call,
    Demo,
    Prompt,
    Skill,
    kind_of,
    output_names,
    spans,
    texts,
    with_thought,
)
from seedbed.suites.prompt_optimization.offline.advice import BRIDGE

_PASSAGE = re.compile(r"^\[\d+\] (.*?) \| (.*)$", re.MULTILINE)
_NAME = re.compile(r"(?:The )?[A-Z][\w'’-]+(?: (?:of |de |von )?[A-Z][\w'’-]+)*")
_KEPT = 2
"""Passages a summary speaks of."""
_ASKED = ("question", "claim")


def _asked(values: Mapping[str, str]) -> str:
    return next((values[name] for name in _ASKED if name in values), "")


def _fits(prompt: Prompt) -> bool:
    return bool(_asked(prompt.inputs)) and (
        ("passages" in prompt.inputs and "summary" in output_names(prompt))
        or ("summary_1" in prompt.inputs and not {"query", "answer"}.isdisjoint(output_names(prompt)))
    )


def _answer(call: Call) -> Mapping[str, object]:
    wanted = output_names(call.prompt)
    if "summary" in wanted:
        return with_thought(call.prompt, {"summary": _summary(call)}, "These passages speak of what is asked.")
    if "query" in wanted:
        return with_thought(call.prompt, {"query": _query(call)}, "This should be searched next.")
    return with_thought(call.prompt, {"answer": _reply(call)}, "The summaries say so.")


# -- summarise ---------------------------------------------------------------------------------------------------------


def _summary(call: Call) -> str:
    """The first sentences of the passages spoken of, those not asked for by name first; a slip takes others."""
    asked, known = _asked(call.prompt.inputs), call.prompt.inputs.get("context", "")
    found = _PASSAGE.findall(call.prompt.inputs["passages"])
    ranked = sorted(found, key=lambda passage: -_nearness(passage[0], passage[1], asked, known))
    named = sum(title in asked or title in known for title, _ in ranked)
    start = 1 if call.chance.slips("summarise") and len(ranked) > 1 else 0
    kept = ranked[start : start + min(max(1, named), _KEPT)]
    return " ".join(" ".join(texts.sentences(text)[:2]) for _, text in kept) or "Nothing was found."


def _nearness(title: str, text: str, asked: str, known: str) -> float:
    named = 3.0 * (title in known and title not in asked) + 2.0 * (title in asked)
    return named + len(texts.terms(text) & texts.terms(asked)) / (1 + len(texts.terms(asked)))


# -- query -------------------------------------------------------------------------------------------------------------


def _query(call: Call) -> str:
    """What was asked once more, or, for a model that was told or shown how, the names that came up since."""
    asked = _asked(call.prompt.inputs)
    fresh = _fresh_names(call.prompt.inputs)
    shown = any(_bridges(demo) for demo in call.prompt.demos) and not call.chance.slips("imitate")
    return " ".join(fresh) if fresh and (shown or BRIDGE.followed(call)) else asked


def _fresh_names(inputs: Mapping[str, str]) -> list[str]:
    """Names of the last summary that neither the question nor the summaries before it have."""
    summaries = [inputs[name] for name in ("summary_1", "summary_2") if inputs.get(name)]
    before = " ".join([_asked(inputs), *summaries[:-1]])
    return _names(summaries[-1], before) if summaries else []


def _names(text: str, known: str) -> list[str]:
    """Names in a text that are not known yet; what only opens a sentence is no name."""
    found: list[str] = []
    for sentence in texts.sentences(text):
        for match in _NAME.finditer(sentence):
            alone = match.start() == 0 and " " not in match.group()
            common = match.group() in ("It", "The", "A", "An", "Such", "Many", "Each", "Critics", "Lists")
            if not common and not alone and match.group() not in known and match.group() not in found:
                found.append(match.group())
    return found


def _bridges(demo: Demo) -> bool:
    """Whether a worked example searches for something that the question does not name."""
    asked, query = _asked(demo.inputs), demo.outputs.get("query", "")
    return bool(query) and any(name not in asked for name in _NAME.findall(query))


# -- answer ------------------------------------------------------------------------------------------------------------


def _reply(call: Call) -> str:
    question, inputs = call.prompt.inputs["question"], call.prompt.inputs
    said = [s for name in ("summary_1", "summary_2") for s in texts.sentences(inputs.get(name, ""))]
    ranked = sorted(said, key=lambda s: -_bearing(s, question, inputs.get("summary_1", "")))
    if call.chance.slips("answer") and len(ranked) > 1:
        ranked = ranked[1:]
    for sentence in ranked:
        if found := _spans(sentence, question, call):
            short = SHORT.followed(call) or _short_demos(call)
            return found[0] if short else f"{found[0]}, since {sentence[0].lower()}{sentence[1:]}"
    return "It is not known."


def _focus(question: str) -> list[str]:
    """What is asked for, most telling first: the noun after "which" or "what", then the verb, which comes last."""
    content = [w.group() for w in texts.words(question) if w.group().islower() and len(w.group()) > 3]
    head = re.search(r"\b(?:which|what) (\w+)", question, re.IGNORECASE)
    return list(dict.fromkeys([*([head[1]] if head else []), *reversed(content)]))


def _bearing(sentence: str, question: str, first: str) -> float:
    """How much a sentence says of what is asked: the relation counts, and being about the name found on the way."""
    said = [word.group().lower() for word in texts.words(sentence)]
    focus = _focus(question)
    relation = sum((2.0 if i < 2 else 0.5) for i, word in enumerate(focus) if any(s.startswith(word) for s in said))
    bridge = any(name.split()[0] in sentence for name in _names(first, question))
    named = any(name in sentence for name in _NAME.findall(question)[1:])
    return relation + 1.5 * bridge + 0.5 * named


def _spans(sentence: str, question: str, call: Call) -> list[str]:
    """What in a sentence could be the answer: what the asked noun or verb leads to, else its names or years."""
    if kind_of(question) == "name":
        for word in _focus(question)[:2]:
            after = re.search(rf"\b{re.escape(word)}\w* (?:(?:in|on|the|by) ){{0,2}}(\w+)", sentence)
            if after and after[1] not in question:
                return [after[1]]
    return spans(sentence, question, call.lexicon)


def _short_demos(call: Call) -> bool:
    answers: Sequence[str] = [demo.outputs["answer"] for demo in call.prompt.demos if "answer" in demo.outputs]
    short = sum(len(answer.split()) <= 4 for answer in answers)
    return bool(answers) and short * 2 > len(answers) and not call.chance.slips("imitate")


HOPS = Skill("hops", _fits, _answer)
