"""EM and F1 as the official MKQA evaluation computes them, for figures that stand beside published ones.

Rules kept as published, odd ones included: only ASCII punctuation goes, and it is deleted, not replaced; articles are
dropped by pattern after that; `zh_cn`, `zh_hk`, `zh_tw`, `ja`, `th` and `km` are compared per character. Bare `zh` is
no tag of MKQA's and is split at spaces there.
"""

import re
import string
from collections.abc import Sequence

from seedbed.suites.crosslingual.scripts import base_language, normalise_tag
from seedbed.suites.kit.answer_text import answers, token_f1

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_PER_CHARACTER = frozenset({"ja", "th", "km"})


def _words(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words.split())})\b")


def _prefixes(words: str) -> re.Pattern[str]:
    # The published French and Italian patterns lack the closing boundary and so cut the beginnings of words too.
    # Their elided forms (l', un') cannot match once apostrophes are gone, and a form behind its own prefix never wins.
    return re.compile(rf"\b(?:{'|'.join(words.split())})")


_ARTICLES = {
    "ar": re.compile("ال"),
    "da": _words("en et"),
    "de": _words("ein eine einen einem eines einer der die das den dem des"),
    "en": _words("a an the"),
    "es": _words("un una unos unas el la los las"),
    "fi": _words("se yks yksi"),
    "fr": _prefixes("le la du de un"),
    "hu": _words("a az egy"),
    "it": _prefixes("il lo la i gli le del dei degli uno una un"),
    "nl": _words("de het een des der den"),
    "no": _words("en et ei"),
    "pt": _words("o a os as um uma uns umas"),
    "sv": _words("en ett"),
    "vi": _words("của là cái chiếc những"),
}


def _per_character(lang: str) -> bool:
    tag = normalise_tag(lang)
    return tag.startswith("zh_") or base_language(tag) in _PER_CHARACTER


def tokens_mkqa(text: str, lang: str) -> list[str]:
    """Lower case, ASCII punctuation deleted, articles of the language dropped, then characters or words."""
    text = text.lower().translate(_NO_PUNCTUATION)
    articles = _ARTICLES.get(base_language(lang))
    if articles is not None:
        text = articles.sub(" ", text)
    words = text.split()
    return list("".join(words)) if _per_character(lang) else words


def em_mkqa(pred: str, gold: str | Sequence[str], lang: str) -> float:
    """1.0 where some accepted answer has the same tokens in the same order under MKQA's rules."""
    tokens = tokens_mkqa(pred, lang)
    return float(any(tokens == tokens_mkqa(answer, lang) for answer in answers(gold)))


def f1_mkqa(pred: str, gold: str | Sequence[str], lang: str) -> float:
    """Best token F1 over the accepted answers under MKQA's rules."""
    tokens = tokens_mkqa(pred, lang)
    return max(token_f1(tokens, tokens_mkqa(answer, lang)) for answer in answers(gold))
