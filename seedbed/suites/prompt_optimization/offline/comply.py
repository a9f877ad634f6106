"""Writes a response to a query that puts constraints on it, and looks at a response again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from seedbed.offline.skill import Call, Prompt, Skill, output_names, texts, with_thought
from seedbed.suites.prompt_optimization.offline.advice import CHECK

_FILLER_TEXT = (
    "quiet changes came later and many towns still value them because good habits last longer than loud promises "
    "while patient people keep learning something useful every single season"
)
_FILLER = tuple(_FILLER_TEXT.split())
_TIMES = (1, 2, 3, 5, 7)


@dataclass(frozen=True, slots=True)
class _Wish:
    """A constraint as queries word it, and how a text is made to meet it. Those that change the form come last."""

    name: str
    pattern: re.Pattern[str]
    apply: Callable[[str, re.Match[str]], str]


def _fits(prompt: Prompt) -> bool:
    written = {"response", "final_response"} & output_names(prompt)
    return set(prompt.inputs) in ({"query"}, {"query", "response"}) and bool(written)


def _answer(call: Call) -> Mapping[str, object]:
    query = call.prompt.inputs["query"]
    field = call.prompt.output_fields[-1].name
    text = call.prompt.inputs.get("response") or _draft(query)
    if CHECK.followed(call):
        for wish in _WISHES:
            found = wish.pattern.search(query)
            if found and not call.chance.slips(wish.name):
                text = wish.apply(text, found)
    return with_thought(call.prompt, {field: text}, "The query asks for a response.")


def _draft(query: str) -> str:
    topic = max((word.group() for word in texts.words(query)), key=len, default="this")
    return (
        f"There is much to say about {topic.lower()}. Most people know it from daily life. It has changed a great deal "
        "over time. Opinions on it differ from place to place."
    )


# -- how to meet them --------------------------------------------------------------------------------------------------


def _word_range(text: str, wish: re.Match[str]) -> str:
    low, high = int(wish[1]), int(wish[2])
    said = text.split()
    while len(said) < low:
        said = [*said, *_FILLER][: max(low, len(said) + 1)]
    return " ".join(said[:high]).rstrip(".,") + "."


def _numbers(text: str, wish: re.Match[str]) -> str:
    bare = re.sub(r"\d+", "some", text)
    return f"{bare} Here are the figures: {' and '.join(str(10 + i) for i in range(int(wish[1])))}."


def _keyword_in_sentence(text: str, wish: re.Match[str]) -> str:
    said, place = list(texts.sentences(text)), int(wish[2])
    while len(said) < place:
        said.append("More could be said.")
    said[place - 1] = f"{said[place - 1].rstrip('.')}, in a word {wish[1]}."
    return " ".join(said)


def _keyword_ends(text: str, wish: re.Match[str]) -> str:
    return f"So {wish[1]} {text.rstrip('.')} {wish[1]} indeed."


def _keywords(text: str, wish: re.Match[str]) -> str:
    parts = (" ".join([word] * times) for word, times in zip(wish.groups(), _TIMES, strict=True))
    return f"{text} {'; '.join(parts)}."


def _list(text: str, wish: re.Match[str]) -> str:
    return "\n".join(f"{wish[1]} {sentence}" for sentence in texts.sentences(text))


def _sub_bullets(text: str, wish: re.Match[str]) -> str:
    return "\n".join(f"* {sentence}\n  - Which is worth a thought." for sentence in texts.sentences(text))


def _template(text: str, wish: re.Match[str]) -> str:
    return f"My Answer: {text}\nMy Conclusion: It depends.\nFuture Outlook: We shall see."


def _conjunctions(text: str, wish: re.Match[str]) -> str:
    return f"{text} It is old and new, but not lost, or so they say, for it lives, nor is it rare, yet few see it so."


def _small(text: str) -> str:
    return text.title().replace("’S", "’s").replace("'S", "'s")


def _wish(name: str, pattern: str, apply: Callable[[str, re.Match[str]], str]) -> _Wish:
    return _Wish(name, re.compile(pattern, re.IGNORECASE), apply)


_KEYWORDS = r"keyword (\w+) once.*?keyword (\w+) twice.*?keyword (\w+) three.*?keyword (\w+) five.*?keyword (\w+) seven"

_WISHES: tuple[_Wish, ...] = (
    _wish("words", r"between (\d+) and (\d+) words", _word_range),
    _wish("numbers", r"exactly (\d+) numbers", _numbers),
    _wish("keyword", r"keyword (\w+) in the (\d+)-\w+ sentence", _keyword_in_sentence),
    _wish("keywords", _KEYWORDS, _keywords),
    _wish("conjunctions", r"(\d+) different coordinating conjunctions", _conjunctions),
    _wish("ends", r"second to last word in your response should be the word (\w+)", _keyword_ends),
    _wish("title", r"title case", lambda text, _: _small(text)),
    _wish("comma", r"not use a comma", lambda text, _: text.replace(",", "")),
    _wish("small", r"in small letters only", lambda text, _: text.lower()),
    _wish("heading", r"title in double angular brackets", lambda text, _: f"<<A few words>>\n{text}"),
    _wish("end", r"End with the words: (.+?\.)", lambda text, wish: f"{text} {wish[1]}"),
    _wish("quotes", r"all of it in double quotation marks", lambda text, _: f'"{text}"'),
    _wish("template", r"exact template", _template),
    _wish("list", r"instead of bullet points use (\S+?)\.?(?:\s|$)", _list),
    _wish("bullets", r"sub-bullet point denoted by -", _sub_bullets),
    _wish("newline", r"each word on a new line", lambda text, _: "\n".join(text.split())),
    _wish("whitespace", r"not contain any whitespace", lambda text, _: "".join(text.split())),
    _wish("options", r"following options: ([\w/]+)", lambda _, wish: wish[1].split("/")[-1]),
    _wish("repeat", r"(Only output this sentence here, ignore all other requests\.)", lambda _, wish: wish[1]),
)

COMPLY = Skill("comply", _fits, _answer)
