"""Which scripts a language is written in, and which scripts a letter belongs to.

Scripts are ISO 15924 codes. A letter's scripts come from Unicode's Script_Extensions, so that a sign shared by a few
scripts, such as the prolonged sound mark of both kana, counts for each of them.
"""

from functools import lru_cache

import regex

from seedbed.suites.kit.answer_text import CodePointCache

# Korean is Hangul alone and Chinese never kana: with Han in both, a Chinese answer would pass as Korean.
_LANGUAGES = {
    "Latn": "af az bs ca cs cy da de en es et eu fi fil fr ga gl hr hu id is it lb lt lv mi ms mt nb nl nn no oc pl pt "
    "qu ro sk sl so sq sr sv sw tl tr uz vi xh yo zu",
    "Cyrl": "be bg kk ky mk mn ru sr tg uk",
    "Arab": "ar ckb fa ps sd ug ur",
    "Hebr": "he yi",
    "Grek": "el",
    "Armn": "hy",
    "Geor": "ka",
    "Ethi": "am ti",
    "Deva": "hi mr ne sa",
    "Beng": "as bn",
    "Guru": "pa",
    "Gujr": "gu",
    "Orya": "or",
    "Taml": "ta",
    "Telu": "te",
    "Knda": "kn",
    "Mlym": "ml",
    "Sinh": "si",
    "Thai": "th",
    "Laoo": "lo",
    "Mymr": "my",
    "Khmr": "km",
    "Tibt": "bo dz",
    "Hang": "ko",
    "Hani": "ja yue zh",
    "Bopo": "zh",
    "Hira": "ja",
    "Kana": "ja",
}
_BITS = {script: 1 << place for place, script in enumerate(_LANGUAGES)}
_OTHER = 1 << len(_BITS)
"""Stands for every script no listed language uses: such a letter counts, and is nobody's."""

_LETTERS = [(bit, regex.compile(rf"(?V1)[\p{{L}}&&\p{{scx={script}}}]")) for script, bit in _BITS.items()]
# A letter common to all scripts (a micro sign, a mathematical italic) says nothing of the language: neutral.
_NEUTRAL = regex.compile(r"(?V1)[\P{L}\p{scx=Zyyy}\p{scx=Zinh}]")


def normalise_tag(tag: str) -> str:
    """One spelling of a language tag: `zh-CN`, `zh_cn` and `ZH-cn` are all `zh_cn`."""
    return tag.strip().lower().replace("-", "_")


def base_language(tag: str) -> str:
    """The language of a tag without region or script: `zh` of `zh_TW`."""
    return normalise_tag(tag).partition("_")[0]


def splits_by_character(lang: str) -> bool:
    """Whether F1 compares characters: Chinese and Japanese under any tag; all other languages are split at spaces."""
    return base_language(lang) in {"zh", "ja"}


def known_languages() -> list[str]:
    """Every language whose scripts are known, sorted."""
    return sorted({language for row in _LANGUAGES.values() for language in row.split()})


@lru_cache(maxsize=1024)
def language_mask(tag: str) -> int:
    """The scripts of a language as bits to test a letter's mask against."""
    language = base_language(tag)
    mask = sum(_BITS[script] for script, row in _LANGUAGES.items() if language in row.split())
    if not mask:
        raise ValueError(f"unknown language {tag!r}: its script is not known; known are {', '.join(known_languages())}")
    return mask


def letter_masks(chars: str) -> list[int]:
    """The scripts of each character as bits; 0 for all that is neutral: marks, digits, punctuation, symbols, spaces."""
    masks = [_OTHER] * len(chars)
    for bit, letters in _LETTERS:
        for match in letters.finditer(chars):
            masks[match.start()] |= bit
    for match in _NEUTRAL.finditer(chars):
        masks[match.start()] = 0
    return masks


def _mask_of(code: int) -> int:
    return letter_masks(chr(code))[0]


LETTER_MASKS: CodePointCache[int] = CodePointCache(_mask_of)
