"""IFEval's constraints on what is said: keywords, letters, language, lengths, case, commas."""

from __future__ import annotations

import re

from seedbed.suites.prompt_optimization.constraints.checker import Arguments, Checker, compared, number
from seedbed.suites.prompt_optimization.constraints.counts import occurrences
from seedbed.suites.prompt_optimization.constraints.cutting import sentences, tokens, word_count
from seedbed.suites.prompt_optimization.constraints.libraries import is_in_language

_WORD_ENDS = re.compile(r"[.,?!'\"]")


def _keywords(response: str, given: Arguments, prompt: str) -> bool:
    return all(str(keyword).lower() in response.lower() for keyword in given["keywords"])


def _frequency(response: str, given: Arguments, prompt: str) -> bool:
    """Also within other words, as the public checker counts."""
    keyword = str(given["keyword"]).strip().lower()
    return compared(response.lower().count(keyword), given, "frequency")


def _forbidden(response: str, given: Arguments, prompt: str) -> bool:
    return not any(occurrences(response, str(word)) for word in given["forbidden_words"])


def _letter(response: str, given: Arguments, prompt: str) -> bool:
    count = response.lower().count(str(given["letter"]).strip().lower())
    return compared(count, given, "let_frequency", "let_relation")


def _language(response: str, given: Arguments, prompt: str) -> bool:
    return is_in_language(response, str(given["language"]))


def _sentences(response: str, given: Arguments, prompt: str) -> bool:
    return compared(len(sentences(response)), given, "num_sentences")


def _words(response: str, given: Arguments, prompt: str) -> bool:
    return compared(word_count(response), given, "num_words")


def _paragraphs(response: str, given: Arguments, prompt: str) -> bool:
    parts = [part.strip() for part in re.split(r"\s?\*\*\*\s?", response)]
    inside = parts[1 if not parts[0] else 0 : -1 if not parts[-1] else None]
    return all(inside) and len(inside) == number(given, "num_paragraphs")


def _nth_paragraph(response: str, given: Arguments, prompt: str) -> bool:
    paragraphs = [part.strip() for part in response.split("\n\n")]
    count, place = sum(map(bool, paragraphs)), number(given, "nth_paragraph")
    if count != number(given, "num_paragraphs") or place > count or not paragraphs[place - 1]:
        return False
    begin = paragraphs[place - 1].split()[0].lstrip("'").lstrip('"')
    return _WORD_ENDS.split(begin, maxsplit=1)[0].lower() == str(given["first_word"]).lower()


def _capital_words(response: str, given: Arguments, prompt: str) -> bool:
    count = sum(token.isupper() for token in tokens(response))
    return compared(count, given, "capital_frequency", "capital_relation")


def _capitals(response: str, given: Arguments, prompt: str) -> bool:
    return response.isupper() and is_in_language(response, "en")


def _small_letters(response: str, given: Arguments, prompt: str) -> bool:
    return response.islower() and is_in_language(response, "en")


def _no_comma(response: str, given: Arguments, prompt: str) -> bool:
    return "," not in response


CHECKERS = (
    Checker(
        "change_case:capital_word_frequency",
        "{capital_relation} {capital_frequency} words in capital letters",
        _capital_words,
    ),
    Checker("change_case:english_capital", "English, and in capital letters only", _capitals),
    Checker("change_case:english_lowercase", "English, and in small letters only", _small_letters),
    Checker("keywords:existence", "the keywords {keywords}", _keywords),
    Checker("keywords:forbidden_words", "none of the words {forbidden_words}", _forbidden),
    Checker("keywords:frequency", "the word {keyword} {relation} {frequency} times", _frequency),
    Checker("keywords:letter_frequency", "the letter {letter} {let_relation} {let_frequency} times", _letter),
    Checker("language:response_language", "all of it in the language {language}", _language),
    Checker(
        "length_constraints:nth_paragraph_first_word",
        "{num_paragraphs} paragraphs parted by an empty line, number {nth_paragraph} starting with {first_word}",
        _nth_paragraph,
    ),
    Checker("length_constraints:number_paragraphs", "{num_paragraphs} paragraphs parted by ***", _paragraphs),
    Checker("length_constraints:number_sentences", "{relation} {num_sentences} sentences", _sentences),
    Checker("length_constraints:number_words", "{relation} {num_words} words", _words),
    Checker("punctuation:no_comma", "no comma", _no_comma),
)
