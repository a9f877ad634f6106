"""Which language a text is in, and which language a name means."""

from __future__ import annotations

import re
from functools import lru_cache

_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ja", re.compile(r"[\u3041-\u30fa\u30fd-\u30ff]")),  # without the sound mark and the dot, which zh borrows
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")),
    ("ar", re.compile(r"[\u0620-\u064a\u066e-\u06d3]")),
    ("ko", re.compile(r"[\u1100-\u11ff\uac00-\ud7af]")),
    ("th", re.compile(r"[\u0e01-\u0e3a]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("hi", re.compile(r"[\u0904-\u0939]")),
    ("he", re.compile(r"[\u05d0-\u05ea]")),
)
_LATIN = re.compile(r"[a-zA-ZÀ-ɏ]")
_WORD = re.compile(r"[a-zA-ZÀ-ɏ]+")

_COMMON_WORDS = {
    "en": (
        "the of and to in is was are were it that this for with as by from at what which who when where how many "
        "much long high its has have had does did an be on after before into over"
    ),
    "de": (
        "der die das und ist war in den dem des ein eine einer eines einem zu von mit im am auf für als bei nach wie "
        "was wer wann wo welche welcher welches viele lang hoch wurde wird sind waren hat seine ihre zum zur aus"
    ),
    "es": (
        "el la los las de y es fue en un una que del al por con para su se como qué quién cuándo dónde cuál cuántos "
        "cuántas cuánto cómo son era tiene hasta desde entre está más año mide"
    ),
}
_STOPWORDS = {tag: frozenset(words.split()) for tag, words in _COMMON_WORDS.items()}
_MARKS: dict[str, re.Pattern[str]] = {"de": re.compile(r"[äöüßÄÖÜ]"), "es": re.compile(r"[ñáéíóúÑÁÉÍÓÚ¿¡]")}

_NAMES: dict[str, str] = {
    "en": "english|englisch|inglés|ingles|英语|英文|英語|الإنجليزية|الانجليزية",
    "zh": "chinese|simplified chinese|mandarin|chinesisch|chino|中文|汉语|漢語|简体中文|中国語|الصينية",
    "ja": "japanese|japanisch|japonés|japones|日语|日文|日本語|اليابانية",
    "de": "german|deutsch|alemán|aleman|德语|德文|ドイツ語|الألمانية",
    "es": "spanish|spanisch|español|espanol|castellano|西班牙语|西班牙文|スペイン語|الإسبانية",
    "ar": "arabic|arabisch|árabe|arabe|阿拉伯语|阿拉伯文|アラビア語|العربية|عربي",
    "fr": "french|français|französisch|francés|法语|フランス語|الفرنسية",
    "ko": "korean|한국어|koreanisch|coreano|韩语|韓国語|الكورية",
    "th": "thai|ภาษาไทย|泰语|タイ語",
    "ru": "russian|русский|russisch|ruso|俄语|ロシア語|الروسية",
    "hi": "hindi|हिन्दी|印地语",
    "vi": "vietnamese|tiếng việt|越南语",
    "el": "greek|ελληνικά|griechisch|griego|希腊语",
    "tr": "turkish|türkçe|türkisch|turco|土耳其语",
    "pt": "portuguese|português|葡萄牙语",
    "it": "italian|italiano|italienisch|意大利语",
    "he": "hebrew|עברית",
}
_TAG_OF: dict[str, str] = {name: tag for tag, names in _NAMES.items() for name in names.split("|")}
# Longest first: "simplified chinese" before "chinese". \b only at the ends of Latin names: other scripts run on.
_ANY_NAME = re.compile(
    "|".join(
        rf"\b{re.escape(name)}\b" if name[0].isascii() else re.escape(name)
        for name in sorted(_TAG_OF, key=len, reverse=True)
    ),
    re.IGNORECASE,
)
_TAG = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]+)*", re.IGNORECASE)


@lru_cache(maxsize=8192)  # the same passages come with many questions
def detect(text: str) -> str:
    """The tag of the language that most of the text is in; `en` for Latin text that gives no hint, and for no text."""
    counts = {tag: len(letters.findall(text)) for tag, letters in _SCRIPTS}
    if counts["ja"]:
        # Japanese mixes its syllables with Han characters; a Chinese text has none of them.
        counts["ja"] += counts.pop("zh")
    tag = max(counts, key=lambda t: counts[t])
    # A word of Latin letters says about as much as two characters of the denser scripts.
    return tag if counts[tag] and counts[tag] * 2 >= len(_LATIN.findall(text)) else _detect_latin(text)


def _detect_latin(text: str) -> str:
    words = _WORD.findall(text.lower())
    scores = {tag: float(sum(word in stopwords for word in words)) for tag, stopwords in _STOPWORDS.items()}
    for tag, marks in _MARKS.items():
        scores[tag] += 0.75 * min(3, len(marks.findall(text)))
    return max(scores, key=lambda t: scores[t])


def tag_of(name: str) -> str | None:
    """The tag that a name ("Chinese", "中文") or a tag ("zh", "zh-CN") stands for; None when it is neither."""
    cleaned = name.strip().strip(".\"'`").lower()
    if cleaned in _TAG_OF:
        return _TAG_OF[cleaned]
    match = _TAG.fullmatch(cleaned)
    if match and match[1] in _NAMES:
        return match[1]
    return mentioned(cleaned)


def mentioned(text: str) -> str | None:
    """The tag of the first language that the text names, if it names one."""
    match = _ANY_NAME.search(text)
    return _TAG_OF[match.group().lower()] if match else None
