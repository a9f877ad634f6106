"""Writes personas, questions with their answers and quotes, and judges whether a question can be answered."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seedbed.lm import language
from seedbed.offline.skill import Call, Skill, asks_for, texts
from seedbed.suites.rag_quality.offline.clauses import clauses
from seedbed.suites.rag_quality.offline.judging import decides, numbered_texts
from seedbed.suites.rag_quality.offline.support import ENTAILED, support, terms_of

_ROLES = {
    "en": "newcomer who wants the basics|officer who applies the rules|auditor who checks figures"
    "|teacher who explains it to others|planner who compares options",
    "zh": "想了解基本情况的新手|按规定办事的工作人员|核对数字的审计员|向他人讲解的教师|比较方案的规划者",
    "ja": "基本を知りたい初心者|規則を適用する担当者|数値を確かめる監査人|人に教える教師|案を比べる計画者",
    "ar": "مبتدئ يريد الأساسيات|موظف يطبق القواعد|مدقق يراجع الأرقام|معلم يشرح للآخرين|مخطط يقارن الخيارات",
}
_NAMES = {
    "en": ("Ada", "Bruno", "Clara", "David", "Elena"),
    "zh": ("陈静", "李强", "王敏", "赵磊", "周岚"),
    "ja": ("佐藤", "鈴木", "高橋", "田中", "伊藤"),
    "ar": ("ليلى", "سامي", "نورة", "خالد", "مريم"),
}
_LEVELS = ("beginner", "intermediate", "expert")
_PRONOUN = re.compile(
    r"^(?:it|they|he|she|this|these|those|its|their|such|then|also|however)\b|^(?:它|他|她|其|这|那|此|该|并|但|もし|これ|それ|その|この|また)"
    r"|^(?:وهو|وهي|هذا|هذه|كما)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.,:])(?:1[5-9]\d\d|20\d\d)(?![\d%:]|[.,]\d)")
_FIGURE = re.compile(r"(?P<money>[$€£¥]\s?)?(?<![A-Za-z0-9.,:-])\d+(?:[.,]\d+)*(?![:\d])(?P<percent>\s?[%％])?")
_ASKED = {
    "en": {"year": "which year", "percent": "what percentage", "money": "how much", "figure": "how many"},
    "zh": {"year": "哪一", "percent": "百分之多少", "money": "多少钱", "figure": "多少"},
    "ja": {"year": "何", "percent": "何パーセント", "money": "いくら", "figure": "何"},
    "ar": {"year": "أي عام", "percent": "كم بالمئة", "money": "كم", "figure": "كم"},
}
_ARTICLE = re.compile(r"^(?:The|A|An|Its?|They|In|On|At|About)\b")
_MARK = {"zh": "？", "ja": "？", "ar": "؟"}
_AND = {"zh": "，并且", "ja": "、また", "ar": "، و"}
_FROM_TEXT = {"zh": "根据文中内容，", "ja": "本文によると、", "ar": "وفقا للنص، "}


@dataclass(frozen=True, slots=True)
class _Asked:
    unit: int
    sentence: str
    question: str


def _personas(call: Call) -> Mapping[str, object]:
    inputs = call.prompt.inputs
    spoken = language.detect(inputs["excerpts"])
    count = int(re.sub(r"\D", "", inputs["count"]) or 3)
    roles, names = _ROLES.get(spoken, _ROLES["en"]).split("|"), _NAMES.get(spoken, _NAMES["en"])
    topics = _topics(texts.passages(inputs["excerpts"])) or [""]
    return {
        "personas": [
            {
                "name": names[i % len(names)] + (str(i // len(names) + 1) if i >= len(names) else ""),
                "role_description": roles[i % len(roles)],
                "expertise_level": _LEVELS[i % len(_LEVELS)],
                "focus_area": topics[i % len(topics)],
            }
            for i in range(count)
        ]
    }


def _topics(excerpts: Sequence[str]) -> list[str]:
    """Words that come often: what the documents are about."""
    seen: Counter[str] = Counter()
    for excerpt in excerpts:
        for sentence in texts.sentences(excerpt):
            terms = terms_of(sentence)
            seen.update({*(run for run in terms.runs if 2 <= len(run) <= 6), *(s for s in terms.stems if len(s) > 4)})
    return [word for word, _ in sorted(seen.items(), key=lambda entry: (-entry[1], entry[0]))[:5]]


def _write(call: Call) -> Mapping[str, object]:
    """One question on each unit, joined where there are several; a slip spoils the quote, or leans on "the text"."""
    units = numbered_texts(call.prompt.inputs["units"])
    asked = [_ask_of(call, index, text) for index, text in units]
    spoken = language.detect(asked[0].sentence)
    first, *others = (one.question for one in asked)
    joined = _AND.get(spoken, ", and ").join([first, *(_ARTICLE.sub(_lowered, question) for question in others)])
    quotes = [{"unit": one.unit, "text": one.sentence} for one in asked]
    if call.chance.slips("write"):
        if call.chance.coin("write: which slip"):
            joined = _FROM_TEXT.get(spoken, "According to the text, ") + joined
        else:
            quotes[0]["text"] = _misquoted(str(quotes[0]["text"]))
    gap = "" if spoken in ("zh", "ja") else " "
    return {
        "question": joined + _MARK.get(spoken, "?"),
        "answer": gap.join(one.sentence for one in asked),
        "quotes": quotes,
    }


def _ask_of(call: Call, unit: int, text: str) -> _Asked:
    """A question about one figure of one sentence. Different personas, being other inputs, pick other sentences."""
    sentences = [s for s in texts.sentences(text) if not s.startswith("#")] or [text]
    clear = [s for s in sentences if not _PRONOUN.match(s)] or sentences
    measured = [s for s in clear if _figure(s)]
    sentence = call.chance.pick(f"sentence {unit}", measured or clear)
    return _Asked(unit, sentence, _questioned(sentence))


def _lowered(match: re.Match[str]) -> str:
    return match.group().lower()


def _figure(sentence: str) -> tuple[int, int, str] | None:
    """Where the figure to ask for stands, and of what kind it is."""
    if year := _YEAR.search(sentence):
        return (*year.span(), "year")
    for match in _FIGURE.finditer(sentence):
        kind = "percent" if match["percent"] else "money" if match["money"] else "figure"
        return (*match.span(), kind)
    return None


def _questioned(sentence: str) -> str:
    """The sentence with its figure asked for in place: "opened in which year", "共有多少件"."""
    spoken = language.detect(sentence)
    bare = sentence.rstrip(" .。!！…")
    words = _ASKED.get(spoken, _ASKED["en"])
    found = _figure(bare)
    if found is None:
        return {"zh": f"是否可以说{bare}，为什么", "ja": f"なぜ{bare}のか", "ar": f"لماذا {bare}"}.get(
            spoken, f"Why is it that {bare[:1].lower() + bare[1:] if not bare[:2].isupper() else bare}"
        )
    start, end, kind = found
    return bare[:start] + words[kind] + bare[end:]


def _misquoted(quote: str) -> str:
    """The quote from memory: its middle word is gone."""
    words = quote.split(" ")
    if len(words) > 3:
        return " ".join(words[: len(words) // 2] + words[len(words) // 2 + 1 :])
    return quote[: len(quote) // 2] + quote[len(quote) // 2 + 2 :]


def _answerable(call: Call) -> Mapping[str, object]:
    units = numbered_texts(call.prompt.inputs["units"])
    statements = clauses(call.prompt.inputs["answer"]) or (call.prompt.inputs["answer"],)

    def carried(passages: Sequence[str]) -> float:
        return min(support(statement, passages) for statement in statements)

    answerable = decides(call, "answerable", carried([text for _, text in units]), ENTAILED)
    alone = [index for index, text in units if carried([text]) >= ENTAILED]
    return {"reason": json.dumps(alone), "answerable": answerable, "sufficient_alone": alone}


def _persona_shape(prompt: Any) -> bool:
    return asks_for(prompt, {"excerpts", "count"}, {"personas"})


SYNTHESIS: tuple[Skill, ...] = (
    Skill("invent personas", _persona_shape, _personas),
    Skill("write a case", lambda p: asks_for(p, {"units", "persona"}, {"question", "answer", "quotes"}), _write),
    Skill(
        "judge answerable",
        lambda p: asks_for(p, {"question", "answer", "units"}, {"answerable", "sufficient_alone"}),
        _answerable,
    ),
)
