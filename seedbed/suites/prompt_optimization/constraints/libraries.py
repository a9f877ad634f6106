"""The libraries of language that checkers ask. Optimizers judge from many threads, and these libraries can neither be
imported nor read their data by two threads at once: all first uses pass one lock."""

from __future__ import annotations

import importlib
import threading
from functools import cache
from typing import Any

# Common English words that may end a sentence are left out.
_ABBREVIATIONS_TEXT = (
    "a.m adm approx apr assoc asst aug bros capt cf cmdr co col corp cpl dec dept dr e.g eds etc feb figs fri ft gen "
    "gov hon hrs i.e inc jan jr jul jun kg km lt ltd maj messrs mr mrs ms mt nov oct p.m ph.d pp prof rep reps rev sen "
    "sept sgt sr st thu tue tues u.k u.n u.s u.s.a univ vol vols vs"
)
_LOCK = threading.RLock()


def sentence_tokenizer() -> Any:
    """NLTK's rules for sentences with a list of abbreviations of our own in place of its trained model."""
    with _LOCK:
        return _sentence_tokenizer()


def word_tokenizer() -> Any:
    """NLTK's rules for words; they need no data."""
    with _LOCK:
        return importlib.import_module("nltk.tokenize.destructive").NLTKWordTokenizer()


def is_verb(text: str) -> bool:
    """Whether textblob's lexicon and rules take the first word of a text for a verb."""
    with _LOCK:
        tagged = importlib.import_module("textblob.en.taggers").PatternTagger().tag(text)
    return bool(tagged) and tagged[0][1].startswith("VB")


def syllables(word: str) -> int:
    """By syllapy: a dictionary of hard words, rules for the others."""
    with _LOCK:
        return importlib.import_module("syllapy").count(word)


def is_emoji(mark: str) -> bool:
    with _LOCK:
        return importlib.import_module("emoji").is_emoji(mark)


def is_in_language(text: str, language: str) -> bool:
    """By langdetect, seeded, since it draws lots; a text without letters is in any language."""
    with _LOCK:
        langdetect = importlib.import_module("langdetect")
        langdetect.DetectorFactory.seed = 0
        try:
            return langdetect.detect(text) == language
        except langdetect.LangDetectException:
            return True


@cache
def _sentence_tokenizer() -> Any:
    punkt = importlib.import_module("nltk.tokenize.punkt")
    parameters = punkt.PunktParameters()
    parameters.abbrev_types = set(_ABBREVIATIONS_TEXT.split())
    return punkt.PunktSentenceTokenizer(parameters)
